import { randomUUID } from 'node:crypto'
import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import { v7 } from 'uuid'
import { companyOf, type Transaction } from '../../server/database.ts'
import { apiError, invalidField } from '../../server/errors.ts'
import { attemptRow } from './delivery.ts'
import type { DestinationType } from './destination.ts'
import { stopDeliveries } from './failing.ts'
import { testPayload } from './message.ts'
import { Delivery, DeliveryAttempt, Destination } from './models.ts'
import { probe } from './probe.ts'
import { firstSigningSecret, merge, openConfig, rotateSigningSecret, sealConfig } from './secrets.ts'
import { sendTo } from './send.ts'
import { composed, typeNamed } from './types.ts'

type Config = Record<string, unknown>

/** Makes a destination. @returns it with its signing secret, which is told here and on rotation only */
export async function createDestination(
  server: Server,
  trx: Transaction,
  input: { name: string; destination_type: string; config: Config; is_active: boolean },
): Promise<{ destination: Destination; signingSecret: string }> {
  const type = typeNamed(server, input.destination_type)
  const missing = type.unavailable?.()
  if (missing) throw invalidField('destination_type', missing)
  const config = checkedConfig(type, input.config)
  const owner = { id: v7(), companyId: companyOf(trx) }
  const { secret, sealed } = firstSigningSecret(server.vault, owner)
  const destination = await Destination.query(trx)
    .insert({
      ...sealConfig(server.vault, owner, type.config, config),
      id: owner.id,
      name: input.name,
      destinationType: type.name,
      signingSecrets: sealed,
      isActive: input.is_active,
    })
    .returning('*')
  return { destination, signingSecret: secret }
}

/** A destination that was not deleted. @throws 404 `DESTINATION_NOT_FOUND` */
export async function findDestination(trx: Transaction, id: string, lock = false): Promise<Destination> {
  const query = Destination.query(trx).findById(id).whereNull('deletedAt')
  const destination = await (lock ? query.forNoKeyUpdate() : query)
  if (destination) return destination
  throw noSuchDestination(id)
}

/** 404 for a destination. */
export function noSuchDestination(id: string) {
  return apiError(
    'DESTINATION_NOT_FOUND',
    'There is no destination of this id: GET /api/v1/sdk/alerts/destinations lists them',
    { destination_id: id },
  )
}

/** Changes what is given; the config is merged, and secrets left out are kept. */
export async function changeDestination(
  server: Server,
  trx: Transaction,
  id: string,
  changes: { name?: string; is_active?: boolean; config?: Config },
): Promise<Destination> {
  const destination = await findDestination(trx, id, true)
  const sealed = changes.config && changedConfig(server, destination, changes.config)
  const [changed] = await Destination.query(trx)
    .where({ id })
    .patch({
      ...(changes.name !== undefined && { name: changes.name }),
      ...(changes.is_active !== undefined && {
        isActive: changes.is_active,
        disabledReason: null,
        failingSince: null,
      }),
      // A changed address has not proved itself yet.
      ...(sealed && { ...sealed, isVerified: false }),
      updatedAt: raw('now()'),
    })
    .returning('*')
  if (changes.is_active) {
    const reason = 'The destination was switched on again'
    await server.plugins.alerts.resolveAll(trx, 'destination_disabled', [id], reason)
  }
  return changed ?? destination
}

function changedConfig(
  server: Server,
  destination: Destination,
  changes: Config,
): Pick<Destination, 'config' | 'secrets'> {
  const type = typeNamed(server, destination.destinationType)
  const current = openConfig(server.vault, destination).config
  const config = checkedConfig(type, merge(current, changes))
  return sealConfig(server.vault, destination, type.config, config)
}

/**
 * Deletes a destination: its secrets go at once, what is on its way stops, the record of deliveries stays. Deliveries
 * are locked before their destination, as whoever records an attempt does.
 * @returns it as it was
 */
