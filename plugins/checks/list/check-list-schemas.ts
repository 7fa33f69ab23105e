import Joi from 'joi'
import { managedBy } from '../../../server/http/check-owner.ts'
import { windowFields } from '../../../server/http/check-schemas.ts'
import { exampleRecord, held, inItems, record, reply } from '../../../server/http/envelopes.ts'
import { pageQuery, type Page, queryBoolean, queryInteger, queryWords } from '../../../server/http/page.ts'

const { id, text, time, number, flag } = held

const LIST_STATUSES = ['passing', 'warning', 'failing', 'error', 'learning', 'pending'] as const
/** How a check, or one result of it, did, in one vocabulary for all kinds. */
export type ListStatus = (typeof LIST_STATUSES)[number]

const CHECK_SORTS = ['created_at', 'status', 'name', 'table', 'kind', 'interval', 'last_checked_at'] as const
export type CheckSort = (typeof CHECK_SORTS)[number]
const CHECK_ORDERS = ['asc', 'desc'] as const
export type CheckOrder = (typeof CHECK_ORDERS)[number]

const MAX_POINTS = 100
const DEFAULT_POINTS = 30

export const checkListParams = Joi.object({
  asset_id: Joi.string()
    .max(1_000)
    .required()
    .description('The id or qualified name of a source or a table.'),
})

export interface CheckListQuery extends Page {
  points: number
  kind?: string
  status?: ListStatus[]
  is_active?: boolean
  search?: string
  sort: CheckSort
  order: CheckOrder
}

/** @param kinds the kinds of checks, known once the server is built */
export const checkListQuery = (kinds: () => string[]) =>
  Joi.object<CheckListQuery>({
    points: queryInteger(0, MAX_POINTS)
      .default(DEFAULT_POINTS)
      .description('The last results that each check comes with.'),
    kind: Joi.string()
      .max(100)
      .custom((value: string, helpers) =>
        kinds().includes(value) ? value : helpers.error('any.only', { valids: kinds() }),
      )
      .meta({ openapi: { 'x-words': 'check_kind' } })
      .description('Only checks of this kind: validity, metric or referential.'),
    status: queryWords(LIST_STATUSES).description('Only checks of these statuses, separated by commas.'),
    is_active: queryBoolean,
    search: Joi.string()
      .trim()
      .min(1)
      .max(200)
      .description(
        'A part of the name, type or its label, column, table or source of the check, in any case. With dots it names a schema and a table, such as `sales.orders`.',
      ),
    sort: Joi.string()
      .valid(...CHECK_SORTS)
      .default('created_at')
      .description(
        'By age, by status (failing, error, warning, learning, pending, passing), or by what a check has, where the newest come first of equal ones.',
      ),
    order: Joi.string()
      .valid(...CHECK_ORDERS)
      .default('desc')
      .description('desc lists the newest, those that need attention, or the last by name, first.'),
    ...pageQuery(),
  })

const status = Joi.valid(...LIST_STATUSES)

const point = record({
  at: time,
  value: number.allow(null).description('Null when it could not be measured.'),
  status,
  low: number.allow(null),
  high: number.allow(null),
})

const check = exampleRecord({
  kind: Joi.string().description('validity, metric or referential.').example('validity'),
  id: Joi.string()
    .description('The id that the endpoints of the kind take.')
    .example('v_5b2f9a0e-3c4d-4e5f-8a6b-7c8d9e0f1a2b'),
  asset_id: id.description('The table.').example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  qualified_name: text.example('shop.shop.public.orders'),
  table_path: Joi.string().description('`catalog.schema.table`.').example('shop.public.orders'),
  name: text.description('As alerts call it.').example('ENUM orders.status'),
  title: text.description('As people say it.').example('Allowed values on orders.status'),
  column_name: text.allow(null).example('status'),
  type: Joi.string().description('The type of the rule or metric, or referential.').example('ENUM'),
  severity: Joi.valid('info', 'warning', 'critical')
    .allow(null)
    .description('Null of a metric without one: its severity follows from each value.')
    .example('critical'),
  is_active: flag.example(true),
  interval: Joi.valid('hourly', 'daily', 'weekly').example('daily'),
  status: status
    .description(
      'How it did last: warning is close to the edge of its range, learning passes since it knows too little to judge, pending has not run.',
    )
    .example('failing'),
  last_checked_at: time.allow(null).example('2026-03-09T08:10:05.000Z'),
  open_alert_id: id.allow(null).description('The alert of it that is open.').example(null),
  managed_by: managedBy,
  filter: text.optional().description('The rows that it is about, of a check with a filter.'),
  time_column: windowFields.time_column.reply.optional(),
  window: windowFields.window.reply.optional(),
  window_delay: windowFields.window_delay.reply.optional(),
  revisit: windowFields.revisit.reply.optional(),
  points: Joi.array()
    .items(point)
    .max(MAX_POINTS)
    .description(
      'The last results, the oldest first. The value is the percentage of invalid rows, the value of the metric with its expected range, or the number of orphans. Empty for a metric by groups.',
    )
    .example([{ at: '2026-03-09T08:10:05.000Z', value: 0.0274, status: 'failing', low: null, high: null }]),
}).label('ListedCheck')

const kinds = Joi.array()
  .items(record({ kind: Joi.string(), label: text.description('What people call a check of it.') }))
  .description('The kinds of checks that there are, also those of extensions.')
  .example([{ kind: 'validity', label: 'Rule' }])

export const checkListReply = reply(inItems(check, { kinds }))
