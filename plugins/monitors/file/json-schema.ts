/**
 * The JSON Schema of a monitors file, for editors. It is written by hand, since the command line prints it without a
 * server, which adds the kinds of extensions; `test/plugins/monitors/json-schema.test.ts` holds its fields to the bodies of the API. A check type of an extension is
 * allowed, hence types are not limited to the ones that are named here.
 */

type Json = Record<string, unknown>

const text = (description: string, more: Json = {}): Json => ({ type: 'string', description, ...more })
const choice = (description: string, ...values: string[]): Json => ({ enum: values, description })
/** Names that an editor completes, and any other. */
const open = (description: string, values: readonly string[]): Json => ({
  anyOf: [{ enum: values }, { type: 'string' }],
  description,
})

export const KEY_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'

const key = text(
  'The name of the check in this file, which stays the same when the check changes. Unique among the files of a source.',
  { pattern: KEY_PATTERN },
)
const active: Json = {
  type: 'boolean',
  default: true,
  description: 'false pauses the check and keeps its history.',
}
const interval: Json = { ...choice('How often it runs.', 'hourly', 'daily', 'weekly'), default: 'daily' }
const name = text('Defaults to a name made of the type, the table and the column.', {
  minLength: 1,
  maxLength: 200,
})
const severity: Json = {
  ...choice('The severity of its alerts.', 'info', 'warning', 'critical'),
  default: 'warning',
}
const description: Json = { type: ['string', 'null'], maxLength: 2_000, description: 'Notes for people.' }
const column = (what: string) => text(what, { minLength: 1, maxLength: 300 })
const count = (what: string): Json => ({ type: ['integer', 'null'], minimum: 0, description: what })

const validity: Json = {
  key,
  rule_type: open('The rule.', ['NOT_NULL', 'UNIQUE', 'REGEX', 'RANGE', 'ENUM', 'DATE_FORMAT', 'CUSTOM_SQL']),
  column_name: column('The column; of all types but CUSTOM_SQL.'),
  rule_config: { type: ['object', 'null'], description: 'What the rule type asks for.' },
  name,
  description,
  severity,
  is_active: active,
  check_interval: interval,
  alert_threshold_percent: {
    type: ['number', 'null'],
    minimum: 0,
    maximum: 100,
    description: 'Manual mode: the rule fails above this percentage of invalid rows; defaults to 0.',
  },
  treat_null_as_valid: {
    type: 'boolean',
    default: false,
    description: 'Ignores rows with NULL, except for NOT_NULL.',
  },
  detection_mode: {
    ...choice('manual: fails above the threshold; auto: fails outside a learned range.', 'manual', 'auto'),
    default: 'manual',
  },
  sensitivity: {
    type: 'integer',
    minimum: 1,
    maximum: 4,
    default: 2,
    description: 'Auto mode: width of the range in standard deviations; 1 alerts most often.',
  },
  operating_period_mode: {
    ...choice(
      'Learns active and quiet hours apart: by an operating schedule, or detected.',
      'off',
      'schedule',
      'auto',
    ),
    default: 'off',
  },
  operating_schedule_id: text('The operating schedule of mode schedule.', { maxLength: 100 }),
  error_message: {
    type: ['string', 'null'],
    maxLength: 1_000,
    description: 'The title of alerts, in place of the default.',
  },
}

const metric: Json = {
  key,
  metric_type: open('The number that is measured.', [
    'row_count',
    'null_percent',
    'distinct_count',
    'duplicate_count',
    'min_value',
    'max_value',
    'mean',
    'percentile',
  ]),
  column_name: column('The column; of all types but row_count.'),
  group_by_columns: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 300 },
    maxItems: 3,
    uniqueItems: true,
    description: 'Measures each group of these columns separately.',
  },
  capture_interval: interval,
  sensitivity: {
    type: 'number',
    minimum: 0.1,
    maximum: 10,
    default: 1,
    description: 'The z-score beyond which a value is an anomaly.',
  },
  percentile_value: {
    type: 'number',
    minimum: 0,
    maximum: 100,
    description: 'Of percentile: from 0 to 100.',
  },
  is_active: active,
}

const referential: Json = {
  key,
  child_column_name: column('The column of this table.'),
  parent_table_path: text('The table that must have the values, as tables are named in this file.', {
    minLength: 1,
    maxLength: 1_000,
  }),
  parent_column_name: column('The column that must have the values.'),
  name,
  description,
  severity,
  is_active: active,
  capture_interval: interval,
  max_orphan_count: count('Orphans that are allowed; 0 when no limit is given.'),
  max_orphan_percent: {
    type: ['number', 'null'],
    minimum: 0,
    maximum: 100,
    description: 'Percent of the children that are not NULL.',
  },
  min_child_count: count('Children that every parent must have.'),
  max_child_count: count('Children that a parent may have.'),
}

const duration = (what: string): Json => text(what, { pattern: '^[0-9]{1,6}[mhdw]$', examples: ['24h'] })

