import Joi from 'joi'
import type { Connector } from '../../connectors/connector.ts'
import { CHECK_INTERVAL, SLA_THRESHOLD } from '../../server/settings/durations.ts'
import { pageQuery, type Page, queryBoolean, queryInteger, queryWords } from '../../server/http/page.ts'
import { TABLE_KINDS } from '../../connectors/catalog.ts'
import { TIMEZONE } from '../../server/settings/timezones.ts'
import { IMPACTS } from './drift/diff.ts'
import { patternList } from './discovery/patterns.ts'
import { TABLE_FILTERS } from './assets/asset-extensions.ts'
import type { AssetListQuery } from './assets/lists.ts'
import type { TablePatch } from './assets/change-table.ts'
import type { TableFilterQuery } from './assets/table-filters.ts'
import { tableWindowBody } from '../../server/http/check-schemas.ts'
import type { TablePreviewRequest } from './discovery/table-preview.ts'
import type { NewSource, SourcePatch } from './sources/sources.ts'

const DISCOVERY_INTERVALS = ['off', 'hourly', 'every_4_hours', 'daily', 'weekly']

export const assetParams = Joi.object({ asset_id: Joi.string().max(1_000).required() })

const timezone = TIMEZONE.description(
  'The zone of timestamps that name none; without one, that of the setting TIMEZONE.',
)

/** What the engine asks for; its connector's schema checks that. */
const connectionConfig = (own: Joi.Schema) =>
  Joi.object({ timezone: own })
    .unknown()
    .description('The fields of the engine. Of any engine also timezone.')

/** The fields of an engine, and those of any. */
export const connectionOf = ({ config }: Connector) => config.keys({ timezone })

const freshnessDefaults = Joi.object({
  monitoring_mode: Joi.string().valid('auto_learn', 'explicit'),
  sla_threshold: SLA_THRESHOLD.when('monitoring_mode', { is: 'explicit', then: Joi.required() }).messages({
    'any.required': '{{#label}} is required with monitoring_mode explicit, such as 24h',
  }),
  check_interval: CHECK_INTERVAL,
  freshness_columns: Joi.array()
    .items(Joi.string().max(255))
    .min(1)
    .max(20)
    .unique((a: string, b: string) => a.toLowerCase() === b.toLowerCase())
    .description('Columns with the time a row was written, the most reliable first; case is ignored.'),
})
  .min(1)
  .allow(null)
  .messages({ 'object.min': '{{#label}} must name a default; null takes all of them out' })
  .description('What freshness schedules made from now on have where they name nothing else.')

/** What BigQuery bills a statement for at least. */
const MIN_BYTES_PER_STATEMENT = 10 * 1024 * 1024

const treatment = {
  query_access_level: Joi.string()
    .valid('schema_only', 'aggregates', 'full')
    .description('What may be asked of it: its catalog, numbers of its rows, or rows.'),
  max_concurrency: Joi.number()
    .strict()
    .integer()
    .min(1)
    .max(20)
    .description('Sessions that may be open there at once.'),
  statement_timeout_seconds: Joi.number()
    .strict()
    .integer()
    .min(1)
    .max(3_600)
    .allow(null)
    .description('Null means the setting STATEMENT_TIMEOUT.'),
  max_bytes_per_statement: Joi.number()
    .strict()
    .integer()
    .min(MIN_BYTES_PER_STATEMENT)
    .allow(null)
    .description(
      'A statement that would read more bytes, as the engine estimates, is not run. Null means no limit.',
    ),
  include_patterns: patternList.description('Tables that are read, as globs; all unless given.'),
  exclude_patterns: patternList.description('Tables that are not, even if included.'),
  auto_tag_enabled: Joi.boolean()
    .strict()
    .description('Whether discoveries tag columns by their names and types.'),
  freshness_defaults: freshnessDefaults,
}

