/** What rules, metrics and referential checks have in common in bodies and replies. */
import Joi from 'joi'
import type { Schedule } from '../../checks/detector.ts'
import { exampleRecord, held, record, withoutExamples } from './envelopes.ts'

/** Fields of checks, less their examples; see `Fields`. */
export const shared = {
  name: { column: 'name', body: Joi.string().trim().min(1).max(200), patch: true, reply: held.text },
  description: {
    column: 'description',
    body: Joi.string().allow('', null).max(2_000),
    patch: true,
    reply: held.text.allow(null),
    example: null,
  },
  severity: {
    column: 'severity',
    body: Joi.string().valid('info', 'warning', 'critical'),
    default: 'warning',
    patch: true,
  },
  isActive: { column: 'isActive', body: Joi.boolean().strict(), patch: true, example: true },
  filter: {
    column: 'filter',
    body: Joi.string()
      .trim()
      .min(1)
      .max(2_000)
      .allow(null)
      .description(
        "A boolean expression in the SQL of the source, such as `country = 'DE'`: the check is about the rows for which it is true.",
      ),
    default: null,
    reply: held.text.allow(null).description('The rows that it is about; null of all rows.'),
    example: null,
  },
  interval: {
    column: 'checkInterval',
    body: Joi.string().valid('hourly', 'daily', 'weekly'),
    default: 'daily',
    patch: true,
    example: 'daily',
  },
  direction: {
    column: 'direction',
    body: Joi.string().valid('both', 'rise', 'drop'),
    patch: true,
    example: 'both',
  },
  consecutive: {
    column: 'consecutive',
    body: Joi.number()
      .strict()
      .integer()
      .min(1)
      .max(10)
      .description('How many runs in a row must fail before an alert. Each of them has the status FAIL.'),
    default: 1,
    patch: true,
    example: 1,
  },
  failingRuns: {
    column: 'failingRuns',
    reply: held.count.description('How many runs in a row have failed so far; 0 when the last one passed.'),
    example: 0,
  },
} as const

/** In the record of a result. */
export const failingRunReply = held.count
  .allow(null)
  .description('Which failing run in a row it is, where the check alerts after several; null elsewhere.')
  .example(null)

/** The values of a window, as checks and tables state one. */
export const windowValues = {
  time_column: Joi.string().min(1).max(300),
  window: Joi.string().max(4),
  window_delay: Joi.string().pattern(/^(\d{1,3})[hd]$/, 'hours or days, such as 6h or 2d'),
}

/** The window that new checks of a table have. */
export interface TableWindow {
  time_column: string
  window: string
  window_delay: string | null
}

/** The default window of a table in bodies and in files. */
export const tableWindowBody = Joi.object<TableWindow>({
  time_column: windowValues.time_column.required().description('The column with the time of a row.'),
  window: windowValues.window.required().description('How much time a bucket has, such as `1d`.'),
  window_delay: windowValues.window_delay
    .allow(null)
    .default(null)
    .description('How long data of a bucket may still arrive, such as `6h`.'),
})
  .label('TableWindow')
  .example({ time_column: 'created_at', window: '1d', window_delay: '2h' })

/** What scans read of the parts of a table, in replies. */
export const partsReply = record({
  total: held.count.description('Parts that the table has.'),
  read: held.count.description('Parts that were read, because they had changed or not been read yet.'),
  rows_read: held.count.description('Rows of these parts.'),
  rows_known: held.count.description('Rows of the other parts, whose numbers were known.'),
})
  .label('PartsUse')
  .allow(null)
  .description(
    'What was read of the parts of the table, where those that did not change are not read again; null where it was read whole.',
  )
  .example({ total: 60, read: 1, rows_read: 500_000, rows_known: 29_500_000 })

/**
 * The fields of a check that is about one bucket of time at a time. A body without them is not one with null: it takes the
 * default window of its table.
 */
