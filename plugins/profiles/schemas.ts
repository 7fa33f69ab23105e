import Joi from 'joi'
import { exampleIn, exampleRecord, held, inData, inPage, record, reply } from '../../server/http/envelopes.ts'
import { orNull } from '../../server/http/input.ts'
import { pageQuery, type Page } from '../../server/http/page.ts'
import { startedReplies, startedRun } from '../../server/http/run-accepted.ts'
import { PATTERN_NAMES } from './api.ts'
import type { ProfileRequest } from './profile.ts'

const { id, count, number, text, texts, time, flag } = held

export const assetParams = Joi.object({
  asset_id: Joi.string()
    .max(1_000)
    .required()
    .description('The id or qualified name of a source or a table.'),
})

export const tableParams = Joi.object({
  asset_id: Joi.string().max(1_000).required().description('The id or qualified name of a table.'),
})

/** Patterns; the catalog validates their form. */
const patterns = (description: string) =>
  Joi.array()
    .items(Joi.string().max(400))
    .max(200)
    .description(`${description}: table, schema.table or catalog.schema.table, with * for any characters.`)

export const profileBody = orNull(
  Joi.object<ProfileRequest>({
    table_path: Joi.string().max(1_000).description('Only this table of the source, `catalog.schema.table`.'),
    include_patterns: patterns('Tables of the source to profile, default all'),
    exclude_patterns: patterns('Tables to leave out, even if included'),
  }),
).example({ include_patterns: ['public.*'] })

export const profileQuery = Joi.object<{ compare_to?: string }>({
  compare_to: Joi.string()
    .max(100)
    .description(
      'Compares with an earlier profile: its id, or a time, ISO 8601, which means the last profile until then.',
    )
    .example('2026-03-01T00:00:00Z'),
})

export const listQuery = Joi.object<Page>(pageQuery())

const TABLE_ID = '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'
const PROFILE_ID = '0196f2f4-2222-7333-8444-555566667777'

const summary = {
  id: id.example(PROFILE_ID),
  asset_id: id.description('The table.').example(TABLE_ID),
  profiled_at: time.example('2026-03-09T08:05:00.000Z'),
  row_count: count.description('All rows of the table.').example(51_200),
  is_row_count_exact: flag
    .description('Whether they were counted; otherwise the engine estimates them.')
    .example(true),
  profiled_rows: count.description('Rows that were read; all numbers are of these.').example(51_200),
  is_sampled: flag
    .description('Whether other rows were left out: a sample was read, or the buckets of a window.')
    .example(false),
  profiled_window: record({
    time_column: text,
    window: text,
    start: time,
    end: time,
  })
    .label('ProfiledWindow')
    .allow(null)
    .description('The buckets that were read; null of all rows.')
    .example(null),
  statements: count.description('Statements sent to the source.').example(4),
  duration_ms: count.example(1_840),
}

const value = Joi.alternatives(Joi.number(), Joi.string().allow(''), Joi.boolean())
const measured = number.allow(null)
const length = count.allow(null).description('Characters; null unless text.')

const column = exampleRecord({
  name: text.example('status'),
  type: text.example('varchar(20)'),
  kind: Joi.string().description('What it can be used for: integer, text, timestamp …').example('text'),
  count: count
    .allow(null)
    .description('Values that are not NULL; null where the column could not be measured.')
    .example(51_190),
  nulls: count.allow(null).example(10),
  null_percent: number.min(0).max(100).allow(null).example(0.02),
  distinct: count.allow(null).description('Distinct values that are not NULL.').example(5),
  is_distinct_exact: flag
    .description('False where the engine approximates them, and in a sample.')
    .example(true),
  min: Joi.alternatives(Joi.number(), Joi.string())
    .allow(null)
    .description('Of numbers; of dates and timestamps, ISO 8601 to the second.')
    .example(null),
  max: Joi.alternatives(Joi.number(), Joi.string()).allow(null).example(null),
  mean: measured.example(null),
  stddev: measured.description('The standard deviation of a sample.').example(null),
  quantiles: record({ p05: number, p25: number, p50: number, p75: number, p95: number })
    .allow(null)
    .description('Of numbers, interpolated.')
    .example(null),
  min_length: length.example(3),
  max_length: length.example(9),
  mean_length: measured.example(5.6),
  top_values: Joi.array()
    .items(record({ value, count }))
    .max(20)
    .allow(null)
    .description(
      'The most frequent values of a column with few; null for others, for personal data, and unless query_access_level is full.',
    )
    .example([
      { value: 'paid', count: 40_020 },
      { value: 'new', count: 11_170 },
    ]),
  pattern: record({ name: Joi.valid(...PATTERN_NAMES), share: number.min(0).max(1) })
    .allow(null)
    .description(
      'The form that at least half of the values have, and their share. enum: few values that return.',
    )
    .example({ name: 'enum', share: 1 }),
  is_key_candidate: flag
    .description('Whether every row has a value of its own, counted exactly.')
    .example(false),
  is_masked: flag.description('Tagged as personal data: nothing shows its values.').example(false),
}).label('ColumnProfile')

const any = Joi.alternatives(value, texts).allow(null)

const comparison = record({
  profile: record(summary).label('ComparedProfile').description('The earlier profile.'),
  added_columns: texts,
  removed_columns: texts,
  changes: Joi.array().items(
    record({
      column: text,
      field: Joi.string().description('As columns name it, such as `distinct` or `quantiles.p50`.'),
      before: any,
      after: any,
    }).label('ProfileChange'),
  ),
}).label('ProfileComparison')

const profile = exampleRecord({
  ...summary,
  columns: Joi.array()
    .items(column)
    .example([exampleIn(column)]),
  comparison: comparison
    .allow(null)
    .description('What changed since the profile of compare_to; null without it.')
    .example(null),
}).label('TableProfile')

const started = startedRun(
  'Profile',
  { id: '0196f2f4-1111-7222-8333-444455556666', jobPath: '/api/v1/sdk/jobs' },
  { asset_id: id.description('What is profiled: the source, or the table.') },
  { asset_id: TABLE_ID },
)

export const replies = {
  started: startedReplies(started),
  profile: reply(inData(profile)),
  profiles: reply(inPage(exampleRecord(summary).label('ProfileSummary'))),
}
