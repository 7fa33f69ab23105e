import type { ServerRoute } from '@hapi/hapi'
import {
  access,
  caller,
  inCompany,
  routesOf,
  type AnyRequest,
  type ValidRequest,
} from '../../server/http/access.ts'
import { auditRequest, auditorOf, fieldsOf } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { apiError } from '../../server/http/errors.ts'
import { idParams, param } from '../../server/http/input.ts'
import { pageOf, pagination } from '../../server/http/page.ts'
import { listDeliveries } from './delivery/delivery-lists.ts'
import { redeliver } from './delivery/delivery.ts'
import { createDestinations, probeAll } from './destinations/bulk.ts'
import {
  createDestination,
  findDestination,
  probeChange,
  probeNew,
  rotateSecret,
  type CreatedDestination,
} from './destinations/destinations.ts'
import type { Deps } from './deps.ts'
import { changeDestination, deleteDestination } from './lifecycle/destination-changes.ts'
import { sendTestMessage } from './messages/test-message.ts'
import { Alert, Delivery, DeliveryAttempt, Destination, NEWEST_FIRST } from './models.ts'
import { noAlert } from './lifecycle/find-alert.ts'
import { presentAttempt, presentDelivery, presentDestinations } from './delivery/present.ts'
import { getDestinationType } from './destinations/find-type.ts'
import { replies } from './destinations/replies.ts'
import { lockAlertOfDelivery, lockDelivery } from './locks.ts'
import { schemas, type DestinationFilters } from './destinations/schemas.ts'

const route = routesOf('destinations')

