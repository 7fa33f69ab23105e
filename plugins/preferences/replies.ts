import Joi from 'joi'
import { exampleRecord, held, inEnvelope, record, reply } from '../../server/http/envelopes.ts'
import { replyKeys } from '../../server/http/fields.ts'
import { preferenceFields, progress } from './fields.ts'

const preferences = exampleRecord(replyKeys(preferenceFields)).label('UserPreferences')

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
