import Joi from 'joi'
import { exampleRecord, held, inData, record, reply } from '../../../server/http/envelopes.ts'
import { queryBoolean, queryInteger } from '../../../server/http/page.ts'

const { id, count, number, text } = held

const ASSET_ID = '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'
const assetId = Joi.string().max(1_000).required().description('The id or name of a source or a table.')
const confidence = Joi.number().min(0).max(1).default(0.5).description('From 0 to 1.')

/** What queries of all kinds of advice have, validated. */
interface AdviceQuery {
  asset_id: string
  limit: number
}

export const freshnessQuery = Joi.object<
  AdviceQuery & { min_confidence: number; include_monitored: boolean }
>({
  asset_id: assetId,
  min_confidence: confidence,
  limit: queryInteger(1, 100).default(20),
  include_monitored: queryBoolean.default(false).description('Also tables that have a schedule.'),
})

export const metricsQuery = Joi.object<AdviceQuery & { table_path?: string; min_confidence: number }>({
  asset_id: assetId,
  table_path: Joi.string().min(1).max(1_000).description('One table of the source.'),
  min_confidence: confidence,
  limit: queryInteger(1, 200).default(50),
})

export const thresholdsQuery = Joi.object<AdviceQuery & { days: number }>({
  asset_id: assetId,
  days: queryInteger(1, 90).default(30).description('How many days of alerts are looked at.'),
  limit: queryInteger(1, 100).default(10),
})

const share = number.min(0).max(1)

const freshness = exampleRecord({
  recommendations: Joi.array()
    .items(
      record({
        table_path: text,
        suggested_check_interval: text,
        suggested_threshold_hours: number,
        detected_frequency: Joi.valid('hourly', 'daily', 'weekly', 'monthly'),
        confidence: share,
        reasoning: text,
        data_points: count.description('Updates that were seen; of a profile, rows.'),
      }),
    )
    .example([
      {
        table_path: 'public.orders',
        suggested_check_interval: '1h',
        suggested_threshold_hours: 2.4,
        detected_frequency: 'hourly',
        confidence: 0.95,
        reasoning: 'Its timestamps show 712 updates in 60 days, 1 hour apart as a rule.',
        data_points: 712,
      },
    ]),
  asset_id: id.example(ASSET_ID),
  tables_analyzed: count.example(12),
  tables_with_recommendations: count.example(1),
}).label('FreshnessRecommendations')

const metrics = exampleRecord({
  recommendations: Joi.array()
    .items(
      record({
        table_path: text,
        column_name: text,
        suggested_metric_type: text,
        suggested_check_type: Joi.valid('anomaly'),
        reasoning: text,
        confidence: share,
      }),
    )
    .example([
      {
        table_path: 'public.orders',
        column_name: 'total',
        suggested_metric_type: 'mean',
        suggested_check_type: 'anomaly',
        reasoning: 'The mean of total over 51,200 values is 61.2, and a change of unit or currency moves it.',
        confidence: 0.85,
      },
    ]),
  asset_id: id.example(ASSET_ID),
  columns_analyzed: count.example(96),
  columns_with_recommendations: count.example(1),
}).label('MetricRecommendations')

const thresholds = exampleRecord({
  recommendations: Joi.array()
    .items(
      record({
        table_path: text,
        metric_type: text,
        current_threshold: number,
        suggested_threshold: number,
        direction: Joi.valid('increase', 'decrease'),
        reasoning: text,
        confidence: share,
        historical_alerts: count,
        projected_reduction: text,
      }),
    )
    .example([
      {
        table_path: 'public.orders',
        metric_type: 'row_count',
        current_threshold: 1,
        suggested_threshold: 3,
        direction: 'increase',
        reasoning: 'row_count of public.orders alerted 6 times in 30 days, and would have 1 time at 3.',
        confidence: 0.8,
        historical_alerts: 6,
        projected_reduction: '83%',
      },
    ]),
  asset_id: id.example(ASSET_ID),
  monitored_items_analyzed: count.example(8),
  items_with_recommendations: count.example(1),
}).label('ThresholdRecommendations')

export const publishedReplies = {
  freshness: reply(inData(freshness)),
  metrics: reply(inData(metrics)),
  thresholds: reply(inData(thresholds)),
}
