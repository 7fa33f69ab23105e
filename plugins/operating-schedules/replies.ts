import Joi from 'joi'
import { exampleRecord, held, inPage, record, removal, reply } from '../../server/http/envelopes.ts'

const { id, text, time, integer } = held

const rule = record({
  days: Joi.array().items(integer.min(1).max(7)).description('The days on which it starts, 1 is Monday.'),
  start: Joi.string(),
  end: Joi.string().description('At or before the start, it is on the next day.'),
}).label('OperatingHours')

const schedule = exampleRecord({
  id: id.example('0196f2f0-4455-7667-8899-aabbccddeeff'),
  name: text.example('Office hours'),
  timezone: Joi.string().description('An IANA time zone, such as Europe/Berlin.').example('Europe/Berlin'),
  rules: Joi.array()
    .items(rule)
    .example([{ days: [1, 2, 3, 4, 5], start: '08:00', end: '18:00' }]),
  created_at: time.example('2026-03-09T08:20:00.000Z'),
  updated_at: time.example('2026-03-09T08:20:00.000Z'),
}).label('OperatingSchedule')

export const replies = {
  schedules: reply(inPage(schedule)),
  made: reply(schedule, 201),
  schedule: reply(schedule),
  removed: reply(removal('Operating schedule Office hours was removed')),
}
