import Joi from 'joi'
import { pageQuery, queryBoolean, queryInteger } from '../../server/page.ts'
import { IMPACTS } from './diff.ts'

const DISCOVERY_INTERVALS = ['off', 'hourly', 'every_4_hours', 'daily', 'weekly']

export const assetParams = Joi.object({ asset_id: Joi.string().max(1_000).required() })

const limits = {
  query_access_level: Joi.string().valid('schema_only', 'aggregates', 'full'),
  max_concurrency: Joi.number().strict().integer().min(1).max(20),
  statement_timeout_seconds: Joi.number().strict().integer().min(1).max(3_600).allow(null),
}

export const newSource = Joi.object({
  name: Joi.string().trim().min(1).max(200).required(),
  source_type: Joi.string().required(),
  connection_config: Joi.object().unknown().required(),
  description: Joi.string().allow('').max(2_000),
  discovery_interval: Joi.string()
    .valid(...DISCOVERY_INTERVALS)
    .default('off'),
  ...limits,
}).required()

export const sourcePatch = Joi.object({
  name: Joi.string().trim().min(1).max(200),
  description: Joi.string().allow('', null).max(2_000),
  connection_config: Joi.object().unknown(),
  is_active: Joi.boolean().strict(),
  discovery_interval: Joi.string().valid(...DISCOVERY_INTERVALS),
  ...limits,
})
  .min(1)
  .required()

export const assetList = Joi.object({
  ...pageQuery(),
  source: Joi.string().max(200),
  asset_type: Joi.string().valid('source', 'table', 'view', 'materialized_view', 'external_table'),
  search: Joi.string().max(200),
})

export const assetQuery = Joi.object({ include_columns: queryBoolean.default(true) })

export const changesQuery = Joi.object({
  days_back: queryInteger(1, 365).default(30),
  change_type: Joi.string().valid(...Object.keys(IMPACTS)),
  ...pageQuery({ max: 1_000, fallback: 100 }),
})

export const jobParams = Joi.object({ job_id: Joi.string().max(100).required() })
