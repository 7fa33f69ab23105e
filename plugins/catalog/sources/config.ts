import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Connector } from '../../../connectors/connector.ts'
import { apiError, invalidField, invalidInput } from '../../../server/http/errors.ts'
import type { Vault } from '../../../server/security/vault.ts'
import { EXTENSION_VALIDATION_OPTIONS, inputErrorsOf } from '../../../server/http/validation-messages.ts'
import type { Connectors, SessionDeps } from '../deps.ts'
import type { Source } from '../models.ts'
import { EVERYTHING } from '../discovery/patterns.ts'

/** A `connection_config`, its secrets in it. */
export type SourceConfig = Record<string, unknown>

/** What a config may hold whatever its connector declares: the zone of timestamps that name none. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['timezone'])

/** Where the config of a source is kept. */
type SealedConfig = Pick<Source, 'config' | 'secrets'>

/** What the configs of sources are validated and sealed with. */
export type ConfigDeps = Pick<SessionDeps, 'connectors' | 'vault'>

/** The connector of a source. @throws 409 `CONFLICT` if no extension provides it any more */
export function connectorOf(
  connectors: Connectors,
  { sourceType: name }: Pick<Source, 'sourceType'>,
): Connector {
  if (connectors.has(name)) return connectors.get(name)
  throw apiError('CONFLICT', describeMissingConnector(connectors, name), { source_type: name })
}

/** The sentence for a source whose extension was removed, or named its engine anew. */
export function describeMissingConnector(connectors: Connectors, name: string): string {
  return `${connectors.describeMissing(name)}: add the extension that provides it to EXTENSIONS`
}

/** The config of a source that is being made. @throws 400 `VALIDATION_ERROR` naming each wrong field */
export function sealNewConfig(
  vault: Vault,
  connector: Connector,
  place: Pick<Source, 'companyId' | 'id'>,
  given: SourceConfig,
): SealedConfig {
  return sealConfig(vault, connector, place, validateConfig(connector, given))
}

/**
 * What a patch of its config changes of a source; null takes a part out. Where the same database is read in the same
 * way, what is known of it stays. A secret left out is kept, but only for the address it was given for, and only over
 * TLS that is as strong: a caller who may change a source must not receive its password on a server of their own.
 * @throws 400 `VALIDATION_ERROR` naming each wrong field, or the secret that has to be given again
 */
export function mergeConfig(
  { connectors, vault }: ConfigDeps,
  source: Source,
  patch: SourceConfig,
): Partial<Source> {
  const connector = connectorOf(connectors, source)
  const former = openConfig(vault, source)
  const changes = withoutDemoFile(source, inOwnNames(connector, patch))
  const config = validateConfig(connector, withoutNulls({ ...former, ...changes }))
  // Secrets are not sealed anew: who reads the source meanwhile would take them for others.
  if (isDeepStrictEqual(connectionTarget(config), connectionTarget(former)))
    return { config: splitSecrets(connector, config).open }
  assertSecretsStay(connector, { former, config, changes })
  return {
    ...sealConfig(vault, connector, source, config),
    connectionStatus: 'untested',
    connectionError: null,
    isEncrypted: null,
    // Tables of another database are neither added nor removed.
    readPatterns: { ...(source.readPatterns ?? EVERYTHING), isElsewhere: true },
    failedDiscoveries: 0,
    retryAt: null,
  }
}

/** What the API shows of a config: of the demo's file only the name, since its folder is the installation's own. */
export function shownConfig({ config, isDemo }: Pick<Source, 'config' | 'isDemo'>): SourceConfig {
  return isDemo && typeof config.path === 'string' ? { ...config, path: basename(config.path) } : config
}

/** A patch without the path of the demo's file, as it is shown. @throws 400 for another path */
function withoutDemoFile(source: Source, changes: SourceConfig): SourceConfig {
  if (!source.isDemo || !Object.hasOwn(changes, 'path')) return changes
  const { path, ...others } = changes
  if (path === shownConfig(source).path) return others
  throw invalidField('connection_config.path', 'is fixed for the demo source: make a source of your own')
}

/** What of a config says which database is read and how; the rest says what is made of it. */
export function connectionTarget(config: SourceConfig): SourceConfig {
  return Object.fromEntries(Object.entries(withoutNulls(config)).filter(([name]) => !OWN_FIELDS.has(name)))
}

/** The whole config of a source, secrets opened. */
export function openConfig(vault: Vault, source: Source): SourceConfig {
  const secret = source.secrets ? vault.open(source.secrets, sealContext(source.companyId, source.id)) : '{}'
  return { ...source.config, ...(JSON.parse(secret) as object) }
}

/** The whole config of a source as its connector takes it. */
export function connectorConfig(vault: Vault, connector: Connector, source: Source): SourceConfig {
  return declaredFields(connector, openConfig(vault, source))
}

/** The secrets in a config, as its connector marks them. */
export function secretsOf(connector: Connector, config: SourceConfig): string[] {
  return markedFields(connector, 'secret').flatMap(name => {
    const secret = config[name]
    return typeof secret === 'string' ? [secret] : secret === undefined ? [] : [JSON.stringify(secret)]
  })
}

