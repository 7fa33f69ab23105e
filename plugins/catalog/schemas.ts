import Joi from 'joi'
import { pageQuery, queryBoolean, queryInteger } from '../../server/page.ts'
import { IMPACTS } from './diff.ts'
import { patternList } from './patterns.ts'

const DISCOVERY_INTERVALS = ['off', 'hourly', 'every_4_hours', 'daily', 'weekly']

export const assetParams = Joi.object({ asset_id: Joi.string().max(1_000).required() })

const treatment = {
  query_access_level: Joi.string().valid('schema_only', 'aggregates', 'full'),
  max_concurrency: Joi.number().strict().integer().min(1).max(20),
  statement_timeout_seconds: Joi.number().strict().integer().min(1).max(3_600).allow(null),
  include_patterns: patternList,
  exclude_patterns: patternList,
  auto_tag_enabled: Joi.boolean().strict(),
}

export const newSource = Joi.object({
  name: Joi.string().trim().min(1).max(200).required(),
  source_type: Joi.string().required(),
  connection_config: Joi.object().unknown().required(),
  description: Joi.string().allow('').max(2_000),
  discovery_interval: Joi.string()
    .valid(...DISCOVERY_INTERVALS)
    .default('off'),
  ...treatment,
}).required()

export const sourcePatch = Joi.object({
  name: Joi.string().trim().min(1).max(200),
  description: Joi.string().allow('', null).max(2_000),
  connection_config: Joi.object().unknown(),
  is_active: Joi.boolean().strict(),
  discovery_interval: Joi.string().valid(...DISCOVERY_INTERVALS),
  ...treatment,
})
  .min(1)
  .required()

/** Several names, separated by commas, of which any will do. */
const names = (description: string) =>
  Joi.string()
    .max(2_000)
    .custom((text: string, helpers) => {
      const given = text.split(',').map(name => name.trim())
      return given.includes('') ? helpers.error('names.empty') : [...new Set(given)]
    })
    .messages({ 'names.empty': '{{#label}} must be names separated by commas, none of them empty' })
    .description(description)

export const assetList = Joi.object({
  ...pageQuery(),
  source: Joi.string().max(200),
  asset_type: Joi.string().valid('source', 'table', 'view', 'materialized_view', 'external_table'),
  search: Joi.string().max(200).description('A part of the name, in any case; there are no wildcards.'),
  schema: names('Schemas, separated by commas; tables of any of them are listed.'),
  // Names of schemas are as their engines have them; those of tags are stored composed.
  tag: names(
    'Tags, separated by commas: of the asset; for a table also those of its source and its columns.',
  ).normalize('NFC'),
})

export const assetQuery = Joi.object({ include_columns: queryBoolean.default(true) })

export const changesQuery = Joi.object({
  days_back: queryInteger(1, 365).default(30),
  change_type: Joi.string().valid(...Object.keys(IMPACTS)),
  ...pageQuery({ max: 1_000, fallback: 100 }),
})

export const jobParams = Joi.object({ job_id: Joi.string().max(100).required() })
