import Joi from 'joi'
import { held, inPage, record, removal, reply } from '../../server/http/envelopes.ts'

const { id, text, time, integer } = held

const rule = record({
  days: Joi.array().items(integer.min(1).max(7)).description('The days on which it starts, 1 is Monday.'),
  start: Joi.string(),
  end: Joi.string().description('At or before the start, it is on the next day.'),
})

const schedule = record(
  {
    id,
    name: text,
    timezone: Joi.string().description('An IANA time zone, such as Europe/Berlin.'),
    rules: Joi.array().items(rule),
    created_at: time,
    updated_at: time,
  },
  {
    id: '0196f2f0-4455-7667-8899-aabbccddeeff',
    name: 'Office hours',
    timezone: 'Europe/Berlin',
    rules: [{ days: [1, 2, 3, 4, 5], start: '08:00', end: '18:00' }],
    created_at: '2026-03-09T08:20:00.000Z',
    updated_at: '2026-03-09T08:20:00.000Z',
  },
).label('OperatingSchedule')

/** Replies about operating schedules, for the `response` of a route. */
export const replies = {
  schedules: reply(inPage(schedule)),
  made: reply(schedule, 201),
  schedule: reply(schedule),
  removed: reply(removal('Operating schedule Office hours was removed')),
}