export const windowFields = {
  time_column: {
    column: 'timeColumn',
    body: windowValues.time_column.allow(null).description('The column with the time of a row.'),
    reply: held.text.allow(null).description('The column with the time of a row.'),
    example: null,
  },
  window: {
    column: 'windowSize',
    body: windowValues.window
      .allow(null)
      .description(
        'One bucket of `time_column` at a time: hours that divide a day, or whole days or weeks, such as `6h`, `1d` or `1w`. Without both, the default window of the table; null is all rows.',
      ),
    reply: held.text.allow(null).description('How much time a bucket has; null of a check of all rows.'),
    example: null,
  },
  window_delay: {
    column: 'windowDelay',
    body: windowValues.window_delay
      .allow(null)
      .description('How long data of a bucket may still arrive, such as `6h`.'),
    patch: true,
    reply: held.text.allow(null).description('How long data of a bucket may still arrive.'),
    example: null,
  },
  revisit: {
    column: 'revisit',
    body: Joi.number()
      .strict()
      .integer()
      .min(0)
      .max(31)
      .allow(null)
      .description('How many of the last buckets are measured again, for late data; 2 by default.'),
    default: null,
    patch: true,
    reply: held.count.allow(null).description('How many of the last buckets are measured again; null is 2.'),
    example: null,
  },
} as const

/** The keys of a result that is about a bucket. */
export const bucketReply = {
  bucket_start: held.time.optional().description('The bucket that it is about, of a check with a window.'),
  bucket_end: held.time.optional(),
  revisions: held.count.optional().description('How often its bucket was found to have other numbers.'),
  revised_at: held.time.allow(null).optional(),
  first_value: held.number.allow(null).optional().description('The value before the first revision.'),
}

/** What a result says of its bucket; nothing of one of all rows. */
export function presentBucket(result: {
  bucketStart: Date | null
  bucketEnd: Date | null
  revisions: number
  revisedAt: Date | null
  firstValue: number | null
}) {
  if (!result.bucketStart) return {}
  return {
    bucket_start: result.bucketStart,
    bucket_end: result.bucketEnd,
    revisions: result.revisions,
    revised_at: result.revisedAt,
    first_value: result.firstValue,
  }
}

/** `catalog.schema.table` of a body. */
export const tablePath = Joi.string().min(1).max(1_000).required()
export const columnName = Joi.string().min(1).max(300)

/** Days of the past, which are computed from the timestamps of a table. */
export const pastDays = Joi.number().strict().integer().min(1).max(90)

const MAX_COLUMNS = 50

/** The key of a body that makes one check for each of several columns. */
export const columnNames = Joi.array()
  .items(columnName)
  .min(1)
  .max(MAX_COLUMNS)
  .unique()
  .required()
  .description('The columns; each gets a check of its own.')

/** What became of each column of such a body, in the reply. @param id an example of the id of a check */
export const columnResultsReply = (id: string) =>
  exampleRecord({
    results: Joi.array()
      .items(
        record({
          column_name: held.text,
          status: Joi.valid('created', 'failed'),
          id: Joi.string().allow(null).description('The new check.'),
          error: held.text.allow(null).description('Why it failed.'),
        }),
      )
      .description('In the order of `column_names`.')
      .example([{ column_name: 'email', status: 'created', id, error: null }]),
    created: held.count.example(1),
    failed: held.count.example(0),
    total: held.count.example(1),
  })

/** The keys of a dry run beside those of a new check. */
export const dryRunKeys = {
  asset_id: Joi.string().max(1_000).required(),
  lookback_days: pastDays.default(30).description('Days of the past that are looked at.'),
  backfill_days: Joi.forbidden(),
}

/** The name of a check type in a query. @param types the known names, read once the server is built */
export const typeFilter = (field: string, types: () => string[]) =>
  Joi.string()
    .meta({ openapi: { 'x-words': field } })
    .custom((value: string, helpers) =>
      types().includes(value) ? value : helpers.error('any.only', { valids: types() }),
    )

