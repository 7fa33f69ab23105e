import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany } from '../../server/access.ts'
import { auditRequest, auditorOf, fieldsOf } from '../../server/audit.ts'
import { apiError } from '../../server/errors.ts'
import { pagination, type Page } from '../../server/page.ts'
import { redeliver } from './delivery.ts'
import {
  changeDestination,
  createDestination,
  deleteDestination,
  findDestination,
  rotateSecret,
  testDestination,
} from './destinations.ts'
import { Delivery, DeliveryAttempt, Destination } from './models.ts'
import { presentAttempt, presentDelivery, presentDestination } from './present.ts'
import { schemas } from './schemas.ts'

const tags = ['api', 'alerts']
const NEWEST_FIRST = [
  { column: 'createdAt', order: 'desc' as const },
  { column: 'id', order: 'desc' as const },
]

/** Destinations, and the record of what was sent to them. */
export const destinationRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/destinations',
    options: { ...access.read, description: 'List destinations', tags, validate: { query: schemas.page } },
    handler(request) {
      const page = request.query as unknown as Page
      return inCompany(request, async trx => {
        const all = Destination.query(trx).whereNull('deletedAt')
        const total = await all.clone().resultSize()
        const found = await all.orderBy(NEWEST_FIRST).limit(page.limit).offset(page.offset)
        return { data: { destinations: found.map(presentDestination), pagination: pagination(total, page) } }
      })
    },
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/alerts/destinations',
    options: {
      ...access.write,
      description: 'Make a destination; its signing secret is shown once',
      tags,
      validate: { payload: schemas.newDestination },
    },
    async handler(request, h) {
      const { server } = request
      const input = request.payload as Parameters<typeof createDestination>[2]
      const { destination, signingSecret } = await inCompany(request, async trx => {
        const made = await createDestination(server, trx, input)
        const { id, name, destinationType } = made.destination
        await tell(request, trx, 'created', id, { name, destination_type: destinationType })
        return made
      })
      const data = { ...presentDestination(destination), signing_secret: signingSecret }
      return h.response({ data }).code(201).header('Cache-Control', 'no-store')
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/destinations/{id}',
    options: {
      ...access.read,
      description: 'Show a destination',
      tags,
      validate: { params: schemas.idParams },
    },
    async handler(request) {
      const { id } = request.params as { id: string }
      const found = await inCompany(request, trx => findDestination(trx, id))
      return { data: presentDestination(found) }
    },
  },
  {
    method: 'PATCH',
    path: '/api/v1/sdk/alerts/destinations/{id}',
    options: {
      ...access.write,
      description: 'Change a destination; its config is merged, null removes a field',
      tags,
      validate: { params: schemas.idParams, payload: schemas.destinationPatch },
    },
    async handler(request) {
      const { server } = request
      const { id } = request.params as { id: string }
      const changes = request.payload as Parameters<typeof changeDestination>[3]
      const changed = await inCompany(request, async trx => {
        const destination = await changeDestination(server, trx, id, changes)
        await tell(request, trx, 'updated', id, { fields: fieldsOf(changes) })
        return destination
      })
      return { data: presentDestination(changed) }
    },
  },
  {
    method: 'DELETE',
    path: '/api/v1/sdk/alerts/destinations/{id}',
    options: {
      ...access.write,
      description: 'Delete a destination; what is on its way to it stops',
      tags,
      validate: { params: schemas.idParams },
    },
    async handler(request) {
      const { id } = request.params as { id: string }
      await inCompany(request, async trx => {
        const { name } = await deleteDestination(trx, id)
        await tell(request, trx, 'removed', id, { name })
      })
      return { data: { success: true, message: 'The destination was deleted' } }
    },
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/alerts/destinations/{id}/test',
    options: {
      ...access.write,
      description: 'Send a test message now and tell how it ended',
      tags,
      validate: { params: schemas.idParams, payload: schemas.nothing },
    },
    async handler(request) {
      const { id } = request.params as { id: string }
      const { delivery, attempt } = await testDestination(
        request.server,
        caller(request).companyId,
        id,
        (trx, success) => tell(request, trx, 'tested', id, { success }),
      )
      const { n: _n, trigger: _trigger, ...ended } = presentAttempt(attempt) as Record<string, unknown>
      return { data: { success: delivery.status === 'delivered', delivery_id: delivery.id, ...ended } }
    },
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/alerts/destinations/{id}/rotate-secret',
    options: {
      ...access.write,
      description: 'Change the signing secret; the old one goes on signing for 24 hours',
      tags,
      validate: { params: schemas.idParams, payload: schemas.nothing },
    },
    async handler(request, h) {
      const { server } = request
      const { id } = request.params as { id: string }
      const { secret, previousUntil } = await inCompany(request, async trx => {
        const rotated = await rotateSecret(server, trx, id)
        await tell(request, trx, 'secret_rotated', id, { previous_valid_until: rotated.previousUntil })
        return rotated
      })
      const data = { id, signing_secret: secret, previous_valid_until: previousUntil }
      return h.response({ data }).header('Cache-Control', 'no-store')
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/destinations/{id}/deliveries',
    options: {
      ...access.read,
      description: 'List what was sent to a destination, with every attempt',
      tags,
      validate: { params: schemas.idParams, query: schemas.deliveries },
    },
    handler: request => deliveries(request),
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/alerts/deliveries/{id}/redeliver',
    options: {
      ...access.write,
      description: 'Send the same message again, once',
      tags,
      validate: { params: schemas.idParams, payload: schemas.nothing },
    },
    async handler(request, h) {
      return h.response(await sendAgain(request)).code(202)
    },
  },
]

