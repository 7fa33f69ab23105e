import Joi from 'joi'
import { exampleIn, exampleRecord, held, nullable, record } from '../../server/http/envelopes.ts'
import type { Fields } from '../../server/http/fields.ts'
import { TIMEZONE } from '../../server/settings/timezones.ts'
import { CHAPTERS, type OnboardingProgress } from './chapters.ts'

const MAX_CUSTOM_BYTES = 16 * 1024
const MAX_CUSTOM_KEYS = 64
const MAX_KEY_CHARACTERS = 100

/** An object of any values, at most `maxBytes` as JSON. */
export function boundedObject(
  maxBytes: number,
  maxKeyCharacters = maxBytes,
): Joi.ObjectSchema<Record<string, unknown>> {
  return Joi.object<Record<string, unknown>>()
    .pattern(Joi.string().min(1).max(maxKeyCharacters), Joi.any())
    .custom((value: object, helpers) =>
      Buffer.byteLength(JSON.stringify(value)) <= maxBytes
        ? value
        : helpers.error('object.size', { maxBytes }),
    )
    .messages({ 'object.size': `{{#label}} must be at most ${maxBytes} bytes as JSON` })
}

const started = { completed: true, completed_at: '2026-05-04T09:30:00.000Z', current_step: 3 }
const notStarted = { completed: false, completed_at: null, current_step: 0 }
const progressSample = {
  chapters: { connect: started, discover: notStarted, freshness: notStarted, schema: notStarted },
  overall_percent: 25,
  completed: false,
}

const chapter = record({
  completed: held.flag,
  completed_at: held.time.allow(null),
  current_step: held.count.description('The step to continue with.'),
}).label('OnboardingChapter')

export const progress = exampleRecord(
  {
    chapters: record(Object.fromEntries(CHAPTERS.map(name => [name, chapter]))),
    overall_percent: Joi.number().integer().min(0).max(100).description('Completed chapters, in percent.'),
    completed: held.flag.description('Whether every chapter is completed.'),
  },
  progressSample,
).label('OnboardingProgress')

/** A user's preferences. Their defaults are those of the columns, which apply without a row. */
export const preferenceFields = {
  theme: {
    body: Joi.string<'system' | 'light' | 'dark'>().valid('system', 'light', 'dark'),
    default: 'system',
    patch: true,
    example: 'dark',
  },
  timezone: {
    computed: true,
    body: TIMEZONE.description('An IANA time zone; the same as in the profile.'),
    patch: true,
    reply: Joi.string().description('An IANA time zone; the same as in the profile.'),
    example: 'Europe/Berlin',
  },
  email_notifications: { body: Joi.boolean().strict(), default: true, patch: true, example: true },
  digest: {
    body: Joi.string<'off' | 'daily' | 'weekly'>().valid('off', 'daily', 'weekly'),
    default: 'off',
    patch: true,
    example: 'weekly',
  },
  default_asset_id: {
    body: nullable(Joi.string().max(2_000)).description(
      'The id or qualified name of a source or a table; null for none.',
    ),
    patch: true,
    reply: nullable(held.id).description('A source or a table; null when none was chosen or it was removed.'),
    example: null,
  },
  table_page_size: {
    body: Joi.number().strict().integer().min(10).max(200),
    default: 50,
    patch: true,
    example: 50,
  },
  onboarding: {
    computed: true,
    reply: progress as Joi.AnySchema<OnboardingProgress>,
    example: exampleIn(progress),
  },
  custom: {
    body: boundedObject(MAX_CUSTOM_BYTES, MAX_KEY_CHARACTERS)
      .max(MAX_CUSTOM_KEYS)
      .description(
        `Any values that a client stores for the user: at most ${MAX_CUSTOM_KEYS} keys, 16 KiB. Replaced as a whole.`,
      ),
    default: {},
    patch: true,
    reply: Joi.object<Record<string, unknown>>()
      .unknown()
      .description('Values that clients store for the user.'),
    example: { sidebar: 'folded' },
  },
} as const satisfies Fields
