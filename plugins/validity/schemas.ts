import Joi from 'joi'
import { createKeys, patchKeys } from '../../server/http/fields.ts'
import {
  columnName,
  columnNames,
  dryRunKeys,
  pastDays,
  tablePath,
  typeFilter,
} from '../../server/http/check-schemas.ts'
import { pageQuery, queryBoolean } from '../../server/http/page.ts'
import { ruleFields } from './fields.ts'

export const ruleId = Joi.string().max(100).required()

export const newRule = Joi.object({
  rule_type: Joi.string()
    .required()
    .meta({ openapi: { 'x-words': 'rule_type' } })
    .description('NOT_NULL, UNIQUE, REGEX, RANGE, ENUM, DATE_FORMAT, CUSTOM_SQL, or one of an extension.'),
  table_path: tablePath.description('`catalog.schema.table`.'),
  column_name: columnName.description('Of all types but CUSTOM_SQL.'),
  rule_config: Joi.object()
    .unknown()
    .allow(null)
    .meta({ openapi: { 'x-choices': 'rule_config' } })
    .description('What `rule_type` asks for. Integers beyond 2^53 are given as text.'),
  ...createKeys(ruleFields),
  backfill_days: pastDays.description(
    'Auto mode: learns this many days of the past at once, computed from the timestamps of the table.',
  ),
})
  .required()
  .example({
    rule_type: 'ENUM',
    table_path: 'public.orders',
    column_name: 'status',
    rule_config: { allowed_values: ['new', 'paid', 'shipped', 'delivered', 'cancelled'] },
    name: 'Known statuses',
    severity: 'critical',
  })

/** A rule of a declaration: the body of a new one without its table and its past, and whether it is active. */
export const declaredRule = newRule.keys({
  table_path: Joi.forbidden(),
  backfill_days: Joi.forbidden(),
  is_active: ruleFields.is_active.body.default(true),
})

/** The body of a new rule for each of several columns, which are named after them. */
export const newRules = newRule
  .keys({ column_name: Joi.forbidden(), name: Joi.forbidden(), column_names: columnNames })
  .example(
    { rule_type: 'NOT_NULL', table_path: 'public.customers', column_names: ['email', 'phone'] },
    { override: true },
  )

/** The body of a new rule, and how far back to look. */
export const dryRun = newRule.keys(dryRunKeys).example(
  {
    asset_id: 'shop',
    rule_type: 'NOT_NULL',
    table_path: 'public.customers',
    column_name: 'email',
    detection_mode: 'auto',
  },
  { override: true },
)

export const rulePatch = Joi.object(patchKeys(ruleFields))
  .required()
  .example({ severity: 'warning', is_active: false })

/** @param types the names of the rule types, known once the server is built */
export const ruleList = (types: () => string[]) =>
  Joi.object({
    rule_type: typeFilter('rule_type', types).description('Only rules of this type.'),
    is_active: queryBoolean,
    ...pageQuery(),
  })

export const checkBody = Joi.object({
  sample_limit: Joi.number()
    .strict()
    .integer()
    .min(0)
    .max(100)
    .default(10)
    .description('Invalid rows that the reply shows.'),
  whole_rows: Joi.boolean()
    .strict()
    .default(false)
    .description('Whether it shows all columns of them, which the engine then reads.'),
})
  .allow(null)
  .example({ sample_limit: 10 })
  .default({ sample_limit: 10 })
