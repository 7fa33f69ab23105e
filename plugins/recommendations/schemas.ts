import Joi from 'joi'
import {
  exampleIn,
  exampleRecord,
  held,
  inData,
  pageFields,
  record,
  reply,
} from '../../server/http/envelopes.ts'
import { pageQuery, queryWords, type Page } from '../../server/http/page.ts'
import { backfillBody, backfillCost } from './backfill-schemas.ts'
import { STATUSES, type OfferStatus } from './offers.ts'
import {
  CHECK_KINDS,
  CHECK_TYPES,
  EVIDENCE_BASES,
  type CheckKindName,
  type CheckTypeName,
} from './rules/evidence.ts'

const { id, count, number, text, flag, time } = held

const EXAMPLE_ID = 'rec_0196f2df4c007b8a9c3d1e2f3a4b5c6d_9f86d081884c7d65'
const TABLE_ID = '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'

const assetId = Joi.string().max(1_000).required().description('The id or name of a source or a table.')
const minConfidence = Joi.number().min(0).max(1).description('From 0 to 1.')

/** Filters of recommendations, as queries and bodies have them. */
export interface RecommendationFilter {
  kind?: CheckKindName[]
  type?: CheckTypeName[]
  min_confidence?: number
}

/** The query of a list, validated. */
export interface RecommendationListQuery extends RecommendationFilter, Page {
  asset_id: string
  status: OfferStatus[]
}

export const listQuery = Joi.object<RecommendationListQuery>({
  asset_id: assetId,
  kind: queryWords(CHECK_KINDS),
  type: queryWords(CHECK_TYPES),
  min_confidence: minConfidence.default(0),
  status: queryWords(STATUSES).default(['offered']),
  ...pageQuery({ max: 500, fallback: 100 }),
})

export const idParams = Joi.object({
  id: Joi.string().max(200).required().description('The id of a recommendation.'),
})

const ids = Joi.array()
  .items(Joi.string().max(200))
  .min(1)
  .max(500)
  .unique()
  .description('Ids of recommendations, of one source or several.')

const words = (choices: readonly string[]) =>
  Joi.array()
    .items(Joi.valid(...choices))
    .min(1)
    .unique()

/** What narrows the recommendations of an asset. */
const FILTERS = ['kind', 'type', 'min_confidence']
/** Recommendations that one request tries on the past. */
const MAX_TRIED = 20

/** The body of a request to apply recommendations, validated. */
export interface ApplyBody extends RecommendationFilter {
  ids?: string[]
  asset_id?: string
  check_past: boolean
  backfill: boolean
  dry_run: boolean
}

export const applyBody = Joi.object<ApplyBody>({
  ids,
  asset_id: assetId.optional().description('In place of ids: all that is offered for a source or a table.'),
  kind: words(CHECK_KINDS).description('With asset_id.'),
  type: words(CHECK_TYPES).description('With asset_id.'),
  min_confidence: minConfidence.strict().description('With asset_id.'),
  check_past: Joi.boolean()
    .strict()
    .default(false)
    .description(
      'With ids, at most 20: tries each on the past first, and leaves out those that would have alerted.',
    ),
  backfill: backfillBody,
  dry_run: Joi.boolean()
    .strict()
    .default(false)
    .description('Creates nothing, and returns what would be created.'),
})
  .xor('ids', 'asset_id')
  .without('ids', FILTERS)
  .custom((body: Record<string, unknown>, helpers) => {
    const isLong = body.ids === undefined || (body.ids as string[]).length > MAX_TRIED
    return body.check_past === true && isLong ? helpers.error('apply.past') : body
  })
  .messages({
    'apply.past': `check_past needs ids, at most ${MAX_TRIED}`,
  })
  .required()
  .example({ ids: [EXAMPLE_ID] })

export const dismissBody = Joi.object<{ ids: string[]; reason?: string | null }>({
  ids: ids.required(),
  reason: Joi.string().trim().max(500).allow(null, '').description('Why, for those who ask later.'),
})
  .required()
  .example({ ids: [EXAMPLE_ID], reason: 'The column is free text' })

export const restoreBody = Joi.object<{ ids: string[] }>({ ids: ids.required() })
  .required()
  .example({ ids: [EXAMPLE_ID] })

const cost = record({
  statements_per_day: count.description(
    'Statements that it adds at the source: 0 where the table is scanned daily anyhow.',
  ),
  rows_per_day: count
    .allow(null)
    .description('Rows that are read besides; null where the size is not known.'),
  is_shared: flag.description('Whether it shares its statement with other checks.'),
})