const freshness: Json = {
  key,
  monitoring_mode: choice(
    'Whether the threshold is learned from updates or given.',
    'auto_learn',
    'explicit',
  ),
  sla_threshold: duration('Maximum age of the newest data, such as 24h.'),
  expected_interval_hours: { type: 'number', exclusiveMinimum: 0, description: 'The same in hours.' },
  freshness_column: {
    type: ['string', 'null'],
    maxLength: 255,
    description: 'The column with the time a row was written; detected if omitted.',
  },
  freshness_expression: text('A SQL expression over the columns of a row, instead of a column.', {
    maxLength: 1_000,
  }),
  freshness_signal: choice(
    'Where freshness is read from; implied by freshness_column and freshness_expression.',
    'column',
    'expression',
    'last_modified',
  ),
  check_interval: duration('How often the table is checked, such as 1h, from 5m to 1w.'),
  is_active: active,
}

const entry = (properties: Json, required: string[], hasMore = false): Json => ({
  type: 'object',
  properties,
  required: ['key', ...required],
  additionalProperties: hasMore,
})

/** What a rule type asks for in `rule_config`. */
const ruleConfig = (type: string, properties: Json, more: Json): Json => ({
  if: { properties: { rule_type: { const: type } }, required: ['rule_type'] },
  then: {
    required: ['rule_config'],
    properties: { rule_config: { type: 'object', properties, additionalProperties: false, ...more } },
  },
})

const bound: Json = {
  type: ['number', 'string'],
  description: 'A number, or a date or time as text; numbers beyond 2^53 as text.',
}

const validityEntry: Json = {
  ...entry(validity, ['rule_type']),
  allOf: [
    ruleConfig(
      'ENUM',
      {
        allowed_values: {
          type: 'array',
          minItems: 1,
          maxItems: 1_000,
          items: { type: ['string', 'number', 'boolean'], maxLength: 1_000 },
        },
      },
      { required: ['allowed_values'] },
    ),
    ruleConfig(
      'RANGE',
      { min: bound, max: bound },
      { anyOf: [{ required: ['min'] }, { required: ['max'] }] },
    ),
    ruleConfig(
      'REGEX',
      { pattern: text('A regular expression of the engine.', { minLength: 1, maxLength: 1_000 }) },
      { required: ['pattern'] },
    ),
    ruleConfig(
      'DATE_FORMAT',
      { format: text('Such as YYYY-MM-DD.', { minLength: 1, maxLength: 100 }) },
      { required: ['format'] },
    ),
    ruleConfig(
      'CUSTOM_SQL',
      {
        sql_expression: text('True for a valid row; or one SELECT that counts.', {
          minLength: 1,
          maxLength: 10_000,
        }),
        expected: text('What the number of such a SELECT must be, in words: at most 10 %.', {
          maxLength: 200,
        }),
        value_column: text('The column of the SELECT with the number; it is shown if it counts rows.', {
          maxLength: 63,
          pattern: '^[a-z_][a-z0-9_]*$',
        }),
        value_unit: text('The unit of the number.', { maxLength: 50 }),
      },
      { required: ['sql_expression'] },
    ),
  ],
}

const list = (items: Json, what: string, more: Json = {}): Json => ({
  type: 'array',
  items,
  description: what,
  ...more,
})

export type EntryFields = Record<
  string,
  { fields: readonly string[]; required: readonly string[]; hasMore: boolean } | undefined
>

/** The fields of the entries of each kind, and those that each entry needs. */
export const ENTRY_FIELDS = {
  validity: { fields: Object.keys(validity), required: ['rule_type'], hasMore: false },
  // Metric types of extensions have fields of their own.
  metric: { fields: Object.keys(metric), required: ['metric_type'], hasMore: true },
  referential: {
    fields: Object.keys(referential),
    required: ['child_column_name', 'parent_table_path', 'parent_column_name'],
    hasMore: false,
  },
  freshness: { fields: Object.keys(freshness), required: [] as string[], hasMore: false },
} as const

/** The lists of checks of a table, by kind. */
const KINDS = {
  validity: list(validityEntry, 'Rules for values.'),
  metric: list(
    entry(metric, [...ENTRY_FIELDS.metric.required], true),
    'Numbers that are measured again and again, and judged against their history.',
  ),
  referential: list(
    entry(referential, [...ENTRY_FIELDS.referential.required]),
    'Checks that the values of a column of this table occur in another table.',
  ),
  freshness: list(entry(freshness, []), 'How old the newest rows may be. A table has one schedule.', {
    maxItems: 1,
  }),
} satisfies Record<string, Json>

/** @param kinds those of a server; it judges the fields of those that extensions add */
export const monitorsSchema = (kinds: readonly string[] = []) => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Tidemark monitors',
  description: 'The checks of the tables of a source.',
  type: 'object',
  required: ['version', 'source', 'tables'],
  additionalProperties: false,
  properties: {
    version: { const: 1, description: 'The version of this format.' },
    source: text('The name of the source in Tidemark.', { minLength: 1, maxLength: 1_000 }),
    tables: {
      type: 'object',
      description: 'The tables by path: catalog.schema.table, or less where that is clear.',
      additionalProperties: {
        type: 'object',
        required: ['checks'],
        additionalProperties: false,
        properties: {
          checks: {
            type: 'object',
            additionalProperties: false,
            properties: {
              ...Object.fromEntries(
                kinds.map(kind => [kind, list(entry({ key }, [], true), 'Checks of an extension.')]),
              ),
              ...KINDS,
            },
          },
        },
      },
    },
  },
})

export const MONITORS_SCHEMA = monitorsSchema()
