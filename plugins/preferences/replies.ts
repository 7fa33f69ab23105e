import Joi from 'joi'
import { held, inEnvelope, record, reply } from '../../server/http/envelopes.ts'
import { CHAPTERS, DIGESTS, THEMES } from './models.ts'

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

const progress = record(
  {
    chapters: record(Object.fromEntries(CHAPTERS.map(name => [name, chapter]))),
    overall_percent: Joi.number().integer().min(0).max(100).description('Completed chapters, in percent.'),
    completed: held.flag.description('Whether every chapter is completed.'),
  },
  progressSample,
).label('OnboardingProgress')

const preferences = record(
  {
    theme: Joi.string().valid(...THEMES),
    timezone: Joi.string().description('An IANA time zone; the same as in the profile.'),
    email_notifications: held.flag,
    digest: Joi.string().valid(...DIGESTS),
    default_asset_id: held.id
      .allow(null)
      .description('A source or a table; null when none was chosen or it was removed.'),
    table_page_size: Joi.number().integer().min(10).max(200),
    onboarding: progress,
    custom: Joi.object().unknown().description('Values that clients store for the user.'),
  },
  {
    theme: 'dark',
    timezone: 'Europe/Berlin',
    email_notifications: true,
    digest: 'weekly',
    default_asset_id: null,
    table_page_size: 50,
    onboarding: progressSample,
    custom: { sidebar: 'folded' },
  },
).label('UserPreferences')

const value = Joi.any().allow(null).description('The value; null if there is none.').example('dark')

const tracked = record(
  { is_replay: held.flag.description('Whether the user had completed the chapter before.') },
  { is_replay: false },
).label('TrackedEvent')

export const replies = {
  preferences: reply(inEnvelope(preferences).description('All preferences, as they are now')),
  value: reply(inEnvelope(value).description('The value, with the name of the preference')),
  progress: reply(inEnvelope(progress).description('The progress in each chapter and overall, as it is now')),
  tracked: reply(inEnvelope(tracked)),
}
