import Joi from 'joi'
import { hoursFields, hoursInput } from '../../../server/http/check-schemas.ts'
import { held, nullable } from '../../../server/http/envelopes.ts'
import type { Fields } from '../../../server/http/fields.ts'
import { uuid } from '../../../server/http/input.ts'
import { TIMEZONE } from '../../../server/settings/timezones.ts'
import { timeInput } from '../../../server/times/time-input.ts'

/** No reply has a later one: common clients cannot parse it. */
const time = timeInput
  .max('9999-12-31T23:59:59Z')
  .messages({ 'date.max': '{{#label}} must lie before the year 10000' })
  .allow(null)

const filter = (item: Joi.Schema, max: number, description: string) =>
  Joi.array().items(item).min(1).max(max).unique().allow(null).description(description)

/** What a mute window is made of. */
export const muteFields = {
  id: { reply: held.id, example: '019a2f3e-7b10-7c7e-9d0b-3f1c2b4a5d6e' },
  name: {
    body: Joi.string().trim().min(1).max(200),
    required: true,
    patch: true,
    reply: held.text,
    example: 'Warehouse migration',
  },
  asset_ids: {
    body: filter(uuid, 1_000, 'Tables, or sources with all their tables; null for all.'),
    patch: true,
    reply: nullable(Joi.array().items(uuid)).description(
      'Empty once all of them were removed: it mutes nothing then.',
    ),
    example: null,
  },
  schemas: {
    body: filter(
      Joi.string().trim().min(1).max(1_000),
      100,
      'Qualified names of schemas, such as `shop.shop.public`; null for all.',
    ),
    patch: true,
    example: ['shop.shop.public'],
  },
  tags: {
    body: filter(Joi.string().min(1).max(200), 100, 'Tables with any of these tags; null for all.'),
    patch: true,
    example: null,
  },
  starts_at: {
    body: time.description('For a window that is open once; defaults to now.'),
    patch: true,
    reply: nullable(held.time),
    example: '2026-03-14T20:00:00.000Z',
  },
  ends_at: {
    body: time.description('For a window that is open once.'),
    patch: true,
    reply: nullable(held.time),
    example: '2026-03-15T02:00:00.000Z',
  },
  timezone: {
    body: TIMEZONE.allow(null).description('For a window that is open every week: an IANA time zone.'),
    patch: true,
    reply: nullable(hoursFields.timezone),
    example: null,
  },
  rules: {
    body: hoursInput.allow(null).description('When a window is open every week.'),
    patch: true,
    reply: nullable(hoursFields.rules),
    example: null,
  },
  is_active: { body: Joi.boolean().strict(), default: true, patch: true, reply: held.flag, example: true },
  muted_until: {
    computed: true,
    reply: nullable(held.time).description('When it closes, while it is open; null while it is not.'),
    example: '2026-03-15T02:00:00.000Z',
  },
  created_at: { reply: held.time, example: '2026-03-09T08:20:00.000Z' },
  updated_at: { reply: held.time, example: '2026-03-09T08:20:00.000Z' },
} as const satisfies Fields
