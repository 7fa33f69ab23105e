import Joi from 'joi'
import { orNull } from '../../../server/http/input.ts'
import { pageQuery, type Page, queryBoolean, queryInteger } from '../../../server/http/page.ts'
import type { SchemaChange } from '../models.ts'
import { IMPACTS } from './diff.ts'
import type { SchemaDryRun } from './dry-run.ts'

/** What `discovery_interval` can be, except `off`. */
const SCHEDULES = ['hourly', 'every_4_hours', 'daily', 'weekly']

const assetId = Joi.string().max(1_000)
const daysBack = queryInteger(1, 365).default(30)
const description = Joi.string().trim().allow('', null).max(2_000)

export const assetParams = Joi.object({ asset_id: assetId.required() })

export const changeParams = Joi.object({ change_id: Joi.string().max(100).required() })

export const none = Joi.object({})

export interface SummaryQuery {
  asset_id?: string
  days_back: number
}

export const summaryQuery = Joi.object<SummaryQuery>({ asset_id: assetId, days_back: daysBack })

export interface ChangesQuery extends Page {
  asset_id?: string
  severity?: 'critical' | 'warning' | 'info'
  impact?: SchemaChange['impact']
  change_type?: string
  unacknowledged_only: boolean
  days_back: number
  sort: 'detected_at' | 'impact'
}

export const changesQuery = Joi.object<ChangesQuery>({
  asset_id: assetId,
  severity: Joi.string().valid('critical', 'warning', 'info').description('By impact: high, medium, low.'),
  impact: Joi.string().valid('high', 'medium', 'low').description('Only changes of this impact.'),
  change_type: Joi.string()
    .valid(...Object.keys(IMPACTS))
    .description('Only changes of this type.'),
  unacknowledged_only: queryBoolean.default(false).description('Only changes that are open.'),
  days_back: daysBack,
  sort: Joi.string()
    .valid('detected_at', 'impact')
    .default('detected_at')
    .description(
      'The newest first; or open changes before acknowledged ones, each by impact: high, medium, low.',
    ),
  ...pageQuery(),
})

export type Acknowledgement = { change_ids?: string[] } | null

export const acknowledgement = orNull(
  Joi.object<NonNullable<Acknowledgement>>({
    change_ids: Joi.array()
      .items(Joi.string().max(100))
      .min(1)
      .max(1_000)
      .unique()
      .description('Those to acknowledge; all that are open unless given.'),
  }),
).example({ change_ids: ['0196f2e1-2d00-7a11-8c22-b3c4d5e6f708'] })

export const baseline = orNull(Joi.object<{ description?: string | null }>({ description })).example({
  description: 'Release 12',
})

export interface MonitoringRequest {
  schedule_type: string
  auto_create_baseline: boolean
}

export const monitoring = Joi.object<MonitoringRequest>({
  schedule_type: Joi.string()
    .valid(...SCHEDULES)
    .default('daily')
    .description('How often the catalog is read.'),
  auto_create_baseline: Joi.boolean()
    .strict()
    .default(true)
    .description('Accepts what is there now, unless it was accepted before.'),
})
  .empty(null)
  .default()
  .example({ schedule_type: 'daily' })

export const dryRun = Joi.object<SchemaDryRun>({
  asset_id: assetId.required(),
  table_path: Joi.string().max(1_000),
  lookback_days: Joi.number()
    .strict()
    .integer()
    .min(1)
    .max(365)
    .default(30)
    .description('Days whose recorded changes are counted beside.'),
})
  .required()
  .example({ asset_id: 'shop' })
