import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { v7 as uuid } from 'uuid'
import { access, routesOf } from '../../server/http/access.ts'
import { noReply } from '../../server/http/envelopes.ts'
import { apiError } from '../../server/http/errors.ts'
import { isTooFarAhead, TOO_FAR_AHEAD } from '../../server/http/input.ts'
import { timeInput } from '../../server/times/time-input.ts'

const MAX_BYTES = 8_192

const name = (max: number) =>
  Joi.string()
    .trim()
    .min(1)
    .max(max)
    .pattern(/^\P{Cc}*$/u)
    .messages({ 'string.pattern.base': '{{#label}} must not hold control characters' })

interface TrackedEvent {
  event_name: string
  anonymous_id: string
  properties: object
  occurred_at?: Date
}

const body = Joi.object<TrackedEvent>({
  event_name: name(100).required().description('The name of the event.'),
  anonymous_id: name(128).required().description('A random id that a browser stores; no personal data.'),
  properties: Joi.object().unknown().default({}).description('More details.'),
  occurred_at: timeInput
    .min('2000-01-01T00:00:00Z')
    .custom((at: Date, helpers) =>
      isTooFarAhead(at) ? helpers.message({ custom: `{{#label}} ${TOO_FAR_AHEAD}` }) : at,
    )
    .description('Defaults to now; at most a day in the future.'),
})
  .required()
  .example({
    event_name: 'docs.opened',
    anonymous_id: '0d9f6c1e-3b7a-4f52-9c8e-1a2b3c4d5e6f',
    properties: { page: 'getting-started' },
  })
  .label('TrackEventRequest')

const route = routesOf('public')

/** Events of pages without a sign-in. Neither the address nor the browser is stored. */
export const eventRoutes: ServerRoute[] = [
  route('POST', '/api/public/events', access.byAddress({ name: 'events', perMinute: 120 }), {
    description: 'Record an anonymous event',
    notes: 'At most 8 KiB. Events are kept for 90 days.',
    payload: {
      maxBytes: MAX_BYTES,
      failAction(_request, _h, error) {
        const { output } = error as { output?: { statusCode: number } }
        if (output?.statusCode !== 413) throw error ?? new Error('The body could not be read')
        throw apiError('PAYLOAD_TOO_LARGE', 'An event takes at most 8 KiB: send fewer properties')
      },
    },
    validate: { payload: body },
    response: noReply,
    async handler(request, h) {
      const event = request.payload
      await request.server.db.statement(
        `insert into anonymous_events (id, anonymous_id, event_name, properties, occurred_at)
         values (:id, :anonymousId, :eventName, cast(:properties as jsonb), coalesce(cast(:occurredAt as timestamptz), now()))`,
        {
          id: uuid(),
          anonymousId: event.anonymous_id,
          eventName: event.event_name,
          properties: JSON.stringify(event.properties),
          occurredAt: event.occurred_at ?? null,
        },
      )
      return h.response().code(204)
    },
  }),
]
