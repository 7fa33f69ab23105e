import Joi from 'joi'
import { exampleRecord, held, nullable, record } from '../../../server/http/envelopes.ts'
import type { Fields } from '../../../server/http/fields.ts'
import { uuid } from '../../../server/http/input.ts'
import { TIMEZONE } from '../../../server/settings/timezones.ts'
import { DESTINATION_ID_EXAMPLE } from '../destinations/replies.ts'
import { DIGEST_FREQUENCIES } from './models.ts'

/** What a digest is made of. */
export const digestFields = {
  id: { reply: held.id, example: '019a2f3e-7b10-7c7e-9d0b-3f1c2b4a5d6f' },
  name: {
    body: Joi.string().trim().min(1).max(200),
    required: true,
    patch: true,
    reply: held.text,
    example: 'What happened last week',
  },
  destination_id: {
    body: uuid.description('Of a type that takes digests.'),
    required: true,
    patch: true,
    reply: held.id,
    example: DESTINATION_ID_EXAMPLE,
  },
  owner: {
    body: nullable(Joi.string().trim().min(1).max(254)).description(
      'A team by id or name, or a user by id or address: only what it owns. Null for all.',
    ),
    patch: true,
    example: null,
  },
  frequency: {
    body: Joi.string().valid(...DIGEST_FREQUENCIES),
    default: 'weekly',
    patch: true,
    example: 'weekly',
  },
  weekday: {
    body: Joi.number().strict().integer().min(1).max(7).description('1 = Monday, of a weekly one.'),
    default: 1,
    patch: true,
    example: 1,
  },
  send_at: {
    body: Joi.string()
      .pattern(/^([01][0-9]|2[0-3]):[0-5][0-9]$/)
      .description('`HH:MM` in the time zone.'),
    default: '08:00',
    patch: true,
    example: '08:00',
  },
  timezone: {
    body: TIMEZONE.description('An IANA time zone.'),
    default: 'UTC',
    patch: true,
    reply: held.text,
    example: 'Europe/Berlin',
  },
  is_active: { body: Joi.boolean().strict(), default: true, patch: true, reply: held.flag, example: true },
  next_run_at: {
    reply: held.time.description('When it is due next, while it is active.'),
    example: '2026-03-16T07:00:00.000Z',
  },
  covered_until: {
    reply: nullable(held.time).description('The end of the last period that was sent.'),
    example: '2026-03-09T07:00:00.000Z',
  },
  created_at: { reply: held.time, example: '2026-03-02T08:20:00.000Z' },
  updated_at: { reply: held.time, example: '2026-03-02T08:20:00.000Z' },
} as const satisfies Fields

/** The content of a digest in replies and webhooks. */
export const digestContent = exampleRecord({
  name: held.text.example('What happened last week'),
  since: held.time.example('2026-03-09T07:00:00.000Z'),
  until: held.time.example('2026-03-16T07:00:00.000Z'),
  heading: held.text.example('Weekly digest: 1 incident, 3 alerts'),
  sentence: held.text.example('9 March 08:00 to 16 March 08:00, Europe/Berlin'),
  sections: Joi.array()
    .items(
      record({
        name: held.text.description('`incidents`, `tables`, `late`, `noisy`, `unwatched`.'),
        title: held.text,
        lines: Joi.array().items(record({ text: held.text, url: held.text.allow(null) })),
      }),
    )
    .example([
      {
        name: 'tables',
        title: 'Alerts by table',
        lines: [
          {
            text: 'orders: 3 alerts, 1 still open',
            url: 'https://tidemark.example.com/tables/0196f1c2-9d2e-7a10-b3c4-5d6e7f8091a2',
          },
        ],
      },
    ]),
  links: Joi.array()
    .items(record({ text: held.text, url: held.text }))
    .example([{ text: 'Open the alerts', url: 'https://tidemark.example.com/alerts' }]),
}).label('DigestContent')
