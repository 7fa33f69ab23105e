import Joi from 'joi'
import { exampleRecord, held, inData, record, reply } from '../../../server/http/envelopes.ts'
import { APPLICABLE_KINDS, type CoverageRequest } from './apply.ts'
import { queryInteger } from '../../../server/http/page.ts'

const { id, count, number, text, texts } = held

export const assetParams = Joi.object({
  asset_id: Joi.string()
    .max(1_000)
    .required()
    .description('The id or qualified name of a source or a table.'),
})

export const gapsQuery = Joi.object<{ limit: number }>({ limit: queryInteger(1, 100).default(20) })

const score = count.max(100).description('The weighted mean share of watched tables, in per cent.')
const tier = Joi.valid('none', 'bronze', 'silver', 'gold').description('From 0, 20, 50 and 80 points.')

const source = record({ asset_id: id, asset_name: text, score, tier, tier_label: text })
const shop = {
  asset_id: '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d',
  asset_name: 'shop',
  score: 43,
  tier: 'bronze',
  tier_label: 'Bronze',
}

const company = exampleRecord({
  company_score: score.example(43),
  asset_count: count.description('Active sources.').example(1),
  per_asset: Joi.array().items(source).example([shop]),
  tier_distribution: Joi.object()
    .pattern(Joi.string(), count)
    .description('Sources in each tier.')
    .example({ bronze: 1 }),
  lowest_coverage: Joi.array().items(source).max(5).description('The lowest score first.').example([shop]),
}).label('CompanyCoverage')

const action = 'Add freshness to 6 of 10 tables'

const asset = exampleRecord({
  asset_id: id.example(shop.asset_id),
  score: score.example(43),
  tier: tier.example('bronze'),
  tier_label: text.example('Bronze'),
  tier_badge: Joi.valid(null).example(null),
  total_tables: count.example(10),
  breakdown: Joi.object()
    .pattern(Joi.string(), record({ count, total: count, pct: number.min(0).max(1) }))
    .description('Tables with an active check of each kind; pct is from 0 to 1.')
    .example({ freshness: { count: 4, total: 10, pct: 0.4 } }),
  next_tier_info: record({
    next_tier: tier,
    next_tier_label: text,
    next_threshold: count,
    points_needed: count,
    actions: texts,
  })
    .allow(null)
    .description('Null in the highest tier.')
    .example({
      next_tier: 'silver',
      next_tier_label: 'Silver',
      next_threshold: 50,
      points_needed: 7,
      actions: [action],
    }),
  recommendation: text.allow(null).example(action),
}).label('AssetCoverage')

export const adviceQuery = Joi.object<{ asset_id: string; limit: number }>({
  asset_id: Joi.string().max(1_000).required().description('The id or name of a source or a table.'),
  limit: queryInteger(1, 100).default(20),
})

export const applyBody = Joi.object<CoverageRequest>({
  types: Joi.array()
    .items(Joi.valid(...APPLICABLE_KINDS))
    .min(1)
    .unique()
    .default(['freshness', 'metrics', 'validity'])
    .description('Kinds of checks to add.'),
  table_paths: Joi.array()
    .items(Joi.string().min(1).max(1_000))
    .min(1)
    .max(1_000)
    .description('Tables of the asset; defaults to all.'),
})
  .required()
  .example({ types: ['freshness', 'metrics'], table_paths: ['public.orders'] })

const gapFields = {
  table_path: Joi.string(),
  importance_score: number.min(0).max(1),
  row_count: count.allow(null).description('As the engine estimates it.'),
  column_count: count,
  suggested_monitoring: texts.description('Kinds of checks that the table lacks.'),
  reasoning: text,
}

const gapExample = {
  table_path: 'public.orders',
  importance_score: 0.93,
  row_count: 51_200,
  column_count: 12,
  suggested_monitoring: ['metrics'],
  reasoning: 'public.orders has about 51200 rows and 12 columns, and no active metrics',
}

const gapTotals = {
  total_tables: count.example(10),
  monitored_tables: count
    .description('Tables with a check of their own; drift alone does not count.')
    .example(4),
  coverage_percentage: number.min(0).max(100).example(40),
}

const gaps = exampleRecord({
  recommendations: Joi.array().items(record(gapFields)).example([gapExample]),
  ...gapTotals,
}).label('CoverageGaps')

const { flag } = held
const monitored = record({ freshness: flag, metrics: flag, validity: flag, schema_drift: flag })

const advice = exampleRecord({
  recommendations: Joi.array()
    .items(record({ ...gapFields, currently_monitored: monitored }))
    .example([]),
  asset_id: id.example(shop.asset_id),
  ...gapTotals,
}).label('CoverageRecommendations')

const kindName = Joi.valid(...APPLICABLE_KINDS)

const applied = exampleRecord({
  applied: Joi.array()
    .items(record({ type: kindName, check_type: text, count }))
    .description('Checks that were created, by type.')
    .example([{ type: 'metrics', check_type: 'row_count', count: 6 }]),
  failed: Joi.array()
    .items(record({ type: kindName, table_path: text.allow(null), error: text }))
    .example([]),
  applied_count: count.example(6),
  failed_count: count.example(0),
}).label('AppliedCoverage')

export const replies = {
  advice: reply(inData(advice)),
  applied: reply(inData(applied)),
  company: reply(inData(company)),
  asset: reply(inData(asset)),
  gaps: reply(inData(gaps).description('The tables, with what is suggested for each')),
}
