import Joi from 'joi'
import { TIMEZONE } from '../../server/settings/timezones.ts'
import { CHAPTERS, DIGESTS, THEMES } from './models.ts'

const MAX_CUSTOM_BYTES = 16 * 1024
const MAX_CUSTOM_KEYS = 64
const MAX_KEY_CHARACTERS = 100
const MAX_PROPERTIES_BYTES = 8 * 1024
/** The largest value of the column. */
const MAX_STEP = 2_147_483_647

/** An object of any values, at most `maxBytes` as JSON. */
function boundedObject(maxBytes: number, maxKeyCharacters = maxBytes): Joi.ObjectSchema {
  return Joi.object()
    .pattern(Joi.string().min(1).max(maxKeyCharacters), Joi.any())
    .custom((value: object, helpers) =>
      Buffer.byteLength(JSON.stringify(value)) <= maxBytes
        ? value
        : helpers.error('object.size', { maxBytes }),
    )
    .messages({ 'object.size': `{{#label}} must be at most ${maxBytes} bytes as JSON` })
}

const custom = boundedObject(MAX_CUSTOM_BYTES, MAX_KEY_CHARACTERS)
  .max(MAX_CUSTOM_KEYS)
  .description(
    `Any values that a client stores for the user: at most ${MAX_CUSTOM_KEYS} keys, 16 KiB. Replaced as a whole.`,
  )

const chapter = Joi.string().valid(...CHAPTERS)
const step = Joi.number().strict().integer().min(0).max(MAX_STEP)
const word = Joi.string()
  .trim()
  .min(1)
  .max(100)
  .pattern(/^\P{Cc}*$/u, 'text without control characters')

export const schemas = {
  patch: Joi.object({
    theme: Joi.string().valid(...THEMES),
    timezone: TIMEZONE.description('An IANA time zone; the same as in the profile.'),
    email_notifications: Joi.boolean().strict(),
    digest: Joi.string().valid(...DIGESTS),
    default_asset_id: Joi.string()
      .max(2_000)
      .allow(null)
      .description('The id or qualified name of a source or a table; null for none.'),
    table_page_size: Joi.number().strict().integer().min(10).max(200),
    custom,
  })
    .required()
    .label('UserPreferencesUpdate')
    .example({ theme: 'dark', table_page_size: 100 }),
  keyParams: Joi.object({
    preference_key: Joi.string()
      .max(200)
      .required()
      .description('A field of the preferences, or a key of `custom`, also written `custom.<key>`.')
      .example('theme'),
  }),
  chapter: Joi.object({ chapter: chapter.required(), completed: Joi.boolean().strict().required() })
    .required()
    .label('UpdateChapterRequest')
    .example({ chapter: 'connect', completed: true }),
  step: Joi.object({ chapter: chapter.required(), step: step.required() })
    .required()
    .label('UpdateStepRequest')
    .example({ chapter: 'connect', step: 2 }),
  reset: Joi.object({ chapter: chapter.description('Defaults to all chapters.') })
    .allow(null)
    .label('ResetOnboardingRequest')
    .example({ chapter: 'connect' }),
  event: Joi.object({
    event_name: word.required().description('The name of the event.'),
    chapter: chapter.required(),
    step,
    properties: boundedObject(MAX_PROPERTIES_BYTES).description('More details: at most 8 KiB.'),
  })
    .required()
    .label('TrackOnboardingEventRequest')
    .example({ event_name: 'step_completed', chapter: 'discover', step: 1, properties: { seconds: 12 } }),
  none: Joi.object({}),
  nothing: Joi.object({}).allow(null),
}
