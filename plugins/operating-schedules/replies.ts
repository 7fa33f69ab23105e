import { hoursFields } from '../../server/http/check-schemas.ts'
import { exampleRecord, held, inPage, removal, reply } from '../../server/http/envelopes.ts'

const { id, text, time } = held

const schedule = exampleRecord({
  id: id.example('0196f2f0-4455-7667-8899-aabbccddeeff'),
  name: text.example('Office hours'),
  ...hoursFields,
  created_at: time.example('2026-03-09T08:20:00.000Z'),
  updated_at: time.example('2026-03-09T08:20:00.000Z'),
}).label('OperatingSchedule')

export const replies = {
  schedules: reply(inPage(schedule)),
  made: reply(schedule, 201),
  schedule: reply(schedule),
  removed: reply(removal('Operating schedule Office hours was removed')),
}
