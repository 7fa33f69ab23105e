import Joi from 'joi'
import { nullable } from '../../server/http/envelopes.ts'
import { patchKeys, type PatchBody } from '../../server/http/fields.ts'
import { CHAPTERS, type ChapterName } from './chapters.ts'
import { boundedObject, preferenceFields } from './fields.ts'
import type { UserPreferences } from './models.ts'

const MAX_PROPERTIES_BYTES = 8 * 1024
/** The largest value of the column. */
const MAX_STEP = 2_147_483_647

export type PreferencesPatch = PatchBody<UserPreferences, typeof preferenceFields>

export interface NewOnboardingEvent {
  event_name: string
  chapter: ChapterName
  step?: number
  properties?: Record<string, unknown>
}

const chapter = Joi.string().valid(...CHAPTERS)
const step = Joi.number().strict().integer().min(0).max(MAX_STEP)
const word = Joi.string()
  .trim()
  .min(1)
  .max(100)
  .pattern(/^\P{Cc}*$/u, 'text without control characters')

export const schemas = {
  patch: Joi.object<PreferencesPatch>(patchKeys(preferenceFields))
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
  chapter: Joi.object<{ chapter: ChapterName; completed: boolean }>({
    chapter: chapter.required(),
    completed: Joi.boolean().strict().required(),
  })
    .required()
    .label('UpdateChapterRequest')
    .example({ chapter: 'connect', completed: true }),
  step: Joi.object<{ chapter: ChapterName; step: number }>({
    chapter: chapter.required(),
    step: step.required(),
  })
    .required()
    .label('UpdateStepRequest')
    .example({ chapter: 'connect', step: 2 }),
  reset: nullable(
    Joi.object<{ chapter?: ChapterName }>({ chapter: chapter.description('Defaults to all chapters.') }),
  )
    .label('ResetOnboardingRequest')
    .example({ chapter: 'connect' }),
  event: Joi.object<NewOnboardingEvent>({
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
