import Joi from 'joi'
import { pageQuery, queryBoolean, queryInteger } from '../../server/http/page.ts'
import { CHECK_INTERVAL, SLA_THRESHOLD } from '../../server/settings/durations.ts'
import { SIGNALS } from './models.ts'
import { READINESS } from './readiness.ts'

const MINUTE = 60
const LONGEST_SLA = 400 * 86_400

/** One value of a list: double-quoted, or free of commas. */
const LIST_VALUE = /\s*(?:"((?:[^"]|"")+)"|([^",\s][^,]*?))\s*(,|$)/y

/** Splits values at their commas; null when one is empty, or a quote is left open. */
function splitList(text: string): string[] | null {
  const value = new RegExp(LIST_VALUE)
  const values: string[] = []
  for (;;) {
    const match = value.exec(text)
    if (!match) return null
    values.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '') return values
  }
}

/** Values separated by commas, of which any will do. */
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
      if (allowed && !values.every(value => allowed.includes(value)))
        return helpers.error('any.only', { valids: allowed })
      return [...new Set(values)]
    })
    .messages({
      'list.form':
        '{{#label}} must be values separated by commas, none of them empty; one that holds a comma or begins with a double quote is written in double quotes, with those within it doubled',
      'any.only': '{{#label}} must be one or more of {{#valids}}, separated by commas',
    })
    .description(description)

const freshnessFilters = {
  status: commaList(`What tables are asked for, separated by commas: ${READINESS.join(', ')}.`, READINESS),
  // Names of schemas are as their engines have them; those of tags are stored composed.
  schema: commaList('Schemas, separated by commas; tables of any of them are listed.'),
  tag: commaList(
    'Tags, separated by commas: of the table, of any of its columns, or of its source.',
  ).normalize('NFC'),
  search: Joi.string()
    .max(200)
    .description('A part of the name of the table, in any case; there are no wildcards.'),
}

const assetId = Joi.string().max(1_000)

export const assetParams = Joi.object({ asset_id: assetId.required() })
export const freshnessQuery = Joi.object({ ...freshnessFilters, ...pageQuery() })
export const namedAssetQuery = Joi.object({ asset: assetId.required(), ...freshnessFilters, ...pageQuery() })
export const monitoredQuery = Joi.object({ asset_id: assetId, ...freshnessFilters, ...pageQuery() })
export const detailQuery = Joi.object({ ...freshnessFilters, ...pageQuery({ fallback: 100 }) })
export const historyQuery = Joi.object({
  days_back: queryInteger(1, 365),
  ...pageQuery({ max: 1_000, fallback: 100 }),
})
export const summaryQuery = Joi.object({ asset_id: assetId })

export const scheduleParams = Joi.object({ id: Joi.string().max(100).required() })
export const schedulesQuery = Joi.object({ ...pageQuery(), asset_id: assetId, is_active: queryBoolean })

const HOURS = `{{#label}} must be from ${(MINUTE / 3600).toFixed(4)} (a minute) to ${LONGEST_SLA / 3600} (400 days)`

/** Said of two fields of which either will do. */
const EITHER = { 'object.oxor': 'Give one of {{#presentWithLabels}}, not both' }

const scheduleFields = {
  monitoring_mode: Joi.string()
    .valid('auto_learn', 'explicit')
    .description('Whether the threshold is learned of its updates, or given.'),
  sla_threshold: SLA_THRESHOLD.description('How old its newest data may be, such as 24h.'),
  expected_interval_hours: Joi.number()
    .strict()
    .min(MINUTE / 3600)
    .max(LONGEST_SLA / 3600)
    .messages({ 'number.min': HOURS, 'number.max': HOURS })
    .description('The same in hours.'),
  freshness_column: Joi.string()
    .max(255)
    .allow(null)
    .description('The column that tells when a row was written; it is looked for unless given.'),
  freshness_expression: Joi.string()
    .trim()
    .max(1_000)
    .description('A SQL expression over the columns of a row that is read in place of a column.'),
  freshness_signal: Joi.string()
    .valid(...SIGNALS)
    .description('What freshness is read from; what is named tells it, too.'),
  check_interval: CHECK_INTERVAL.description('How often it is checked, such as 1h.'),
  is_active: Joi.boolean().strict(),
}

export const newSchedule = Joi.object({
  asset_id: assetId.required(),
  table_path: Joi.string().max(1_000),
  ...scheduleFields,
  is_active: scheduleFields.is_active.default(true),
})
  .oxor('sla_threshold', 'expected_interval_hours')
  .oxor('freshness_column', 'freshness_expression')
  .messages(EITHER)
  .required()
  .example({ asset_id: 'shop.shop.public.orders', sla_threshold: '24h', check_interval: '1h' })

export const schedulePatch = Joi.object(scheduleFields)
  .min(1)
  .oxor('sla_threshold', 'expected_interval_hours')
  .oxor('freshness_column', 'freshness_expression')
  .messages(EITHER)
  .required()
  .example({ sla_threshold: '6h' })

/** Globs; what they may look like is for the catalog to say. */
const patterns = (description: string) =>
  Joi.array().items(Joi.string().max(400)).max(200).description(description)

const GLOBS = 'table, schema.table or catalog.schema.table, with * for any characters'

export const newSchedules = Joi.object({
  asset_id: assetId.required().description('A source.'),
  include_patterns: patterns(`Tables to watch, all unless given: ${GLOBS}.`),
  exclude_patterns: patterns(`Tables to leave out, even if included: ${GLOBS}.`),
  only_with_signal: Joi.boolean()
    .strict()
    .default(true)
    .description('Leaves out tables of which nothing tells when they were updated.'),
  dry_run: Joi.boolean().strict().default(false).description('Makes nothing, and tells what would be made.'),
  monitoring_mode: scheduleFields.monitoring_mode,
  sla_threshold: scheduleFields.sla_threshold,
  expected_interval_hours: scheduleFields.expected_interval_hours,
  check_interval: scheduleFields.check_interval,
  is_active: scheduleFields.is_active.default(true),
})
  .oxor('sla_threshold', 'expected_interval_hours')
  .messages(EITHER)
  .required()
  .example({ asset_id: 'shop', include_patterns: ['public.*'], monitoring_mode: 'auto_learn' })
