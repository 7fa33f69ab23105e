import { isDeepStrictEqual } from 'node:util'
import { raw } from 'objection'
import { v7 } from 'uuid'
import { companyOf, type Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField, invalidInput } from '../../../server/http/errors.ts'
import { EXTENSION_VALIDATION_OPTIONS, inputErrorsOf } from '../../../server/http/validation-messages.ts'
import type { Deps } from '../deps.ts'
import { lockDestination } from '../locks.ts'
import { Destination, type MessageChoice } from '../models.ts'
import type { DestinationType } from './destination.ts'
import { probeUrl } from './probe.ts'
import { getDestinationType, whyUnavailable } from './find-type.ts'
import {
  createSigningSecret,
  findKeptSecrets,
  findPlaceholders,
  mergeConfig,
  openConfig,
  rotateSigningSecret,
  sealConfig,
} from './secrets.ts'

/** What storing destinations uses. */
export type DestinationDeps = Pick<Deps, 'types' | 'vault' | 'egress' | 'log'>

type DestinationConfig = Record<string, unknown>

export interface NewDestination {
  name: string
  destination_type: string
  config: DestinationConfig
  messages?: MessageChoice
  is_active: boolean
}

/** A new destination with its signing secret, which is shown here and on rotation only; null of a type that signs nothing. */
export interface CreatedDestination {
  destination: Destination
  signingSecret: string | null
}

export async function createDestination(
  deps: DestinationDeps,
  trx: Transaction,
  input: NewDestination,
): Promise<CreatedDestination> {
  const type = getAvailableType(deps, input.destination_type)
  const config = newConfig(type, input.config)
  const owner = { id: v7(), companyId: companyOf(trx) }
  const { secret, sealed } = createSigningSecret(deps.vault, owner)
  const destination = await Destination.query(trx)
    .insert({
      ...sealConfig(deps.vault, owner, type.config, config),
      id: owner.id,
      name: input.name,
      destinationType: type.name,
      signingSecrets: sealed,
      messages: input.messages ?? type.messages ?? 'alerts',
      isActive: input.is_active,
    })
    .returning('*')
  return { destination, signingSecret: type.signs ? secret : null }
}

/** @throws 400 for a type that is unknown, or that the operator has not configured */
function getAvailableType(deps: DestinationDeps, name: string): DestinationType {
  const type = getDestinationType(deps.types, name)
  const missing = whyUnavailable(deps.log, type)
  if (missing) throw invalidInput([{ field: 'destination_type', error: missing }])
  return type
}

/** A destination that was not deleted. @throws 404 `DESTINATION_NOT_FOUND` */
export async function findDestination(trx: Transaction, id: string, lock = false): Promise<Destination> {
  const query = lock ? lockDestination(trx, id) : Destination.query(trx).findById(id)
  const destination = await query.whereNull('deletedAt')
  if (destination) return destination
  throw noSuchDestination(id)
}

export function noSuchDestination(id: string) {
  const message = 'There is no destination of this id: GET /api/v1/sdk/alerts/destinations lists them'
  return apiError('DESTINATION_NOT_FOUND', message, { destination_id: id })
}

export interface DestinationChanges {
  name?: string
  is_active?: boolean
  config?: DestinationConfig
  messages?: MessageChoice
}

/** Stores the given fields. The config is merged, and secrets left out are kept. */
export async function storeChanges(
  deps: DestinationDeps,
  trx: Transaction,
  id: string,
  changes: DestinationChanges,
): Promise<Destination> {
  const destination = await findDestination(trx, id, true)
  const change = changes.config && applyConfigChanges(deps, destination, changes.config)
  const [changed] = await Destination.query(trx)
    .where({ id })
    .patch({
      ...(changes.name !== undefined && { name: changes.name }),
      ...(changes.messages !== undefined && { messages: changes.messages }),
      ...(changes.is_active !== undefined && {
        isActive: changes.is_active,
        disabledReason: null,
        failingSince: null,
        silentSince: null,
      }),
      // A changed config is not verified yet.
      ...(change?.isOther && {
        ...sealConfig(deps.vault, destination, change.type.config, change.config),
        isVerified: false,
        silentSince: null,
      }),
      updatedAt: raw('now()'),
    })
    .returning('*')
  return changed ?? destination
}