const tell = auditorOf('destination', (id: string) => id)

/** Characters of an answer that the list shows; up to 16 KiB are stored. */
const EXCERPT = 2_000

async function deliveries(request: Request) {
  const { id } = request.params as { id: string }
  const { status, ...page } = request.query as unknown as Page & { status?: Delivery['status'] }
  return inCompany(request, async trx => {
    await findDestination(trx, id)
    const matching = Delivery.query(trx).where({ destinationId: id, ...(status && { status }) })
    const total = await matching.clone().resultSize()
    const found = await matching.orderBy(NEWEST_FIRST).limit(page.limit).offset(page.offset)
    const attempts = await DeliveryAttempt.query(trx)
      .whereIn(
        'deliveryId',
        found.map(delivery => delivery.id),
      )
      .orderBy('n')
    const items = found.map(delivery => {
      const own = attempts.filter(({ deliveryId }) => deliveryId === delivery.id)
      for (const attempt of own) attempt.responseBody = attempt.responseBody?.slice(0, EXCERPT) ?? null
      return presentDelivery(delivery, own)
    })
    return { data: { data: items, pagination: pagination(total, page) } }
  })
}

async function sendAgain(request: Request) {
  const { server } = request
  const { id } = request.params as { id: string }
  return inCompany(request, async trx => {
    const delivery = await Delivery.query(trx).findById(id).forUpdate()
    if (!delivery)
      throw apiError('DELIVERY_NOT_FOUND', 'There is no delivery of this id', { delivery_id: id })
    const destination = await findDestination(trx, delivery.destinationId)
    if (delivery.status === 'pending') {
      throw apiError('CONFLICT', 'The delivery is still on its way: wait until it has ended', {
        status: delivery.status,
      })
    }
    if (!destination.isActive) {
      throw apiError('CONFLICT', 'The destination is switched off: PATCH it with is_active true first', {
        destination_id: destination.id,
      })
    }
    const attempts = await DeliveryAttempt.query(trx).where({ deliveryId: id }).orderBy('n')
    const again = await redeliver(server, trx, delivery)
    await auditRequest(request, trx, {
      action: 'delivery.resent',
      target: { type: 'delivery', id },
      details: { destination_id: destination.id },
    })
    return { data: presentDelivery(again, attempts) }
  })
}
