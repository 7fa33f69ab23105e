import Joi from 'joi'
import { pageQuery, queryBoolean, queryInteger, type Page } from '../../server/http/page.ts'
import { CHECK_INTERVAL, SLA_THRESHOLD } from '../../server/settings/durations.ts'
import { TIMEZONE } from '../../server/settings/timezones.ts'
import type { FreshnessDryRun } from './dry-run.ts'
import type { FreshnessFilters } from './lists.ts'
import { SIGNALS } from './models.ts'
import { STATUS_FILTERS } from './readiness.ts'
import type { BulkScheduleRequest } from './schedules/bulk.ts'
import type { ListedScheduleRequest } from './schedules/listed.ts'
import type { ScheduleFields, ScheduleRequest } from './schedules/schedules.ts'

const MINUTE_SECONDS = 60
const MAX_SLA_SECONDS = 400 * 86_400

/** Splits values at commas, of which some may be in double quotes; null if one is empty or a quote is not closed. */
function splitList(text: string): string[] | null {
  const values: string[] = []
  for (let rest = text.trim(); ;) {
    const [value, after] = rest.startsWith('"') ? takeQuoted(rest) : takeBare(rest)
    if (value === '') return null
    values.push(value)
    if (after === '') return values
    if (!after.startsWith(',')) return null
    rest = after.slice(1).trimStart()
  }
}

/** The value in quotes that a text begins with, and what follows; an empty value where the quote is not closed. */
function takeQuoted(text: string): [value: string, after: string] {
  for (let at = 1; ;) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return ['', '']
    if (text[quote + 1] !== '"')
      return [text.slice(1, quote).replaceAll('""', '"'), text.slice(quote + 1).trimStart()]
    at = quote + 2
  }
}

function takeBare(text: string): [value: string, after: string] {
  const comma = text.indexOf(',')
  const end = comma === -1 ? text.length : comma
  return [text.slice(0, end).trimEnd(), text.slice(end)]
}

/** Comma-separated values, any of which may match. */
const commaList = (description: string, allowed?: readonly string[]) =>
  Joi.string()
    .max(1_000)
    .meta({
      openapi: {
        type: 'array',
        items: { type: 'string', ...(allowed ? { enum: [...allowed] } : { minLength: 1, maxLength: 1_000 }) },
        minItems: 1,
      },
    })
    .custom((text: string, helpers) => {
      const values = splitList(text)
      if (!values) return helpers.error('list.form')
      const unknown = allowed && values.find(value => !allowed.includes(value))
      if (unknown !== undefined) return helpers.error('any.only', { valids: allowed, unknown })
      return [...new Set(values)]
    })
    .messages({
      'list.form':
        '{{#label}} must be comma-separated values, none of them empty; put a value with a comma or a leading double quote in double quotes, and double the quotes in it',
    })
    .description(description)

const freshnessFilters = {
  status: commaList(
    `Comma-separated states: ${STATUS_FILTERS.join(', ')}. fresh is ready, stale is not_ready, and disabled is a paused schedule or source.`,
    STATUS_FILTERS,
  ),
  // Schema names are compared as the engine returns them; tags are stored in NFC.
  schema: commaList('Comma-separated schemas.'),
  tag: commaList('Comma-separated tags of the table, of any of its columns, or of its source.').normalize(
    'NFC',
  ),
  search: Joi.string().max(200).description('Part of the table name, ignoring case; no wildcards.'),
}

const assetId = Joi.string().max(1_000)

export const assetParams = Joi.object({ asset_id: assetId.required() })
export const freshnessQuery = Joi.object<FreshnessFilters & Page>({ ...freshnessFilters, ...pageQuery() })
export const namedAssetQuery = Joi.object<FreshnessFilters & Page & { asset: string }>({
  asset: assetId.required(),
  ...freshnessFilters,
  ...pageQuery(),
})
export const monitoredQuery = Joi.object<FreshnessFilters & Page & { asset_id?: string }>({
  asset_id: assetId,
  ...freshnessFilters,
  ...pageQuery(),
})
export const detailQuery = Joi.object<FreshnessFilters & Page & { clock_timezone?: string }>({
  ...freshnessFilters,
  clock_timezone: TIMEZONE.description(
    'Adds `update_clock`, the hours of the week in which updates of a table arrived, in this time zone.',
  ),
  ...pageQuery({ fallback: 100 }),
})
export const historyQuery = Joi.object<Page & { days_back?: number }>({
  days_back: queryInteger(1, 365),
  ...pageQuery({ max: 1_000, fallback: 100 }),
})
export const summaryQuery = Joi.object<{ asset_id?: string }>({ asset_id: assetId })

export const scheduleParams = Joi.object({ id: Joi.string().max(100).required() })
export interface SchedulesQuery extends Page {
  asset_id?: string
  is_active?: boolean
  active_only?: boolean
}

export const schedulesQuery = Joi.object<SchedulesQuery>({
  ...pageQuery(),
  asset_id: assetId,
  is_active: queryBoolean,
  active_only: queryBoolean.description('true is the same as is_active=true; false does not filter.'),
})