/** Destinations, and the record of what was sent to them. */
export function destinationRoutes(deps: Deps): ServerRoute[] {
  return [
    route('GET', '/api/v1/sdk/alerts/destinations', access.read, {
      id: 'listDestinations',
      description: 'List destinations, with the number of messages in the last 24 hours by status',
      notes: '`is_failing` finds those that do not take messages.',
      validate: { query: schemas.destinations },
      response: replies.destinations,
      handler: request => listDestinations(deps, request),
    }),
    route('POST', '/api/v1/sdk/alerts/destinations', access.write, {
      id: 'createDestination',
      description: 'Create a destination; its signing secret is shown once',
      notes:
        'The fields of `config` depend on `destination_type`. The secret signs what is sent; receivers verify it. Send a test next.',
      validate: { payload: schemas.newDestination },
      response: replies.newDestination,
      async handler(request, h) {
        const input = request.payload
        await probeNew(deps, input)
        const data = await inCompany(request, async trx => {
          const [created] = await presentNew(request, trx, [await createDestination(deps, trx, input)])
          return created
        })
        return h.response({ data }).code(201).header('Cache-Control', 'no-store')
      },
    }),
    route('POST', '/api/v1/sdk/alerts/destinations/bulk', access.write, {
      id: 'createDestinations',
      description: 'Create up to 20 destinations: all of them, or none; their signing secrets are shown once',
      notes: 'If some cannot be created, the 400 lists the errors of each, with its place in the list.',
      validate: { payload: schemas.newDestinations },
      response: replies.newDestinations,
      async handler(request, h) {
        const { destinations: given } = request.payload
        await probeAll(deps, given)
        const destinations = await inCompany(request, async trx =>
          presentNew(request, trx, await createDestinations(deps, trx, given)),
        )
        return h.response({ data: { destinations } }).code(201).header('Cache-Control', 'no-store')
      },
    }),
    route('GET', '/api/v1/sdk/alerts/destinations/{id}', access.read, {
      id: 'getDestination',
      description: 'Get a destination',
      notes: 'With its config, secrets redacted, and its state.',
      response: replies.destination,
      validate: { params: idParams },
      async handler(request) {
        const id = param(request, 'id')
        const [data] = await inCompany(request, async trx =>
          presentDestinations(trx, [await findDestination(trx, id)]),
        )
        return { data }
      },
    }),
    ...(['PATCH', 'PUT'] as const).map(method =>
      route(method, '/api/v1/sdk/alerts/destinations/{id}', access.write, {
        id: method === 'PUT' ? 'putDestination' : 'updateDestination',
        description: method === 'PUT' ? 'Change a destination, as PATCH does' : 'Change a destination',
        notes:
          'Fields that are left out keep their values; `config` is merged, and null removes one of its fields.' +
          (method === 'PUT' ? ' For clients that send PUT; others use PATCH.' : ''),
        validate: { params: idParams, payload: schemas.destinationPatch },
        response: replies.destination,
        async handler(request) {
          const id = param(request, 'id')
          const changes = request.payload
          await probeChange(deps, caller(request).companyId, id, changes)
          const [data] = await inCompany(request, async trx => {
            const shown = await presentDestinations(trx, [await changeDestination(deps, trx, id, changes)])
            await auditDestination(request, trx, 'updated', id, { fields: fieldsOf(changes) })
            return shown
          })
          return { data }
        },
      }),
    ),
    route('DELETE', '/api/v1/sdk/alerts/destinations/{id}', access.write, {
      id: 'deleteDestination',
      description: 'Delete a destination and stop its pending deliveries',
      notes: 'It is removed from alert rules. Rules without another destination are switched off and listed.',
      response: replies.destinationRemoved,
      validate: { params: idParams },
      async handler(request) {
        const id = param(request, 'id')
        const rulesOff = await inCompany(request, async trx => {
          const { destination, rulesOff: off } = await deleteDestination(deps, trx, id)
          const { name } = destination
          const rules = off.length > 0 && { rules_switched_off: off.map(rule => rule.id) }
          await auditDestination(request, trx, 'removed', id, { name, ...rules })
          return off
        })
        const message = ['The destination was deleted', ...rulesOff.map(describeRuleOff)].join('. ')
        return { data: { success: true, message, rules_switched_off: rulesOff } }
      },
    }),
    route('POST', '/api/v1/sdk/alerts/destinations/{id}/test', access.write, {
      id: 'testDestination',
      description: 'Send a test message and return its outcome',
      notes:
        'It waits up to 35 seconds while four requests to the destination are in flight. At most 10 tests per minute and destination.',
      response: replies.tested,
      validate: { params: idParams, payload: schemas.nothing },
      async handler(request) {
        const id = param(request, 'id')
        const { delivery, attempt } = await sendTestMessage(deps, request, id, (trx, success) =>
          auditDestination(request, trx, 'tested', id, { success }),
        )
        const { n: _n, trigger: _trigger, ...ended } = presentAttempt(attempt)
        const success = delivery.status === 'delivered'
        const message = success ? 'The destination accepted the test message' : attempt.errorMessage
        const sent = { success, test_sent: success, destination_id: id, delivery_id: delivery.id, message }
        return { data: { ...sent, ...ended } }
      },
    }),
    route('POST', '/api/v1/sdk/alerts/destinations/{id}/rotate-secret', access.write, {
      id: 'rotateDestinationSecret',
      description: 'Change the signing secret; the old one also signs for 24 hours',
      notes: 'Use it when a secret may be known to others. The new secret is in this reply and nowhere else.',
      response: replies.rotated,
      validate: { params: idParams, payload: schemas.nothing },
      async handler(request, h) {
        const id = param(request, 'id')
        const { secret, previousUntil } = await inCompany(request, async trx => {
          const rotated = await rotateSecret(deps, trx, id)
          await auditDestination(request, trx, 'secret_rotated', id, {
            previous_valid_until: rotated.previousUntil,
          })
          return rotated
        })
        const data = { id, signing_secret: secret, previous_valid_until: previousUntil }
        return h.response({ data }).header('Cache-Control', 'no-store')
      },
    }),
    route('GET', '/api/v1/sdk/alerts/destinations/{id}/deliveries', access.read, {
      id: 'listDeliveries',
      description: 'List the deliveries to a destination, with every attempt',
      notes: 'Newest first. Use it to see why messages do not arrive.',
      response: replies.deliveries,
      validate: { params: idParams, query: schemas.deliveries },
      handler: request =>
        inCompany(request, async trx => {
          const { id } = await findDestination(trx, param(request, 'id'))
          return listDeliveries(trx, { destinationId: id }, request.query)
        }),
    }),
    route('GET', '/api/v1/sdk/alerts/{id}/deliveries', access.read, {
      description: 'List the deliveries about an alert to all destinations, with every attempt',
      notes: 'Newest first. Use it to see who was notified of an alert.',
      response: replies.deliveries,
      validate: { params: idParams, query: schemas.deliveries },
      handler: request =>
        inCompany(request, async trx => {
          const id = param(request, 'id')
          if (!(await Alert.query(trx).select('id').findById(id))) throw noAlert(id)
          return listDeliveries(trx, { alertId: id }, request.query)
        }),
    }),
    route('POST', '/api/v1/sdk/alerts/deliveries/{id}/redeliver', access.write, {
      id: 'redeliver',
      description: 'Send the same message again, once',
      notes:
        'For a delivery that failed, after its cause was mended. Replies 202; the list of deliveries shows the outcome.',
      app: { errors: ['DELIVERY_NOT_FOUND', 'DESTINATION_NOT_FOUND'] },
      response: replies.redelivered,
      validate: { params: idParams, payload: schemas.nothing },
      async handler(request, h) {
        return h.response(await redeliverMessage(deps, request)).code(202)
      },
    }),
  ]
}