/** The config of a destination with changes. @throws 400 also for a stored secret that would be sent to another host */
function applyConfigChanges(deps: DestinationDeps, destination: Destination, changes: DestinationConfig) {
  const type = getDestinationType(deps.types, destination.destinationType)
  const { urlField } = type
  const current = openConfig(deps.vault, destination).config
  const merged = mergeConfig(current, changes)
  if (destination.isDemo) {
    // With a config of its own, it would seem to deliver.
    if (!isDeepStrictEqual(merged, current))
      throw apiError(
        'CONFLICT',
        'This destination only simulates delivery, whatever its config: make one that delivers with POST /api/v1/sdk/alerts/destinations',
        { field: 'config' },
      )
    return { type, config: current, isOther: false, isMoved: false }
  }
  const config = validateConfig(type, merged)
  const [former, address] = [current, config].map(each => (urlField ? each[urlField] : undefined))
  if (originOf(address) !== originOf(former)) {
    const shown = { shown: destination.config, changes, changed: config }
    const [secret] = findKeptSecrets(type.config, shown, urlField)
    if (secret !== undefined) {
      const problem = `has to be given again with ${urlField} on another host: a stored secret is only sent to its own host`
      throw invalidField(`config.${secret}`, problem)
    }
  }
  return { type, config, isOther: !isDeepStrictEqual(config, current), isMoved: address !== former }
}

function originOf(url: unknown): string | null {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : null
}

/** Creates a new signing secret; the previous one stays in `webhook-signature` for 24 hours. */
export async function rotateSecret(
  { vault, types }: Pick<Deps, 'vault' | 'types'>,
  trx: Transaction,
  id: string,
) {
  const destination = await findDestination(trx, id, true)
  const { destinationType: name } = destination
  if (types.has(name) && !types.get(name).signs)
    throw apiError('CONFLICT', `Messages of the type ${name} are not signed: there is no secret to change`, {
      destination_type: name,
    })
  const { secret, sealed, previousUntil } = rotateSigningSecret(vault, destination, new Date())
  await Destination.query(trx)
    .where({ id })
    .patch({ signingSecrets: sealed, updatedAt: raw('now()') })
  return { secret, previousUntil }
}

/** The validated config of a new destination. @throws 400 also for the placeholder of another destination's secret */
function newConfig(type: DestinationType, given: DestinationConfig): DestinationConfig {
  const config = validateConfig(type, given)
  const [copied] = findPlaceholders(type.config, config)
  if (copied === undefined) return config
  const problem = 'is the placeholder that is shown for a secret: give the secret itself'
  throw invalidField(`config.${copied}`, problem)
}

/** @throws 400 naming each invalid field, dotted under `config` */
function validateConfig(type: DestinationType, given: DestinationConfig): DestinationConfig {
  const { value, error } = type.config.validate(given, EXTENSION_VALIDATION_OPTIONS)
  if (error) throw invalidInput(inputErrorsOf(error, type.config, { prefix: ['config'] }))
  return value as DestinationConfig
}

/**
 * Probes the address of a new destination, before its transaction, since it can take seconds.
 * @throws 400 if no message can ever be sent there; not if it does not answer just now
 */
export async function probeNew(
  deps: DestinationDeps,
  { destination_type: typeName, config }: Pick<NewDestination, 'destination_type' | 'config'>,
): Promise<void> {
  const type = getAvailableType(deps, typeName)
  await probeAddress(deps, type, newConfig(type, config))
}

export async function probeChange(
  deps: DestinationDeps & Pick<Deps, 'db'>,
  companyId: string,
  id: string,
  { config: changes }: { config?: DestinationConfig },
): Promise<void> {
  if (!changes) return
  const destination = await deps.db.company(companyId, trx => findDestination(trx, id))
  const { type, config, isMoved } = applyConfigChanges(deps, destination, changes)
  if (isMoved) await probeAddress(deps, type, config)
}

async function probeAddress(deps: DestinationDeps, { urlField }: DestinationType, config: DestinationConfig) {
  const url = urlField && config[urlField]
  const problem = typeof url === 'string' ? await probeUrl(new URL(url), deps.egress) : null
  if (problem !== null) throw invalidInput([{ field: `config.${urlField}`, error: problem }])
}
