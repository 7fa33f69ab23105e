/** A provider that users may sign in through, as the settings name it. */
export interface OAuthSettings {
  clientId: string
  /** Absent for a public client, which has PKCE alone. */
  clientSecret?: string
  /** An https address; of a preset its own unless set. */
  issuer: string
  /** Separated by blanks; the provider's usual ones unless set. */
  scopes?: string
}

/** Providers that need a client only. GitHub is no OpenID Connect issuer: its address is that of the website. */
const PRESETS: Record<string, string> = {
  google: 'https://accounts.google.com',
  github: 'https://github.com',
  slack: 'https://slack.com',
}

const FIELDS = ['ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'SCOPES'] as const
type Field = (typeof FIELDS)[number]

const NAME = /^OAUTH_([A-Z0-9][A-Z0-9_]{0,49})_(ISSUER|CLIENT_ID|CLIENT_SECRET|SCOPES)$/

const ABOUT: Record<Field, string> = {
  ISSUER:
    'Address of an OpenID Connect issuer; built in for google, github and slack (set it for GitHub Enterprise).',
  CLIENT_ID:
    'Client id of this service at the provider; its redirect address is BASE_URL/api/v1/oauth/<provider>/callback.',
  CLIENT_SECRET: 'Secret of that client.',
  SCOPES: 'Scopes requested from the provider, separated by spaces; defaults to openid email profile.',
}

type Environment = Record<string, string | undefined>

/**
 * Reads `OAUTH_<PROVIDER>_…`. A preset without a client id is not there.
 * @returns the providers by their lower-cased names, and a sentence for each wrong value
 */
export function readOAuth(environment: Environment) {
  const providers = new Map<string, OAuthSettings>()
  const problems: string[] = []
  for (const [provider, given] of groups(environment)) {
    const isPreset = Object.hasOwn(PRESETS, provider)
    if (isPreset && given.CLIENT_ID === undefined) continue
    const found = problemsOf(provider, given, isPreset)
    problems.push(...found)
    if (found.length > 0) continue
    providers.set(provider, {
      clientId: given.CLIENT_ID as string,
      issuer: (given.ISSUER ?? PRESETS[provider]) as string,
      ...(given.CLIENT_SECRET !== undefined && { clientSecret: given.CLIENT_SECRET }),
      ...(given.SCOPES !== undefined && { scopes: scopesOf(given.SCOPES).join(' ') }),
    })
  }
  return { providers, problems }
}

/** The settings in general, then those that are set; secrets hidden. */
export function describeOAuth(
  environment: Environment,
): { group: string; name: string; value: string | null; default: null; about: string }[] {
  const rules = FIELDS.map(field => ({ name: `OAUTH_<PROVIDER>_${field}`, value: null, field }))
  const given = [...groups(environment)].flatMap(([provider, values]) =>
    FIELDS.filter(field => values[field] !== undefined).map(field => ({
      name: nameOf(provider, field),
      value: field === 'CLIENT_SECRET' ? '(set, hidden)' : (values[field] ?? null),
      field,
    })),
  )
  return [...rules, ...given].map(({ name, value, field }) => ({
    group: 'Sign-in through providers',
    name,
    value,
    default: null,
    about: ABOUT[field],
  }))
}

type Given = Partial<Record<Field, string>>

function groups(environment: Environment): Map<string, Given> {
  const found = new Map<string, Given>()
  for (const [name, value] of Object.entries(environment).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [, provider, field] = NAME.exec(name) ?? []
    if (!provider || !value?.trim()) continue
    const key = provider.toLowerCase()
    found.set(key, { ...found.get(key), [field as Field]: value.trim() })
  }
  return found
}

function problemsOf(provider: string, given: Given, isPreset: boolean): string[] {
  const name = (field: Field) => nameOf(provider, field)
  const missing: Field[] = isPreset ? ['CLIENT_SECRET'] : ['ISSUER', 'CLIENT_ID']
  const problems = missing
    .filter(field => given[field] === undefined)
    .map(field => {
      const others = FIELDS.filter(other => given[other] !== undefined).map(name)
      return `  ${name(field)} is required with ${others.join(', ')}`
    })
  if (given.ISSUER !== undefined && !isIssuer(given.ISSUER))
    problems.push(
      `  ${name('ISSUER')} must be an address that starts with https://, without user, query and fragment; ` +
        `given was ${JSON.stringify(given.ISSUER)}`,
    )
  if (given.SCOPES !== undefined && provider !== 'github' && !scopesOf(given.SCOPES).includes('openid'))
    problems.push(
      `  ${name('SCOPES')} must hold openid, as in openid email profile; given was ${JSON.stringify(given.SCOPES)}`,
    )
  return problems
}

const nameOf = (provider: string, field: Field): string => `OAUTH_${provider.toUpperCase()}_${field}`

const scopesOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return protocol === 'https:' && !username && !password && !search && !hash
}