const describeRuleOff = ({ name }: { name: string }) =>
  `The alert rule ${name} has no other destination and is switched off`

const auditDestination = auditorOf('destination', (id: string) => id)

/** New destinations with their signing secrets, which are shown this once; they are audited. */
async function presentNew(request: AnyRequest, trx: Transaction, created: readonly CreatedDestination[]) {
  const stored = created.map(({ destination }) => destination)
  const shown = await presentDestinations(trx, stored)
  for (const { id, name, destinationType } of stored)
    await auditDestination(request, trx, 'created', id, { name, destination_type: destinationType })
  return created.map(({ signingSecret }, place) => ({ ...shown[place], signing_secret: signingSecret }))
}

async function listDestinations({ types }: Deps, request: ValidRequest<unknown, DestinationFilters>) {
  const {
    destination_type: destinationType,
    is_active: isActive,
    active_only: isActiveOnly,
    is_failing: isFailing,
    ...page
  } = request.query
  return inCompany(request, async trx => {
    const matching = Destination.query(trx).whereNull('deletedAt').orderBy(NEWEST_FIRST)
    if (destinationType !== undefined) void matching.where({ destinationType })
    if (isActive !== undefined) void matching.where({ isActive })
    if (isActiveOnly) void matching.where({ isActive: true })
    if (isFailing !== undefined) void matching.whereRaw('(failing_since is not null) = ?', [isFailing])
    const { results, total } = await pageOf(matching, page)
    // Destinations of an extension that is no longer loaded are found by its name.
    if (destinationType !== undefined && total === 0) getDestinationType(types, destinationType)
    const destinations = await presentDestinations(trx, results)
    return { data: { destinations, pagination: pagination(total, page) } }
  })
}

/** Whether an `alert.resolved` would arrive before an `alert.triggered` that is on its way again. */
async function wouldOvertake(trx: Transaction, { eventType, alertId, incidentId, destinationId }: Delivery) {
  if (eventType !== 'alert.resolved' || alertId === null) return false
  const subject = incidentId === null ? { alertId } : { incidentId }
  const earlier = { ...subject, destinationId, eventType: 'alert.triggered', status: 'pending' } as const
  return (await Delivery.query(trx).where(earlier).resultSize()) > 0
}

/** Whether a delivery was stopped before its first attempt. */
const isUnsent = ({ status, fence }: Delivery): boolean => status === 'stopped' && fence === 0

async function redeliverMessage(deps: Deps, request: AnyRequest) {
  const id = param(request, 'id')
  return inCompany(request, async trx => {
    const unlocked = await Delivery.query(trx).findById(id).select('alertId')
    if (!unlocked)
      throw apiError('DELIVERY_NOT_FOUND', 'There is no delivery of this id', { delivery_id: id })
    // Before the delivery, by the lock order: the transaction that resolves the alert sees the redelivery.
    const alert = await lockAlertOfDelivery(trx, unlocked)
    const delivery = await lockDelivery(trx, id)
    const destination = await findDestination(trx, delivery.destinationId)
    if (delivery.status === 'pending')
      throw apiError('CONFLICT', 'The delivery is still on its way: wait until it has ended', {
        status: delivery.status,
      })
    if (alert?.resolvedAt && delivery.eventType === 'alert.triggered' && isUnsent(delivery)) {
      const message =
        'The message was never sent, and its alert is over: the receiver would never get the end of it'
      throw apiError('CONFLICT', message, { status: delivery.status })
    }
    if (await wouldOvertake(trx, delivery))
      throw apiError(
        'CONFLICT',
        'The alert.triggered message of this alert is on its way again: wait until it has arrived',
        { status: delivery.status },
      )
    if (!destination.isActive)
      throw apiError('CONFLICT', 'The destination is switched off: PATCH it with is_active true first', {
        destination_id: destination.id,
      })
    const attempts = await DeliveryAttempt.query(trx).where({ deliveryId: id }).orderBy('n')
    const again = await redeliver(deps.jobs, trx, delivery)
    await auditRequest(request, trx, {
      action: 'delivery.resent',
      target: { type: 'delivery', id },
      details: { destination_id: destination.id },
    })
    return { data: presentDelivery(again, attempts) }
  })
}