const HOURS_MESSAGE = `{{#label}} must be from ${(MINUTE_SECONDS / 3600).toFixed(4)} (a minute) to ${MAX_SLA_SECONDS / 3600} (400 days)`

const scheduleFields = {
  monitoring_mode: Joi.string()
    .valid('auto_learn', 'explicit')
    .description('Whether the threshold is learned from updates or given.'),
  sla_threshold: SLA_THRESHOLD.description('Maximum age of the newest data, such as 24h.'),
  expected_interval_hours: Joi.number()
    .strict()
    .min(MINUTE_SECONDS / 3600)
    .max(MAX_SLA_SECONDS / 3600)
    .messages({ 'number.min': HOURS_MESSAGE, 'number.max': HOURS_MESSAGE })
    .description('The same in hours.'),
  freshness_column: Joi.string()
    .max(255)
    .allow(null)
    .description('The column with the time a row was written; detected if omitted.'),
  freshness_expression: Joi.string()
    .trim()
    .max(1_000)
    .description('A SQL expression over the columns of a row, instead of a column.'),
  freshness_signal: Joi.string()
    .valid(...SIGNALS)
    .description('Where freshness is read from; implied by freshness_column and freshness_expression.'),
  check_interval: CHECK_INTERVAL.description('How often the table is checked, such as 1h.'),
  is_active: Joi.boolean().strict(),
}

/** A body of these fields, of which two say the same. */
const scheduleBody = <Body>(fields: Joi.SchemaMap) =>
  Joi.object<Body>(fields)
    .oxor('sla_threshold', 'expected_interval_hours')
    .oxor('freshness_column', 'freshness_expression')
    .required()

const isActiveByDefault = scheduleFields.is_active.default(true)

export const newSchedule = scheduleBody<ScheduleRequest>({
  asset_id: assetId.required(),
  table_path: Joi.string().max(1_000),
  ...scheduleFields,
  is_active: isActiveByDefault,
}).example({ asset_id: 'shop.shop.public.orders', sla_threshold: '24h', check_interval: '1h' })

/** A schedule of a declaration: the body of a new one without its table. */
export const declaredSchedule = scheduleBody({ ...scheduleFields, is_active: isActiveByDefault })

export const schedulePatch = scheduleBody<ScheduleFields>(scheduleFields)
  .min(1)
  .example({ sla_threshold: '6h' })

/** Patterns; the catalog validates their form. */
const patterns = (description: string) =>
  Joi.array().items(Joi.string().max(400)).max(200).description(description)

const PATTERN_FORMS = 'table, schema.table or catalog.schema.table, with * for any characters'

/** Fields of a schedule among many, and those that all of them may share. */
const { freshness_expression: _expression, freshness_signal: _signal, ...listedFields } = scheduleFields
const { freshness_column: _column, ...sharedFields } = listedFields

const MAX_LISTED_SCHEDULES = 100

const UNLESS_LISTED = ['include_patterns', 'exclude_patterns', 'only_with_signal', 'dry_run'] as const

/** A field that only makes sense where patterns choose the tables. */
const unlessListed = (schema: Joi.Schema) =>
  schema.when('schedules', { is: Joi.exist(), then: Joi.forbidden() })

const listedSchedule = Joi.object({
  table_path: Joi.string().max(1_000).required(),
  ...listedFields,
}).oxor('sla_threshold', 'expected_interval_hours')

export const newSchedules = Joi.object<BulkScheduleRequest | ListedScheduleRequest>({
  asset_id: assetId.required().description('A source.'),
  schedules: Joi.array()
    .items(listedSchedule)
    .min(1)
    .max(MAX_LISTED_SCHEDULES)
    .description(
      'Tables by path, each with its own fields, instead of patterns. Fields beside the list apply where a table sets none.',
    ),
  include_patterns: unlessListed(patterns(`Tables to include, default all: ${PATTERN_FORMS}.`)),
  exclude_patterns: unlessListed(patterns(`Tables to exclude, even if included: ${PATTERN_FORMS}.`)),
  only_with_signal: unlessListed(
    Joi.boolean().strict().default(true).description('Skips tables without a signal.'),
  ),
  dry_run: unlessListed(
    Joi.boolean().strict().default(false).description('Creates nothing, and returns what would be created.'),
  ),
  ...sharedFields,
  is_active: isActiveByDefault,
})
  .oxor('sla_threshold', 'expected_interval_hours')
  .meta({ openapi: { allOf: UNLESS_LISTED.map(name => ({ not: { required: ['schedules', name] } })) } })
  .required()
  .example({ asset_id: 'shop', include_patterns: ['public.*'], monitoring_mode: 'auto_learn' })

export const dryRun = Joi.object<FreshnessDryRun>({
  asset_id: assetId.required(),
  table_path: Joi.string().max(1_000).description('Needed unless the asset is a table.'),
  expected_interval_hours: scheduleFields.expected_interval_hours
    .required()
    .description('The threshold to try, in hours.'),
  lookback_days: Joi.number()
    .strict()
    .integer()
    .min(1)
    .max(365)
    .default(7)
    .description('Days of stored checks to judge by the threshold.'),
})
  .required()
  .example({ asset_id: 'shop.shop.public.orders', expected_interval_hours: 6, lookback_days: 30 })