export const newSource = Joi.object<NewSource>({
  name: Joi.string().trim().min(1).max(200).required(),
  source_type: Joi.string()
    .required()
    .meta({ openapi: { 'x-words': 'source_type' } })
    .description('Its engine: postgresql, mysql, …'),
  connection_config: connectionConfig(timezone)
    .required()
    .meta({ openapi: { 'x-choices': 'connection_config' } })
    .description('What `source_type` asks for. Secrets are never returned.'),
  description: Joi.string().allow('').max(2_000),
  discovery_interval: Joi.string()
    .valid(...DISCOVERY_INTERVALS)
    .default('off')
    .description('How often its catalog is read by itself.'),
  ...treatment,
})
  .required()
  .example({
    name: 'shop',
    source_type: 'postgresql',
    connection_config: {
      host: 'db.example.com',
      port: 5432,
      database: 'shop',
      username: 'tidemark',
      password: 'a secret',
      sslmode: 'verify-full',
    },
    discovery_interval: 'daily',
  })

export const assetPatch = Joi.object<SourcePatch & TablePatch>({
  name: Joi.string().trim().min(1).max(200),
  description: Joi.string().allow('', null).max(2_000),
  connection_config: connectionConfig(timezone.allow(null)),
  is_active: Joi.boolean().strict(),
  discovery_interval: Joi.string().valid(...DISCOVERY_INTERVALS),
  ...treatment,
  default_window: tableWindowBody
    .allow(null)
    .description('The window of new rules and metrics of a table that name none; null for all rows.'),
})
  .min(1)
  .required()
  .example({ discovery_interval: 'daily', include_patterns: ['public.*'] })

export const tablePreview = Joi.object<TablePreviewRequest>({
  include_patterns: treatment.include_patterns,
  exclude_patterns: treatment.exclude_patterns,
})
  .required()
  .example({ include_patterns: ['public.*'], exclude_patterns: ['tmp_*'] })

/** Several names, separated by commas, of which any will do. */
const names = (description: string) =>
  Joi.string()
    .max(1_000)
    .meta({
      openapi: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 1_000 }, minItems: 1 },
    })
    .custom((text: string, helpers) => {
      const given = text.split(',').map(name => name.trim())
      return given.includes('') ? helpers.error('names.empty') : [...new Set(given)]
    })
    .messages({ 'names.empty': '{{#label}} must be names separated by commas, none of them empty' })
    .description(description)

export const assetList = Joi.object<AssetListQuery & TableFilterQuery>({
  ...pageQuery(),
  source: Joi.string()
    .max(200)
    .description(
      'The name of a source; or an engine, such as postgresql, for all sources of it unless one has this name.',
    ),
  asset_type: queryWords(['source', ...TABLE_KINDS]),
  search: Joi.string().max(200).description('A part of the name, in any case; there are no wildcards.'),
  schema: names('Schemas, separated by commas; tables of any of them are listed.'),
  // Names of schemas are as their engines have them; those of tags are stored composed.
  tag: names(
    'Tags, separated by commas: of the asset; for a table also those of its source and its columns.',
  ).normalize('NFC'),
  quality_status: queryWords(TABLE_FILTERS.quality_status).description(
    'Only tables whose active checks together are passing, failing or in error, the worst of them counts; or none: no check of them has run.',
  ),
  freshness_status: queryWords(TABLE_FILTERS.freshness_status).description(
    'Only tables that are fresh or stale, whose last freshness check was an error, or whose freshness is unknown, as without a schedule.',
  ),
  has_open_alerts: queryBoolean.description(
    'Only tables with triggered or acknowledged alerts, or only those without.',
  ),
  sort: Joi.string()
    .valid('created_at', 'name', 'status')
    .default('created_at')
    .description(
      'Sources come first in any case. By status, tables whose checks fail or could not run come first, then stale ones, then those with open alerts, each by name.',
    ),
  order: Joi.string()
    .valid('asc', 'desc')
    .description('By default desc, the newest first, of created_at, and asc of name and status.'),
})

export const assetQuery = Joi.object<{ include_columns: boolean }>({
  include_columns: queryBoolean.default(true).description('Whether a table comes with its columns.'),
})

export interface AssetChangesQuery extends Page {
  days_back: number
  change_type?: string
}

export const changesQuery = Joi.object<AssetChangesQuery>({
  days_back: queryInteger(1, 365).default(30),
  change_type: Joi.string()
    .valid(...Object.keys(IMPACTS))
    .description('Only changes of this type.'),
  ...pageQuery({ max: 1_000, fallback: 100 }),
})

export const jobParams = Joi.object({ job_id: Joi.string().max(100).required() })
