import Joi from 'joi'
import { PRECISIONS } from '../../checks/comparison.ts'
import { shared, windowFields } from '../../server/http/check-schemas.ts'
import { held } from '../../server/http/envelopes.ts'
import type { CreateBody, Fields, PatchBody } from '../../server/http/fields.ts'
import { LEVELS, type Comparison, type StoredPair } from './models.ts'

const MAX_KEYS = 8
const MAX_GROUP_COLUMNS = 3
const MAX_COLUMNS = 500
const column = Joi.string().min(1).max(300)

/** A column of both tables, or a pair of columns whose names differ. */
const pair = Joi.alternatives(column, Joi.object({ left: column.required(), right: column.required() }))

const rules = {
  tolerance: Joi.number().strict().min(0).description('Numbers at most this far apart are equal.'),
  relative_tolerance: Joi.number()
    .strict()
    .min(0)
    .max(1)
    .description('Numbers at most this share of the larger one apart are equal: 0.01 is one per cent.'),
  round: Joi.number()
    .strict()
    .integer()
    .min(0)
    .max(15)
    .description('Numbers are rounded to so many digits first.'),
  trim: Joi.boolean().strict().description('Blanks around texts do not count.'),
  ignore_case: Joi.boolean().strict(),
  null_is_empty: Joi.boolean().strict().description('NULL and the empty text are equal.'),
  precision: Joi.valid(...PRECISIONS).description('Moments are cut to it first.'),
}

const comparedPair = Joi.alternatives(
  column,
  Joi.object({
    left: column.required(),
    right: column.description('As left where it is left out.'),
    ...rules,
  }),
)

const pairReply = Joi.object({ left: held.text.required(), right: held.text.required() })
const comparedReply = pairReply.keys({ ...rules }).unknown(false)

/** Fields that say what is compared; they cannot be changed. */
export const subjectFields = {
  level: {
    column: 'level',
    body: Joi.valid(...LEVELS).description(
      '`rows` compares every row by its key, `aggregates` counts, sums and extremes of columns, `counts` how many rows there are.',
    ),
    default: 'rows',
    example: 'rows',
  },
  key_columns: {
    column: 'keyColumns',
    body: Joi.array()
      .items(pair)
      .max(MAX_KEYS)
      .description(
        'Which rows belong together: columns of which each row has its own values. Needed for `rows`.',
      ),
    default: [],
    reply: Joi.array().items(pairReply),
    example: [{ left: 'id', right: 'id' }],
  },
  columns: {
    column: 'comparedColumns',
    body: Joi.array()
      .items(comparedPair)
      .min(1)
      .max(MAX_COLUMNS)
      .allow(null)
      .description(
        'The columns that are compared, each with its rule; all that have the same name where it is left out.',
      ),
    default: null,
    reply: Joi.array().items(comparedReply).allow(null),
    example: null,
  },
  group_by_columns: {
    column: 'groupPairs',
    body: Joi.array()
      .items(pair)
      .max(MAX_GROUP_COLUMNS)
      .description('Aggregates and counts are compared in each group of these columns.'),
    default: [],
    reply: Joi.array().items(pairReply),
    example: [],
  },
  filter: {
    ...shared.filter,
    body: shared.filter.body.description(
      'A boolean expression in the SQL of the left source: its rows for which it is true are compared.',
    ),
  },
  right_filter: {
    ...shared.filter,
    column: 'rightFilter',
    body: shared.filter.body.description(
      'A boolean expression in the SQL of the right source: its rows for which it is true are compared.',
    ),
  },
  ...windowFields,
} as const satisfies Fields<Comparison>

/** What a comparison is called, and whether it runs. */
export const generalFields = {
  name: { ...shared.name, example: 'The copy of orders is whole' },
  description: shared.description,
  severity: { ...shared.severity, example: 'warning' },
  is_active: { ...shared.isActive, default: true },
  capture_interval: shared.interval,
} as const satisfies Fields<Comparison>

/** The limits of a comparison; null removes one. */
export const limitFields = {
  max_differing_rows: {
    column: 'maxDifferingRows',
    body: Joi.number()
      .strict()
      .integer()
      .min(0)
      .allow(null)
      .description('Rows that may differ; 0 when no limit is given.'),
    patch: true,
    example: 0,
  },
  max_differing_percent: {
    column: 'maxDifferingPercent',
    body: Joi.number()
      .strict()
      .min(0)
      .max(100)
      .allow(null)
      .description('Percent of the rows of both sides that may differ.'),
    patch: true,
    example: null,
  },
} as const satisfies Fields<Comparison>

export const comparisonFields = {
  ...generalFields,
  ...subjectFields,
  ...limitFields,
} as const satisfies Fields<Comparison>

/** A column as bodies name it. */
export type BodyPair =
  | string
  | {
      left: string
      right?: string
      tolerance?: number
      relative_tolerance?: number
      round?: number
      trim?: boolean
      ignore_case?: boolean
      null_is_empty?: boolean
      precision?: (typeof PRECISIONS)[number]
    }

/** The body of a new comparison, validated. */
export type NewComparison = Omit<
  CreateBody<Comparison, typeof comparisonFields>,
  'key_columns' | 'columns' | 'group_by_columns'
> & {
  key_columns: BodyPair[]
  columns: BodyPair[] | null
  group_by_columns: BodyPair[]
  table_path: string
  /** The source of the right table, by its name or id; that of the left one where it is left out. */
  right_source?: string
  right_table_path: string
}

/** The body of a change, validated. */
export type ComparisonPatch = PatchBody<Comparison, typeof comparisonFields>

/** A pair as it is stored. */
export function storedPair(given: BodyPair): StoredPair {
  if (typeof given === 'string') return { left: given, right: given }
  const { left, right = left, relative_tolerance, ignore_case, null_is_empty, ...rest } = given
  return {
    left,
    right,
    ...rest,
    ...(relative_tolerance !== undefined && { relativeTolerance: relative_tolerance }),
    ...(ignore_case !== undefined && { ignoreCase: ignore_case }),
    ...(null_is_empty !== undefined && { nullIsEmpty: null_is_empty }),
  }
}

/** A pair as replies show it. */
export function presentPair({ relativeTolerance, ignoreCase, nullIsEmpty, ...rest }: StoredPair): BodyPair {
  return {
    ...rest,
    ...(relativeTolerance !== undefined && { relative_tolerance: relativeTolerance }),
    ...(ignoreCase !== undefined && { ignore_case: ignoreCase }),
    ...(nullIsEmpty !== undefined && { null_is_empty: nullIsEmpty }),
  }
}