/** A config without what is ours, unless the connector declares it too. */
function declaredFields(connector: Connector, config: SourceConfig): SourceConfig {
  const keys = declaredKeys(connector)
  const isDeclared = (name: string) => !OWN_FIELDS.has(name) || Object.hasOwn(keys, name)
  return Object.fromEntries(Object.entries(config).filter(([name]) => isDeclared(name)))
}

/** What is ours was validated with the body: a connector's schema may be of another copy of Joi. */
function validateConfig(connector: Connector, config: SourceConfig): SourceConfig {
  const { value, error } = connector.config.validate(
    declaredFields(connector, config),
    EXTENSION_VALIDATION_OPTIONS,
  )
  const own = Object.entries(config).filter(([name]) => OWN_FIELDS.has(name))
  if (!error) return { ...value, ...Object.fromEntries(own) }
  throw invalidInput(
    inputErrorsOf(error, connector.config, { prefix: ['connection_config'], otherFields: [...OWN_FIELDS] }),
  )
}

function assertSecretsStay(
  connector: Connector,
  { former, config, changes }: { former: SourceConfig; config: SourceConfig; changes: SourceConfig },
): void {
  const keys = declaredKeys(connector)
  const moved = markedFields(connector, 'address').filter(
    name => !isDeepStrictEqual(config[name], former[name]),
  )
  const weakened = markedFields(connector, 'tls').filter(name =>
    isWeaker(keys[name], config[name], former[name]),
  )
  const kept = markedFields(connector, 'secret').filter(
    name => former[name] !== undefined && former[name] !== '' && !Object.hasOwn(changes, name),
  )
  const [secret] = kept
  if (moved.length + weakened.length === 0 || secret === undefined) return
  const changed = [
    ...(moved.length > 0 ? [`another ${moved.join(', ')}`] : []),
    ...(weakened.length > 0 ? [`a weaker ${weakened.join(', ')}`] : []),
  ]
  throw invalidField(
    `connection_config.${secret}`,
    `has to be given again with ${changed.join(' and ')}: a stored secret is only sent where it was meant for`,
  )
}

/**
 * Whether a setting of TLS is weaker than before. The schema lists its values from the weakest; a boolean is weaker
 * when false. Any other value than before counts as weaker where the schema names no order.
 */
function isWeaker(key: KeyDescription | undefined, now: unknown, former: unknown): boolean {
  if (isDeepStrictEqual(now, former)) return false
  const order = key?.type === 'boolean' ? [false, true] : (key?.allow ?? [])
  const [level, formerLevel] = [order.indexOf(now), order.indexOf(former)]
  return level === -1 || formerLevel === -1 || level < formerLevel
}

/** A part of a config by the names that are stored: `user` is taken for `username` by some schemas. */
function inOwnNames(connector: Connector, patch: SourceConfig): SourceConfig {
  const { renames = [] } = connector.config.describe() as { renames?: { from: string; to: string }[] }
  const own = new Map(renames.map(({ from, to }) => [from, to]))
  // Given by both names, it is for the schema to refuse.
  const nameOf = (name: string) => (Object.hasOwn(patch, own.get(name) ?? name) ? name : own.get(name)!)
  return Object.fromEntries(Object.entries(patch).map(([name, value]) => [nameOf(name), value]))
}

function withoutNulls(config: SourceConfig): SourceConfig {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null))
}

function sealConfig(
  vault: Vault,
  connector: Connector,
  { companyId, id }: Pick<Source, 'companyId' | 'id'>,
  config: SourceConfig,
): SealedConfig {
  const { open, secret } = splitSecrets(connector, config)
  return { config: open, secrets: vault.seal(JSON.stringify(secret), sealContext(companyId, id)) }
}

/** A config split by its connector's schema: what may be shown, and what is sealed. */
function splitSecrets(connector: Connector, config: SourceConfig) {
  const names = new Set(markedFields(connector, 'secret'))
  const entries = Object.entries(config)
  return {
    open: Object.fromEntries(entries.filter(([name]) => !names.has(name))),
    secret: Object.fromEntries(entries.filter(([name]) => names.has(name))),
  }
}

/** Where a source's secrets are sealed for; a row copied to another source or company does not open. */
export function sealContext(companyId: string, sourceId: string): string {
  return `source:${companyId}:${sourceId}`
}

/** A field of a connector's schema, as Joi describes it. */
interface KeyDescription {
  type?: string
  /** The values of a field that takes no others. */
  allow?: unknown[]
  metas?: { secret?: true; address?: true; tls?: true }[]
}

/** The fields that a connector's schema marks as secrets, as where secrets are sent, or as how they are protected there. */
function markedFields(connector: Connector, mark: 'secret' | 'address' | 'tls'): string[] {
  return Object.entries(declaredKeys(connector)).flatMap(([name, key]) =>
    key.metas?.some(meta => meta[mark]) ? [name] : [],
  )
}

/** The fields that a connector's schema declares. */
function declaredKeys(connector: Connector): Record<string, KeyDescription> {
  const { keys = {} } = connector.config.describe() as { keys?: ReturnType<typeof declaredKeys> }
  return keys
}
