import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany } from '../../../server/http/access.ts'
import { auditRequest, auditorOf, fieldsOf } from '../../../server/http/audit.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { param, queryOf } from '../../../server/http/input.ts'
import { pageOf, pagination, type Page } from '../../../server/http/page.ts'
import { listDeliveries, loadTraffic } from '../delivery/delivery-lists.ts'
import { redeliver } from '../delivery/delivery.ts'
import {
  changeDestination,
  createDestination,
  deleteDestination,
  findDestination,
  probeChange,
  probeNew,
  rotateSecret,
  sendTestMessage,
} from './destinations.ts'
import { Alert, Delivery, DeliveryAttempt, Destination, NEWEST_FIRST } from '../models.ts'
import { noAlert } from '../lifecycle/transitions.ts'
import { presentAttempt, presentDelivery } from '../delivery/present.ts'
import { presentDestination } from './present.ts'
import { replies } from './replies.ts'
import { idParams } from '../lifecycle/schemas.ts'
import { lockAlertOfDelivery, lockDelivery } from '../locks.ts'
import { schemas } from './schemas.ts'

const tags = ['api', 'alerts']

/** Destinations, and the record of what was sent to them. */
export const destinationRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/destinations',
    options: {
      ...access.read,
      description: 'List destinations, with the number of messages in the last 24 hours by status',
      tags,
      validate: { query: schemas.destinations },
      response: replies.destinations,
    },
    handler: listDestinations,
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/alerts/destinations',
    options: {
      ...access.write,
      description: 'Create a destination; its signing secret is shown once',
      tags,
      validate: { payload: schemas.newDestination },
      response: replies.newDestination,
    },
    async handler(request, h) {
      const { server } = request
      const input = request.payload as Parameters<typeof createDestination>[2]
      await probeNew(server, input)
      const data = await inCompany(request, async trx => {
        const { destination, signingSecret } = await createDestination(server, trx, input)
        const { id, name, destinationType } = destination
        const [shown] = await presentDestinations(trx, [destination])
        await auditDestination(request, trx, 'created', id, { name, destination_type: destinationType })
        return { ...shown, signing_secret: signingSecret }
      })
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
      response: replies.destination,
      validate: { params: idParams },
    },
    async handler(request) {
      const id = param(request, 'id')
      const [data] = await inCompany(request, async trx =>
        presentDestinations(trx, [await findDestination(trx, id)]),
      )
      return { data }
    },
  },
  {
    method: 'PATCH',
    path: '/api/v1/sdk/alerts/destinations/{id}',
    options: {
      ...access.write,
      description: 'Change a destination; its config is merged, null removes a field',
      tags,
      validate: { params: idParams, payload: schemas.destinationPatch },
      response: replies.destination,
    },
    async handler(request) {
      const { server } = request
      const id = param(request, 'id')
      const changes = request.payload as Parameters<typeof changeDestination>[3]
      await probeChange(server, caller(request).companyId, id, changes)
      const [data] = await inCompany(request, async trx => {
        const shown = await presentDestinations(trx, [await changeDestination(server, trx, id, changes)])
        await auditDestination(request, trx, 'updated', id, { fields: fieldsOf(changes) })
        return shown
      })
      return { data }
    },
  },
  {
    method: 'DELETE',
    path: '/api/v1/sdk/alerts/destinations/{id}',
    options: {
      ...access.write,
      description: 'Delete a destination and stop its pending deliveries',
      notes: 'It is removed from alert rules. Rules without another destination are switched off and listed.',
      tags,
      response: replies.destinationRemoved,
      validate: { params: idParams },
    },
    async handler(request) {
      const id = param(request, 'id')
      const rulesOff = await inCompany(request, async trx => {
        const { destination, rulesOff: off } = await deleteDestination(request.server, trx, id)
        const { name } = destination
        const rules = off.length > 0 && { rules_switched_off: off.map(rule => rule.id) }
        await auditDestination(request, trx, 'removed', id, { name, ...rules })
        return off
      })
      const message = ['The destination was deleted', ...rulesOff.map(describeRuleOff)].join('. ')
      return { data: { success: true, message, rules_switched_off: rulesOff } }
    },
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/alerts/destinations/{id}/test',
    options: {
      ...access.write,
      description: 'Send a test message and return its outcome',
      notes:
        'It waits up to 35 seconds while four requests to the destination are in flight. At most 10 tests per minute and destination.',
      tags,
      response: replies.tested,
      validate: { params: idParams, payload: schemas.nothing },
    },
    async handler(request) {
      const id = param(request, 'id')
      const { delivery, attempt } = await sendTestMessage(request, id, (trx, success) =>
        auditDestination(request, trx, 'tested', id, { success }),
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
      description: 'Change the signing secret; the old one also signs for 24 hours',
      tags,
      response: replies.rotated,
      validate: { params: idParams, payload: schemas.nothing },
    },
    async handler(request, h) {
      const { server } = request
      const id = param(request, 'id')
      const { secret, previousUntil } = await inCompany(request, async trx => {
        const rotated = await rotateSecret(server, trx, id)
        await auditDestination(request, trx, 'secret_rotated', id, {
          previous_valid_until: rotated.previousUntil,
        })
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
      description: 'List the deliveries to a destination, with every attempt',
      tags,
      response: replies.deliveries,
      validate: { params: idParams, query: schemas.deliveries },
    },
    handler: request =>
      inCompany(request, async trx => {
        const { id } = await findDestination(trx, param(request, 'id'))
        return listDeliveries(trx, { destinationId: id }, queryOf(request))
      }),
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/{id}/deliveries',
    options: {
      ...access.read,
      description: 'List the deliveries about an alert to all destinations, with every attempt',
      tags,
      response: replies.deliveries,
      validate: { params: idParams, query: schemas.deliveries },
    },
    handler: request =>
      inCompany(request, async trx => {
        const id = param(request, 'id')
        if (!(await Alert.query(trx).select('id').findById(id))) throw noAlert(id)
        return listDeliveries(trx, { alertId: id }, queryOf(request))
      }),
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/alerts/deliveries/{id}/redeliver',
    options: {
      ...access.write,
      description: 'Send the same message again, once',
      tags,
      app: { errors: ['DELIVERY_NOT_FOUND', 'DESTINATION_NOT_FOUND'] },
      response: replies.redelivered,
      validate: { params: idParams, payload: schemas.nothing },
    },
    async handler(request, h) {
      return h.response(await redeliverMessage(request)).code(202)
    },
  },
]

const describeRuleOff = ({ name }: { name: string }) =>
  `The alert rule ${name} has no other destination and is switched off`

const auditDestination = auditorOf('destination', (id: string) => id)

/** Destinations as the API shows them, with their traffic. */
async function presentDestinations(trx: Transaction, found: readonly Destination[]): Promise<object[]> {
  const trafficOf = await loadTraffic(
    trx,
    found.map(({ id }) => id),
  )
  return found.map(destination => presentDestination(destination, trafficOf(destination.id)))
}

async function listDestinations(request: Request) {
  const query = queryOf<Page & { destination_type?: string; is_active?: boolean; is_failing?: boolean }>(
    request,
  )
  const { destination_type: destinationType, is_active: isActive, is_failing: isFailing, ...page } = query
  return inCompany(request, async trx => {
    const matching = Destination.query(trx).whereNull('deletedAt').orderBy(NEWEST_FIRST)
    if (destinationType !== undefined) void matching.where({ destinationType })
    if (isActive !== undefined) void matching.where({ isActive })
    if (isFailing !== undefined) void matching.whereRaw('(failing_since is not null) = ?', [isFailing])
    const { results, total } = await pageOf(matching, page)
    const destinations = await presentDestinations(trx, results)
    return { data: { destinations, pagination: pagination(total, page) } }
  })
}

/** Whether an `alert.resolved` would arrive before an `alert.triggered` that is on its way again. */
async function wouldOvertake(trx: Transaction, { eventType, alertId, destinationId }: Delivery) {
  if (eventType !== 'alert.resolved' || alertId === null) return false
  const earlier = { alertId, destinationId, eventType: 'alert.triggered', status: 'pending' } as const
  return (await Delivery.query(trx).where(earlier).resultSize()) > 0
}

/** Whether a delivery was stopped before its first attempt. */
function isUnsent({ status, fence }: Delivery): boolean {
  return status === 'stopped' && fence === 0
}

async function redeliverMessage(request: Request) {
  const { server } = request
  const id = param(request, 'id')
  return inCompany(request, async trx => {
    const known = await Delivery.query(trx).findById(id).select('alertId')
    if (!known) throw apiError('DELIVERY_NOT_FOUND', 'There is no delivery of this id', { delivery_id: id })
    // Before the delivery, by the lock order: the transaction that resolves the alert sees the redelivery.
    const alert = await lockAlertOfDelivery(trx, known)
    const delivery = await lockDelivery(trx, id)
    const destination = await findDestination(trx, delivery.destinationId)
    if (delivery.status === 'pending') {
      throw apiError('CONFLICT', 'The delivery is still on its way: wait until it has ended', {
        status: delivery.status,
      })
    }
    if (alert?.resolvedAt && delivery.eventType === 'alert.triggered' && isUnsent(delivery)) {
      const message =
        'The message was never sent, and its alert is over: the receiver would never get the end of it'
      throw apiError('CONFLICT', message, { status: delivery.status })
    }
    if (await wouldOvertake(trx, delivery)) {
      throw apiError(
        'CONFLICT',
        'The alert.triggered message of this alert is on its way again: wait until it has arrived',
        {
          status: delivery.status,
        },
      )
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