/** The past that a check was made with, in the reply. @param points what they are */
export const backfillReply = (points: string) =>
  record({
    points: held.count.description(points),
    timestamp_column: held.text.allow(null).description('The column with the time at which rows were added.'),
    message: Joi.string(),
  })
    .optional()
    .description('With backfill_days.')

/** A row that breaks a check, in the reply. @param value what is shown of it */
export const sampleReply = (value: string) =>
  record({
    row_id: Joi.any().description(
      'The primary key, an object when it has several columns; else a number from 1.',
    ),
    value: Joi.any().description(value),
    is_hidden: Joi.valid(true)
      .optional()
      .description(
        'Present when the row has a value that is not shown: it is personal data, or could not be read.',
      ),
  })

/** Why samples are missing, in the reply to a check. */
export const samplesNoteReply = Joi.string()
  .optional()
  .description('Present when rows or their values are missing: why.')

/** Points of the past that the reply to a dry run shows: those of a month of hourly checks. */
export const MAX_PAST_POINTS = 750

/** The bands around a value, in the reply to a dry run. */
export const bandsReply = Joi.array()
  .items(record({ sensitivity: held.number, low: held.number, high: held.number }))
  .description('At sensitivities 1 to 4 and the chosen one; empty where nothing is expected.')

/** The newest points of the past that a dry run judged, with the band at each sensitivity. */
export const pastSeriesReply = Joi.array()
  .items(
    record({
      at: held.time,
      value: held.number.allow(null),
      expected_value: held.number.allow(null),
      z_score: held.number
        .allow(null)
        .description('Beyond a sensitivity it is an anomaly. Null where nothing is learned.'),
      learning: held.flag.description('Too little was known to alert.'),
      bands: bandsReply,
    }),
  )
  .max(MAX_PAST_POINTS)
  .description(`The last ${MAX_PAST_POINTS} points, the oldest first, for a chart.`)

/** The statements of a dry run. */
export const statementsReply = Joi.array()
  .items(record({ text: Joi.string(), values: Joi.array().items(Joi.any()) }))
  .description('What the source is sent.')

const hoursRule = record({
  days: Joi.array()
    .items(held.integer.min(1).max(7))
    .description('The days on which it starts, 1 is Monday.'),
  start: Joi.string(),
  end: Joi.string().description('At or before the start, it is on the next day.'),
}).label('OperatingHours')

const timeOfDay = (pattern: RegExp, meaning: string) =>
  Joi.string()
    .pattern(pattern)
    .messages({ 'string.pattern.base': `{{#label}} must be a time of day as HH:MM, ${meaning}` })
    .required()

/** Hours of a week in a body. */
export const hoursInput = Joi.array()
  .items(
    Joi.object({
      days: Joi.array()
        .items(Joi.number().strict().integer().min(1).max(7))
        .min(1)
        .unique()
        .required()
        .description('The days on which it starts, 1 is Monday'),
      start: timeOfDay(/^([01]\d|2[0-3]):[0-5]\d$/, '00:00 to 23:59'),
      end: timeOfDay(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, '00:00 to 24:00').description(
        'At or before the start, it is on the next day: 22:00 to 06:00 is a night, 08:00 to 08:00 are 24 hours',
      ),
    }).label('WeeklyHours'),
  )
  .min(1)
  .max(100)

/** The hours of an operating schedule. */
export const hoursFields = {
  timezone: Joi.string().description('An IANA time zone, such as Europe/Berlin.').example('Europe/Berlin'),
  rules: Joi.array<Schedule['rules']>()
    .items(hoursRule)
    .example([{ days: [1, 2, 3, 4, 5], start: '08:00', end: '18:00' }]),
}

/** The hours in which a table operates, beside the results of a check. */
export const operatingHoursReply = record(withoutExamples(hoursFields))
  .allow(null)
  .label('OperatingPeriods')
  .description(
    'When the table operates, for the shading of a chart: by the operating schedule that its active rules name, and for a rule by its own. Null without one, and where they name several.',
  )
