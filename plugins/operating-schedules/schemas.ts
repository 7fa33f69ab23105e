import Joi from 'joi'
import { exampleRecord, held, inData, record, reply } from '../../server/http/envelopes.ts'
import {
  createKeys,
  patchKeys,
  replyKeys,
  type CreateBody,
  type PatchBody,
} from '../../server/http/fields.ts'
import { pageQuery, type Page } from '../../server/http/page.ts'
import { scheduleFields } from './fields.ts'
import type { OperatingSchedule } from './models.ts'

export type NewSchedule = CreateBody<OperatingSchedule, typeof scheduleFields>
export type SchedulePatch = PatchBody<OperatingSchedule, typeof scheduleFields>

export const newSchedule = Joi.object<NewSchedule>(createKeys(scheduleFields))
  .required()
  .example({
    name: 'Office hours',
    timezone: 'Europe/Berlin',
    rules: [{ days: [1, 2, 3, 4, 5], start: '08:00', end: '18:00' }],
  })

export const schedulePatch = Joi.object<SchedulePatch>(patchKeys(scheduleFields))
  .required()
  .example({ timezone: 'Europe/Paris' })

export const scheduleParams = Joi.object({ schedule_id: Joi.string().required() })

export const scheduleList = Joi.object<Page>(pageQuery())

export const scheduleRecord = exampleRecord(replyKeys(scheduleFields)).label('OperatingSchedule')

const uses = exampleRecord({
  uses: Joi.array()
    .items(
      record({
        kind: Joi.string().description('rules, or a kind that an extension adds.'),
        count: held.count,
        items: Joi.array()
          .items(record({ id: Joi.string(), name: held.text, asset: Joi.string() }))
          .max(100)
          .description('The first 100 by the names of their tables.'),
      }),
    )
    .example([
      {
        kind: 'rules',
        count: 1,
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

export const usesReply = reply(inData(uses).description('What uses the schedule, by kind'))
