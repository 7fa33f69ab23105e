import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Request, Server } from '@hapi/hapi'
import { raw } from 'objection'
import { v7 } from 'uuid'
import { caller } from '../../../server/http/access.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField, invalidInput } from '../../../server/http/errors.ts'
import { EXTENSION_VALIDATION_OPTIONS, inputErrorsOf } from '../../../server/http/validation-messages.ts'
import { attemptRow } from '../delivery/outcomes.ts'
import type { DestinationType } from './destination.ts'
import { stopDeliveries } from '../lifecycle/auto-disable.ts'
import { destinationDisabled } from '../kinds.ts'
import { testPayload } from '../messages/message.ts'
import { Delivery, DeliveryAttempt, Destination, type MessageChoice } from '../models.ts'
import { probeUrl } from './probe.ts'
import { createSigningSecret, findKeptSecrets, mergeConfig, openConfig, findPlaceholders } from './secrets.ts'
import { rotateSigningSecret, sealConfig } from './secrets.ts'
import { isSilentAfter } from '../delivery/health.ts'
import { attemptDelivery } from '../delivery/send.ts'
import { releaseSlots, waitForSlot } from '../delivery/slots.ts'
import { composeBody } from '../messages/compose.ts'
import { getDestinationType, whyUnavailable } from './registry.ts'
import { databaseNow } from '../../../server/database/now.ts'
import { LOCK_RULES, lockDestination } from '../locks.ts'

type DestinationConfig = Record<string, unknown>

export interface NewDestination {
  name: string
  destination_type: string
  config: DestinationConfig
  messages?: MessageChoice
  is_active: boolean
}

/** @returns the destination with its signing secret, which is shown here and on rotation only */
export async function createDestination(
  server: Server,
  trx: Transaction,
  input: NewDestination,
): Promise<{ destination: Destination; signingSecret: string }> {
  const type = getAvailableType(server, input.destination_type)
  const config = newConfig(type, input.config)
  const owner = { id: v7(), companyId: companyOf(trx) }
  const { secret, sealed } = createSigningSecret(server.vault, owner)
  const destination = await Destination.query(trx)
    .insert({
      ...sealConfig(server.vault, owner, type.config, config),
      id: owner.id,
      name: input.name,
      destinationType: type.name,
      signingSecrets: sealed,
      messages: input.messages ?? type.messages ?? 'alerts',
      isActive: input.is_active,
    })
    .returning('*')
  return { destination, signingSecret: secret }
}

/** @throws 400 for a type that is unknown, or that the operator has not configured */
function getAvailableType(server: Server, name: string): DestinationType {
  const type = getDestinationType(server, name)
  const missing = whyUnavailable(server, type)
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

/** Changes the given fields. The config is merged, and secrets left out are kept. */
export async function changeDestination(
  server: Server,
  trx: Transaction,
  id: string,
  changes: { name?: string; is_active?: boolean; config?: DestinationConfig; messages?: MessageChoice },
): Promise<Destination> {
  const destination = await findDestination(trx, id, true)
  const change = changes.config && applyConfigChanges(server, destination, changes.config)
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
        ...sealConfig(server.vault, destination, change.type.config, change.config),
        isVerified: false,
        silentSince: null,
      }),
      updatedAt: raw('now()'),
    })
    .returning('*')
  if (changes.is_active) {
    const reason = 'The destination was switched on again'
    await server.plugins.alerts.resolveAll(trx, destinationDisabled.name, [id], reason)
  }
  return changed ?? destination
}

