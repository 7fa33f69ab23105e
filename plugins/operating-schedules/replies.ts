import Joi from 'joi'
import { hoursFields } from '../../server/http/check-schemas.ts'
import { exampleRecord, held, inData, inPage, record, removal, reply } from '../../server/http/envelopes.ts'

const { id, text, time } = held

const schedule = exampleRecord({
  id: id.example('0196f2f0-4455-7667-8899-aabbccddeeff'),
  name: text.example('Office hours'),
  ...hoursFields,
  created_at: time.example('2026-03-09T08:20:00.000Z'),
  updated_at: time.example('2026-03-09T08:20:00.000Z'),
}).label('OperatingSchedule')

const uses = exampleRecord({
  uses: Joi.array()
    .items(
      record({
        kind: Joi.string().description('rules, or a kind that an extension adds.'),
        count: held.count,
        items: Joi.array()
          .items(record({ id: Joi.string(), name: text, asset: Joi.string() }))
          .max(100)
          .description('The first 100 by the names of their tables.'),
      }),
    )
    .example([
      {
        ...{ kind: 'rules', count: 1 },
        items: [
          {
            id: 'v_0196f2e3-9a40-7c61-b2d3-e4f50617283a',
            name: 'Orders by day',
            asset: 'shop.shop.public.orders',
          },
        ],
      },
    ]),
}).label('OperatingScheduleUses')

export const replies = {
  uses: reply(inData(uses).description('What uses the schedule, by kind')),
  schedules: reply(inPage(schedule)),
  made: reply(schedule, 201),
  schedule: reply(schedule),
  removed: reply(removal('Operating schedule Office hours was removed')),
}
