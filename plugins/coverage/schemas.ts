import Joi from 'joi'
import { exampleRecord, held, inData, record, reply } from '../../server/http/envelopes.ts'
import { queryInteger } from '../../server/http/page.ts'

const { id, count, number, text, texts } = held

export const assetParams = Joi.object({
  asset_id: Joi.string()
    .max(1_000)
    .required()
    .description('The id or qualified name of a source or a table.'),
})

export const gapsQuery = Joi.object({ limit: queryInteger(1, 100).default(20) })

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

const gaps = exampleRecord({
  recommendations: Joi.array()
    .items(
      record({
        table_path: Joi.string(),
        importance_score: number.min(0).max(1),
        row_count: count.allow(null).description('As the engine estimates it.'),
        column_count: count,
        suggested_monitoring: texts.description('Kinds of checks that the table lacks.'),
        reasoning: text,
      }),
    )
    .example([
      {
        table_path: 'public.orders',
        importance_score: 0.93,
        row_count: 51_200,
        column_count: 12,
        suggested_monitoring: ['metrics'],
        reasoning: 'public.orders has about 51200 rows and 12 columns, and no active metrics',
      },
    ]),
  total_tables: count.example(10),
  monitored_tables: count
    .description('Tables with a check of their own; drift alone does not count.')
    .example(4),
  coverage_percentage: number.min(0).max(100).example(40),
}).label('CoverageGaps')

export const replies = {
  company: reply(inData(company)),
  asset: reply(inData(asset)),
  gaps: reply(inData(gaps).description('The tables, with what is suggested for each')),
}