/** The config of a destination with changes. @throws 400 also for a stored secret that would be sent to another host */
function applyConfigChanges(server: Server, destination: Destination, changes: DestinationConfig) {
  const type = getDestinationType(server, destination.destinationType)
  const { urlField } = type
  const current = openConfig(server.vault, destination).config
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

/**
 * Deletes a destination: erases its secrets, stops its pending deliveries and removes it from rules. The record of its
 * deliveries stays. Deliveries are locked before their destination, as when an attempt is recorded.
 * @returns the deleted destination, and the rules that had no other one and were switched off
 */
export async function deleteDestination(server: Server, trx: Transaction, id: string) {
  await findDestination(trx, id)
  await stopDeliveries(trx, id, 'The destination was deleted')
  const destination = await findDestination(trx, id, true)
  await Destination.query(trx)
    .where({ id })
    .patch({ deletedAt: raw('now()'), isActive: false, secrets: null, signingSecrets: '' })
  await server.plugins.alerts.resolveAll(trx, destinationDisabled.name, [id], 'The destination was deleted')
  return { destination, rulesOff: await removeFromRules(trx, id) }
}

/** Removes a destination from the rules that name it. @returns the rules that had no other one and were switched off */
async function removeFromRules(trx: Transaction, destinationId: string) {
  const changed = await rows<{ id: string; name: string; isOff: boolean }>(
    trx,
    `with naming as (
       select id, is_active, array_remove(destination_ids, cast(:destinationId as uuid)) as others from alert_rules
        where company_id = :companyId and cast(:destinationId as uuid) = any(destination_ids)
        ${LOCK_RULES})
     update alert_rules r
        set destination_ids = others, is_active = r.is_active and cardinality(others) > 0, updated_at = now()
       from naming n where r.company_id = :companyId and r.id = n.id
     returning r.id, r.name, n.is_active and not r.is_active as is_off`,
    { companyId: companyOf(trx), destinationId },
  )
  return changed.filter(({ isOff }) => isOff).map(({ id, name }) => ({ id, name }))
}

/** Creates a new signing secret; the previous one stays in `webhook-signature` for 24 hours. */
export async function rotateSecret(server: Server, trx: Transaction, id: string) {
  const destination = await findDestination(trx, id, true)
  const { secret, sealed, previousUntil } = rotateSigningSecret(server.vault, destination, new Date())
  await Destination.query(trx)
    .where({ id })
    .patch({ signingSecrets: sealed, updatedAt: raw('now()') })
  return { secret, previousUntil }
}

const MAX_TESTS_PER_MINUTE = 10
/** A little longer than an attempt may take. */
const SLOT_WAIT_MS = 35_000

/**
 * Sends a test message as soon as its destination has a free slot, and waits for its outcome. A 2xx answer verifies the
 * destination.
 * @param audit called in the transaction that records the outcome
 * @throws 429 for too many tests of the destination, 409 if no slot becomes free in time
 */
export async function sendTestMessage(
  request: Request,
  id: string,
  audit: (trx: Transaction, isDelivered: boolean) => Promise<unknown>,
): Promise<{ delivery: Delivery; attempt: DeliveryAttempt }> {
  const { server } = request
  const { companyId } = caller(request)
  const destination = await server.db.company(companyId, trx => findDestination(trx, id))
  await server.limits.take(`destination-test:${id}`, MAX_TESTS_PER_MINUTE, 60, request)
  const requestId = randomUUID()
  if (!(await waitForSlot(server, companyId, id, requestId, SLOT_WAIT_MS)))
    throw apiError(
      'CONFLICT',
      'Other messages are on their way to this destination, and none has ended yet: try again in a minute',
      { destination_id: id },
    )
  try {
    return await attemptTestMessage(server, destination, requestId, audit)
  } finally {
    await server.db.company(companyId, trx => releaseSlots(trx, [requestId]))
  }
}

async function attemptTestMessage(
  server: Server,
  destination: Destination,
  requestId: string,
  audit: (trx: Transaction, isDelivered: boolean) => Promise<unknown>,
): Promise<{ delivery: Delivery; attempt: DeliveryAttempt }> {
  const { id, companyId } = destination
  const messageId = randomUUID()
  const eventType = 'alert.test'
  const body = composeBody(
    server,
    destination.destinationType,
    testPayload(messageId, destination.name, server.config.baseUrl),
  )
  const message = { id: v7(), messageId, eventType, body } as const
  const attempted = { requestId, startedAt: new Date() }
  const outcome = await attemptDelivery(
    server,
    destination,
    { ...message, served: [] },
    { n: 1, requestId },
    new AbortController().signal,
  )
  return server.db.company(companyId, async trx => {
    const delivery = await Delivery.query(trx)
      .insert({
        ...message,
        served: [...(outcome.served ?? [])],
        alertId: null,
        destinationId: id,
        trigger: 'test',
        status: outcome.isDelivered ? 'delivered' : 'failed',
        attempt: 1,
        completedAt: databaseNow(),
      })
      .returning('*')
    const attempt = await DeliveryAttempt.query(trx)
      .insert(attemptRow({ delivery, ...attempted }, 1, outcome))
      .returning('*')
    const health = {
      ...(outcome.isDelivered && { isVerified: true, failingSince: null }),
      ...(destination.silentSince && !isSilentAfter(outcome, true) && { silentSince: null }),
    }
    if (Object.keys(health).length > 0) await Destination.query(trx).where({ id }).patch(health)
    await audit(trx, outcome.isDelivered)
    return { delivery, attempt }
  })
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
  server: Server,
  { destination_type: typeName, config }: Pick<NewDestination, 'destination_type' | 'config'>,
): Promise<void> {
  const type = getAvailableType(server, typeName)
  await probeAddress(server, type, newConfig(type, config))
}

export async function probeChange(
  server: Server,
  companyId: string,
  id: string,
  { config: changes }: { config?: DestinationConfig },
): Promise<void> {
  if (!changes) return
  const destination = await server.db.company(companyId, trx => findDestination(trx, id))
  const { type, config, isMoved } = applyConfigChanges(server, destination, changes)
  if (isMoved) await probeAddress(server, type, config)
}

async function probeAddress(server: Server, { urlField }: DestinationType, config: DestinationConfig) {
  const url = urlField && config[urlField]
  const problem = typeof url === 'string' ? await probeUrl(new URL(url), server.egress) : null
  if (problem !== null) throw invalidInput([{ field: `config.${urlField}`, error: problem }])
}
