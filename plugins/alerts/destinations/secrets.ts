import type Joi from 'joi'
import type { SealedColumn } from '../../../server/security/vault.ts'
import type { Vault } from '../../../server/security/vault.ts'
import type { Destination } from '../models.ts'
import { generateSigningSecret } from './signature.ts'

/** Replaces a secret in a shown config; a client that sends it back keeps the stored secret. */
const PLACEHOLDER = '********'

type Tree = Record<string, unknown>

interface SchemaDescription {
  keys?: Record<string, SchemaDescription>
  metas?: { secret?: boolean }[]
}

/** Splits a config into the part that may be shown, with placeholders, and its secrets by dotted path. */
export function splitSecrets(schema: Joi.Schema, config: Tree): { shown: Tree; secrets: Tree } {
  const secrets: Tree = {}
  const walk = (
    value: unknown,
    { keys, metas }: SchemaDescription,
    path: string,
    isSecret: boolean,
  ): unknown => {
    const secret = isSecret || metas?.some(meta => meta.secret) === true
    if (isTree(value)) {
      const entries = Object.entries(value).map(([key, item]) => {
        return [key, walk(item, keys?.[key] ?? {}, `${path}.${key}`, secret)] as const
      })
      return Object.fromEntries(entries)
    }
    if (!secret) return value
    secrets[path.slice(1)] = value
    return PLACEHOLDER
  }
  const shown = walk(config, schema.describe() as SchemaDescription, '', false) as Tree
  return { shown, secrets }
}

/** Replaces placeholders by their secrets. */
function joinSecrets(shown: Tree, secrets: Tree, path = ''): Tree {
  const entries = Object.entries(shown).map(([key, value]) => {
    const here = path + key
    if (isTree(value)) return [key, joinSecrets(value, secrets, `${here}.`)] as const
    return [key, value === PLACEHOLDER && Object.hasOwn(secrets, here) ? secrets[here] : value] as const
  })
  return Object.fromEntries(entries)
}

/** A config with changes: objects are merged, null removes a field, a placeholder keeps a secret. */
export function mergeConfig(config: Tree, changes: Tree): Tree {
  const merged = { ...config }
  for (const [key, value] of Object.entries(changes)) {
    const current = merged[key]
    if (value === null) delete merged[key]
    else if (isTree(value)) merged[key] = mergeConfig(isTree(current) ? current : {}, value)
    else if (value !== PLACEHOLDER) merged[key] = value
  }
  return merged
}

/**
 * The secrets, by dotted path, that a config keeps through changes, but for one field.
 * @param shown the config with its placeholders
 * @param changed the whole config with the changes
 */
export function findKeptSecrets(
  schema: Joi.Schema,
  { shown, changes, changed }: { shown: Tree; changes: Tree; changed: Tree },
  except?: string,
): string[] {
  const given = splitSecrets(schema, mergeConfig(shown, changes)).secrets
  return Object.keys(splitSecrets(schema, changed).secrets).filter(
    path => path !== except && given[path] === PLACEHOLDER,
  )
}

/** The secret fields, by dotted path, that hold a placeholder. */
export function findPlaceholders(schema: Joi.Schema, config: Tree): string[] {
  const { secrets } = splitSecrets(schema, config)
  return Object.keys(secrets).filter(path => secrets[path] === PLACEHOLDER)
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Owner = Pick<Destination, 'id' | 'companyId'>

const configPlace = ({ companyId, id }: Owner) => `destination:${companyId}:${id}`
const signingPlace = ({ companyId, id }: Owner) => `destination-signing:${companyId}:${id}`

export const sealedColumns: SealedColumn[] = [
  { table: 'destinations', column: 'secrets', place: (companyId, id) => configPlace({ companyId, id }) },
  {
    table: 'destinations',
    column: 'signing_secrets',
    place: (companyId, id) => signingPlace({ companyId, id }),
  },
]

/** The columns that hold a config: the part that may be shown, and the sealed rest. */
export function sealConfig(
  vault: Vault,
  owner: Owner,
  schema: Joi.Schema,
  config: Tree,
): Pick<Destination, 'config' | 'secrets'> {
  const { shown, secrets } = splitSecrets(schema, config)
  const sealed =
    Object.keys(secrets).length === 0 ? null : vault.seal(JSON.stringify(secrets), configPlace(owner))
  return { config: shown, secrets: sealed }
}

/** The whole config of a destination, and its secrets for redaction. @throws Error if its key is missing */
export function openConfig(vault: Vault, destination: Destination): { config: Tree; secrets: string[] } {
  const secrets =
    destination.secrets === null
      ? {}
      : (JSON.parse(vault.open(destination.secrets, configPlace(destination))) as Tree)
  return { config: joinSecrets(destination.config, secrets), secrets: Object.values(secrets).map(String) }
}

interface SigningSecret {
  secret: string
  /** The end of its use in ISO form; null for the newest. */
  until: string | null
}

/** A replaced secret also signs for 24 hours. */
const OVERLAP_MS = 24 * 3600 * 1000
const MAX_SIGNING_SECRETS = 10

/** The secrets that are valid now, newest first. */
export function signingSecrets(vault: Vault, destination: Destination, now: Date): [string, ...string[]] {
  const [newest, ...older] = openSigning(vault, destination)
  if (!newest) throw new Error(`Destination ${destination.id} has no signing secret`)
  const valid = older.filter(({ until }) => until !== null && new Date(until) > now)
  return [newest.secret, ...valid.map(({ secret }) => secret)]
}

/** The first signing secret of a destination, as text and sealed. */
export function createSigningSecret(vault: Vault, owner: Owner): { secret: string; sealed: string } {
  const secret = generateSigningSecret()
  return { secret, sealed: sealSigning(vault, owner, [{ secret, until: null }]) }
}

/** Adds a new signing secret; the previous one stays valid for 24 hours. */
export function rotateSigningSecret(vault: Vault, destination: Destination, now: Date) {
  const previousUntil = new Date(now.getTime() + OVERLAP_MS)
  const older = openSigning(vault, destination)
    .map(({ secret, until }) => ({ secret, until: until ?? previousUntil.toISOString() }))
    .filter(({ until }) => new Date(until) > now)
  const secret = generateSigningSecret()
  const all = [{ secret, until: null }, ...older].slice(0, MAX_SIGNING_SECRETS)
  return { secret, sealed: sealSigning(vault, destination, all), previousUntil }
}

function openSigning(vault: Vault, destination: Destination): SigningSecret[] {
  return JSON.parse(vault.open(destination.signingSecrets, signingPlace(destination))) as SigningSecret[]
}

function sealSigning(vault: Vault, owner: Owner, secrets: SigningSecret[]): string {
  return vault.seal(JSON.stringify(secrets), signingPlace(owner))
}