const pastPoint = record({
  at: time,
  value: number.allow(null).description('The value; of freshness, hours between two updates.'),
  expected: number.allow(null),
  low: number.allow(null),
  high: number.allow(null),
  is_alert: flag,
})

const pastFields = {
  days: count,
  source: Joi.valid('timestamps', 'stored')
    .allow(null)
    .description(
      "The table's own timestamps, or results of a check that measures the same; null where it is not known.",
    ),
  timestamp_column: text.allow(null),
  points: count.allow(null).description('Checks of that time.'),
  alerts: count.allow(null).description('Alerts that it would have raised; null where that is not known.'),
  message: text.description('What was found, or why it is not known.'),
  series: Joi.array().items(pastPoint).description('For a chart, the oldest first; empty in lists.'),
  cadence: record({ updates: count, typical_gap_hours: number, threshold_hours: number })
    .optional()
    .description('Of freshness.'),
}

const past = record({ ...pastFields, computed_at: time })
  .allow(null)
  .label('RecommendationPast')
  .description('As it was last computed; null until it is asked for.')

const recommendation = exampleRecord({
  id: text.example(EXAMPLE_ID),
  asset_id: id.description('The table.').example(TABLE_ID),
  table_path: text.example('shop.public.orders'),
  kind: Joi.valid(...CHECK_KINDS).example('validity'),
  type: Joi.valid(...CHECK_TYPES).example('ENUM'),
  type_label: text.example('Allowed values'),
  column_name: text.allow(null).example('status'),
  config: Joi.object()
    .unknown()
    .description('What the check is created with beside its defaults.')
    .example({ allowed_values: ['new', 'paid', 'shipped'], treat_null_as_valid: true }),
  parent: record({ table_path: text, column_name: text })
    .allow(null)
    .description('Of a referential check: the column that holds the values.')
    .example(null),
  confidence: number.min(0).max(1).example(0.95),
  reason: text
    .description('One sentence.')
    .example('status has 3 values in 51,200 rows, each at least 4,211 times.'),
  basis: Joi.array()
    .items(Joi.valid(...EVIDENCE_BASES))
    .example(['profiles']),
  evidence: Joi.object().unknown().example({ values: 51_200, distinct: 3, rarest: 4_211 }),
  cost: cost.example({ statements_per_day: 0, rows_per_day: 0, is_shared: true }),
  status: Joi.valid(...STATUSES)
    .description('removed: it was applied, and its check is gone. noisy: it would have alerted in the past.')
    .example('offered'),
  dismiss_reason: text.allow(null).example(null),
  decided_by: text.allow(null).description('user:<id>, key:<id> or policy.').example(null),
  decided_at: time.allow(null).example(null),
  quiet_by: Joi.valid('profile', 'past')
    .allow(null)
    .description('How it is known that it would not have alerted; null where it is not.')
    .example('profile'),
  past: past.example(null),
}).label('Recommendation')

const counts = record(Object.fromEntries(STATUSES.map(status => [status, count]))).description(
  'Recommendations by status, of those that match the other filters.',
)

const list = exampleRecord({
  recommendations: Joi.array()
    .items(recommendation)
    .example([exampleIn(recommendation)]),
  tables: count.description('Tables that they belong to, on all pages.').example(1),
  uncounted_tables: count
    .description(
      'Tables of a source whose recommendations are still being counted in the background, after a first discovery for example: until then they are in no total but on their pages.',
    )
    .example(0),
  counts: counts.example({ offered: 1, applied: 0, dismissed: 0, removed: 0, noisy: 0 }),
  pagination: record(pageFields)
    .label('Pagination')
    .example({ total: 1, limit: 50, offset: 0, has_more: false }),
}).label('RecommendationList')

const byType = Joi.object().pattern(Joi.string(), count).description('By type of check.')

const applied = exampleRecord({
  created: byType.example({ ENUM: 1, NOT_NULL: 4 }),
  created_count: count.example(5),
  existing: byType.description('Those that there were before, by type.').example({}),
  declined: count.description('Dismissed before, or removed by a person.').example(0),
  noisy: count.description('Would have alerted in the past.').example(0),
  cost: cost.description('What all of them add together.').example({
    statements_per_day: 1,
    rows_per_day: 51_200,
    is_shared: true,
  }),
  backfill: backfillCost,
  dry_run: flag.example(false),
}).label('AppliedRecommendations')

const changed = exampleRecord({ changed: count.example(1) }).label('ChangedRecommendations')

export const replies = {
  list: reply(inData(list)),
  past: reply(inData(recommendation).description('The recommendation with its past')),
  applied: reply(inData(applied).description('What was created, and what it costs')),
  changed: reply(inData(changed).description('How many were changed')),
}