export async function deleteDestination(server: Server, trx: Transaction, id: string): Promise<Destination> {
  await findDestination(trx, id)
  await stopDeliveries(trx, id, 'The destination was deleted')
  const destination = await findDestination(trx, id, true)
  await Destination.query(trx)
    .where({ id })
    .patch({ deletedAt: raw('now()'), isActive: false, secrets: null, signingSecrets: '' })
  await server.plugins.alerts.resolveAll(trx, 'destination_disabled', [id], 'The destination was deleted')
  return destination
}

/** Gives a destination a new signing secret; the one before stays in `webhook-signature` for 24 hours. */
export async function rotateSecret(
  server: Server,
  trx: Transaction,
  id: string,
): Promise<{ secret: string; previousUntil: Date }> {
  const destination = await findDestination(trx, id, true)
  const { secret, sealed, previousUntil } = rotateSigningSecret(server.vault, destination, new Date())
  await Destination.query(trx)
    .where({ id })
    .patch({ signingSecrets: sealed, updatedAt: raw('now()') })
  return { secret, previousUntil }
}

/**
 * Sends a test message now and waits for how it ends; a 2xx answer verifies the destination. `tell` says so in the
 * transaction that records it.
 */
export async function testDestination(
  server: Server,
  companyId: string,
  id: string,
  tell: (trx: Transaction, isDelivered: boolean) => Promise<unknown>,
): Promise<{ delivery: Delivery; attempt: DeliveryAttempt }> {
  const destination = await server.db.company(companyId, trx => findDestination(trx, id))
  const messageId = randomUUID()
  const eventType = 'alert.test'
  const body = composed(
    server,
    destination.destinationType,
    testPayload(messageId, destination.name, server.config.baseUrl),
  )
  const message = { id: v7(), messageId, eventType, body } as const
  const attempted = { requestId: randomUUID(), startedAt: new Date() }
  const outcome = await sendTo(
    server,
    destination,
    { ...message, served: [] },
    { n: 1, requestId: attempted.requestId },
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
        completedAt: raw('now()') as unknown as Date,
      })
      .returning('*')
    const attempt = await DeliveryAttempt.query(trx)
      .insert(attemptRow({ delivery, ...attempted }, 1, outcome))
      .returning('*')
    if (outcome.isDelivered) {
      await Destination.query(trx).where({ id }).patch({ isVerified: true, failingSince: null })
    }
    await tell(trx, outcome.isDelivered)
    return { delivery, attempt }
  })
}

/** The config as its type takes it. @throws 400 naming each field, dotted under `config` */
function checkedConfig(type: DestinationType, given: Config): Config {
  const { value, error } = type.config.validate(given, {
    abortEarly: false,
    errors: { wrap: { label: false } },
  })
  if (error) {
    const errors = error.details.map(({ path, message }) => ({
      field: ['config', ...path].join('.'),
      error: message,
    }))
    throw apiError('VALIDATION_ERROR', errors.map(failure => failure.error).join('; '), {
      ...errors[0],
      errors,
    })
  }
  return value as Config
}

/**
 * Looks at the address of a destination that is about to be made, before its transaction: it can take seconds.
 * @throws 400 when nothing can be sent there; not when nobody answers there now
 */
export async function probeNew(
  server: Server,
  { destination_type: typeName, config }: { destination_type: string; config: Config },
): Promise<void> {
  const type = typeNamed(server, typeName)
  await probeAddress(server, type, checkedConfig(type, config))
}

/** The same for a change, when it is one of the address. */
export async function probeChange(
  server: Server,
  companyId: string,
  id: string,
  { config: changes }: { config?: Config },
): Promise<void> {
  if (!changes) return
  const destination = await server.db.company(companyId, trx => findDestination(trx, id))
  const type = typeNamed(server, destination.destinationType)
  const current = openConfig(server.vault, destination).config
  const config = checkedConfig(type, merge(current, changes))
  if (type.urlField && config[type.urlField] !== current[type.urlField])
    await probeAddress(server, type, config)
}

async function probeAddress(server: Server, { urlField }: DestinationType, config: Config): Promise<void> {
  const url = urlField && config[urlField]
  const problem = typeof url === 'string' ? await probe(new URL(url), server.egress) : null
  if (problem !== null) throw invalidField(`config.${urlField}`, problem)
}
