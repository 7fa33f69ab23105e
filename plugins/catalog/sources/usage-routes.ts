import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, inCompany, routesOf } from '../../../server/http/access.ts'
import { held, inData, record, reply } from '../../../server/http/envelopes.ts'
import { queryInteger } from '../../../server/http/page.ts'
import { SOURCE_ID } from '../assets/asset-replies.ts'
import * as schemas from '../schemas.ts'
import { findSource } from './routes.ts'
import { USAGE_DAYS, readUsage, type UsageDays } from './usage.ts'

const route = routesOf('assets')

const { id, count } = held

const DAY_MS = 86_400_000

/** A day as it is written in a query. */
const day = (description: string) =>
  Joi.string()
    .pattern(/^\d{4}-\d{2}-\d{2}$/)
    .custom((text: string, helpers) => {
      const at = new Date(`${text}T00:00:00Z`)
      const isDay = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
      return isDay ? text : helpers.error('day.wrong')
    })
    .messages({
      'string.pattern.base': '{{#label}} must be a day such as 2026-03-09',
      'day.wrong': '{{#label}} must be a day such as 2026-03-09',
    })
    .meta({ openapi: { format: 'date' } })
    .description(description)
    .example('2026-03-09')

const query = Joi.object<UsageDays>({
  days: queryInteger(1, USAGE_DAYS).description('The number of days until today; defaults to 30.'),
  from: day('The first day, UTC; in place of days.'),
  to: day('The last day, UTC; defaults to today.'),
})
  .custom(({ days, from, to }: { days?: number; from?: string; to?: string }, helpers) => {
    if (from === undefined)
      return to === undefined ? { days: days ?? 30 } : helpers.error('usage.from', { field: 'to' })
    if (days !== undefined) return helpers.error('usage.days', { field: 'days' })
    const last = to ?? new Date().toISOString().slice(0, 10)
    const length = (Date.parse(last) - Date.parse(from)) / DAY_MS + 1
    if (length < 1) return helpers.error('usage.order', { field: 'from' })
    return length > USAGE_DAYS ? helpers.error('usage.length', { field: 'from' }) : { from, to: last }
  })
  .messages({
    'usage.from': 'to needs from beside it',
    'usage.days': 'days and from cannot be given together',
    'usage.order': 'from must not lie after to, or after today',
    'usage.length': `from and to may lie ${USAGE_DAYS} days apart at most`,
  })

const useFields = {
  sessions: count.description('Sessions opened, or tried to.'),
  statements: count.description('Statements sent, those of the catalog and of settings included.'),
  failures: count.description('Sessions that could not be opened, and statements that failed.'),
  rows: count.description('Rows received.'),
  bytes: count.description('Bytes received; 0 where the engine does not report them.'),
  seconds: Joi.number().min(0).description('From when each statement was sent until it had ended, added up.'),
}
const use = record(useFields).label('SourceUse')

const SCAN = { sessions: 48, statements: 96, failures: 0, rows: 96, bytes: 41_280, seconds: 7.31 }
const NONE = { sessions: 0, statements: 0, failures: 0, rows: 0, bytes: 0, seconds: 0 }

const usage = record(
  {
    asset_id: id,
    from: Joi.string().description('The first day, UTC.'),
    to: Joi.string().description('The last day, UTC.'),
    total: use,
    by_purpose: record({
      scan: use.description('Rules, metrics, referential checks and comparisons.'),
      freshness: use,
      discovery: use,
      profile: use.description('Profiles of tables.'),
      test: use.description('Connection tests.'),
      dry_run: use.description('What is tried out before it is stored, the past of a new check included.'),
    }),
    days: Joi.array()
      .items(record({ day: Joi.string().description('YYYY-MM-DD, UTC.'), ...useFields }))
      .description('The oldest first, those without use included.'),
  },
  {
    asset_id: SOURCE_ID,
    from: '2026-03-08',
    to: '2026-03-09',
    total: SCAN,
    by_purpose: { scan: SCAN, freshness: NONE, discovery: NONE, profile: NONE, test: NONE, dry_run: NONE },
    days: [
      { day: '2026-03-08', ...NONE },
      { day: '2026-03-09', ...SCAN },
    ],
  },
).label('SourceUsage')

/** What a source was asked for, and what it cost it. */
export const usageRoutes: ServerRoute[] = [
  route('GET', '/api/v1/sdk/assets/{asset_id}/usage', access.read, {
    description: 'What a source was used for, by day',
    notes:
      'Statements, seconds and rows that Tidemark spent on the source, by purpose. Use it to see what monitoring costs.',
    validate: { params: schemas.assetParams, query },
    response: reply(inData(usage).description('Totals, and the use of each day by purpose')),
    handler: request =>
      inCompany(request, async trx => {
        const source = await findSource(trx, request)
        const used = await readUsage(trx, source, request.query)
        return { data: { asset_id: source.id, ...used } }
      }),
  }),
]
