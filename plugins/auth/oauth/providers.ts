import * as openid from 'openid-client'
import type { OAuthSettings } from '../../../server/settings/oauth-settings.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'
import { guardedFetch } from './guarded-fetch.ts'

export interface ProviderIdentity {
  issuer: string
  /** The provider's id of the person, which never changes. */
  subject: string
  email?: string
  isVerified: boolean
  name?: string
}

export interface OAuthProvider {
  name: string
  /** Whether it is an OpenID Connect issuer; GitHub is not. */
  isOpenId: boolean
  /** As the settings have it. */
  issuer: string
  scopes: string
  client(): Promise<openid.Configuration>
  /** Exchanges the code in the callback's address and reads the identity. */
  identify(client: openid.Configuration, callback: URL, checks: CallbackChecks): Promise<ProviderIdentity>
}

/** Secrets of an attempt that the provider's answer must match. */
export interface CallbackChecks {
  state: string
  nonce: string
  verifier: string
}

const DISCOVERY_CACHE_MS = 10 * 60_000

export function createProviders(deps: AuthDeps): ReadonlyMap<string, OAuthProvider> {
  const providers = [...deps.config.oauth].map(([name, settings]) =>
    name === 'github' ? githubProvider(deps, name, settings) : openIdProvider(deps, name, settings),
  )
  return new Map(providers.map(provider => [provider.name, provider]))
}

/** @throws 404 for a provider that is not in the settings */
export function findProvider(providers: ReadonlyMap<string, OAuthProvider>, name: string): OAuthProvider {
  const provider = providers.get(name)
  if (provider) return provider
  const names = [...providers.keys()]
  throw apiError(
    'NOT_FOUND',
    names.length > 0
      ? `There is no such provider: the providers are ${names.join(', ')}`
      : 'No provider is configured: the operator can add one with OAUTH_<PROVIDER>_CLIENT_ID',
    { providers: names },
  )
}

/** Entra has issuers for many tenants; their identities name the issuer of one tenant. */
const ENTRA_ORIGIN = 'https://login.microsoftonline.com'
const MANY_TENANTS = /^\/(common|organizations|consumers|\{tenantid\})(\/|$)/i

/** Whether a provider of the settings is the issuer of an identity. */
export function isIssuerOf(provider: Pick<OAuthProvider, 'issuer'>, issuer: string): boolean {
  const [set, given] = [new URL(provider.issuer), new URL(issuer)]
  if (set.href === given.href) return true
  const isTenantOf = set.origin === ENTRA_ORIGIN && given.origin === ENTRA_ORIGIN
  return isTenantOf && MANY_TENANTS.test(decodeURI(set.pathname))
}

function openIdProvider(deps: AuthDeps, name: string, settings: OAuthSettings): OAuthProvider {
  const discover = async () => {
    const issuer = new URL(settings.issuer)
    const client = await openid.discovery(
      issuer,
      settings.clientId,
      undefined,
      clientAuthentication(settings),
      { [openid.customFetch]: guardedFetch(deps.egress), execute: [openid.enableNonRepudiationChecks] },
    )
    // Browsers are sent here; our own requests are checked by guardedFetch.
    const { authorization_endpoint: endpoint = '' } = client.serverMetadata()
    if (!/^https:/i.test(endpoint) || !URL.canParse(endpoint))
      throw new Error('The authorization endpoint is not an https address')
    return client
  }
  return {
    name,
    isOpenId: true,
    issuer: settings.issuer,
    scopes: settings.scopes ?? 'openid email profile',
    client: cacheDiscovery(discover),
    async identify(client, callback, { state, nonce, verifier }) {
      const tokens = await openid.authorizationCodeGrant(client, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims() as openid.IDToken
      const more =
        claims.email === undefined && client.serverMetadata().userinfo_endpoint !== undefined
          ? await openid.fetchUserInfo(client, tokens.access_token, claims.sub)
          : {}
      return { issuer: claims.iss, subject: claims.sub, ...profileFromClaims({ ...more, ...claims }) }
    },
  }
}

/** Some issuers send booleans as text. */
function profileFromClaims(
  claims: Record<string, unknown>,
): Pick<ProviderIdentity, 'email' | 'isVerified' | 'name'> {
  const { email, email_verified: verified, name } = claims
  return {
    isVerified: verified === true || verified === 'true',
    ...(typeof email === 'string' && { email }),
    ...(typeof name === 'string' && { name }),
  }
}

/** Sends the secret in the body if the issuer supports it, else in the header; without one the client is public. */
function clientAuthentication({ clientSecret }: OAuthSettings): openid.ClientAuth {
  if (clientSecret === undefined) return openid.None()
  const inBody = openid.ClientSecretPost(clientSecret)
  const inHeader = openid.ClientSecretBasic(clientSecret)
  return (as, ...given) => {
    // The default of OpenID Connect Discovery 1.0, section 3.
    const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return methods.includes('client_secret_post') ? inBody(as, ...given) : inHeader(as, ...given)
  }
}

/** Caches a discovery for some minutes; failures are not cached. */
function cacheDiscovery<T>(discover: () => Promise<T>): () => Promise<T> {
  let cached: { answer: Promise<T>; until: number } | undefined
  return () => {
    if (cached && cached.until > performance.now()) return cached.answer
    const entry = { answer: discover(), until: performance.now() + DISCOVERY_CACHE_MS }
    cached = entry
    entry.answer.catch(() => {
      if (cached === entry) cached = undefined
    })
    return entry.answer
  }
}

const GITHUB_ORIGIN = 'https://github.com'

/** Plain OAuth 2: identity and verified emails are read from GitHub's own API. */
function githubProvider(deps: AuthDeps, name: string, settings: OAuthSettings): OAuthProvider {
  const site = settings.issuer.replace(/\/+$/, '')
  const login = `${site}/login/oauth`
  const api = site === GITHUB_ORIGIN ? 'https://api.github.com' : `${site}/api/v3`
  const metadata = {
    issuer: login,
    authorization_endpoint: `${login}/authorize`,
    token_endpoint: `${login}/access_token`,
  }
  const client = new openid.Configuration(
    metadata,
    settings.clientId,
    undefined,
    openid.ClientSecretPost(settings.clientSecret),
  )
  client[openid.customFetch] = guardedFetch(deps.egress)
  return {
    name,
    isOpenId: false,
    issuer: login,
    scopes: settings.scopes ?? 'read:user user:email',
    client: async () => client,
    async identify(_client, callback, { state, verifier }) {
      const { access_token: token } = await openid.authorizationCodeGrant(client, callback, {
        expectedState: state,
        pkceCodeVerifier: verifier,
      })
      const read = async (path: string) => {
        const answer = await openid.fetchProtectedResource(client, token, new URL(api + path), 'GET')
        if (!answer.ok) throw new Error(`GitHub answers ${answer.status}`)
        return (await answer.json()) as unknown
      }
      return githubIdentity(login, await read('/user'), await read('/user/emails'))
    },
  }
}

function githubIdentity(issuer: string, user: unknown, emails: unknown): ProviderIdentity {
  const { id, name, login } = user as { id?: number; name?: string | null; login?: string }
  if (!Number.isInteger(id) || !Array.isArray(emails))
    throw new Error('GitHub answers with another body than documented')
  const [primary] = emails.filter((entry: { primary?: unknown }) => entry.primary === true) as Record<
    string,
    unknown
  >[]
  return {
    issuer,
    subject: String(id),
    ...profileFromClaims({ email: primary?.email, email_verified: primary?.verified, name: name ?? login }),
  }
}
