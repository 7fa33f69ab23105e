import { v7 } from 'uuid'
import type { Connector } from '../../../connectors/connector.ts'
import { formatName } from '../../../connectors/catalog.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { apiError, unknownName } from '../../../server/http/errors.ts'
import { fromApiNames } from '../../../server/http/fields.ts'
import { CLOSED_BREAKER } from './breaker.ts'
import { requireByteLimit } from './byte-limit.ts'
import { connectorOf, mergeConfig, sealNewConfig, type ConfigDeps, type SourceConfig } from './config.ts'
import type { CatalogDeps, Connectors } from '../deps.ts'
import { Source, type FreshnessDefaults } from '../models.ts'
import { inChunks } from '../discovery/store.ts'
import { derivePersonalColumns } from '../tags/personal-columns.ts'
import { classifyAll, forgetAutomatic } from '../tags/tags.ts'
import { lockSource } from '../locks.ts'

/** How a source is to be treated; as in the columns of the same names. */
interface SourceSettings {
  query_access_level?: Source['queryAccessLevel']
  max_concurrency?: number
  statement_timeout_seconds?: number | null
  max_bytes_per_statement?: number | null
  include_patterns?: string[]
  exclude_patterns?: string[]
  auto_tag_enabled?: boolean
  freshness_defaults?: FreshnessDefaults | null
}

/** The body of `POST /sdk/assets`, validated. */
export interface NewSource extends SourceSettings {
  name: string
  source_type: string
  connection_config: SourceConfig
  description?: string
  discovery_interval: string
}

/** Makes a source. Nothing is dialled yet. */
export async function createSource(deps: ConfigDeps, trx: Transaction, companyId: string, body: NewSource) {
  await assertFreeName(trx, body.name)
  const connector = findConnector(deps.connectors, body.source_type)
  requireByteLimit(connector, body)
  const id = v7()
  const { connection_config: config, ...columns } = body
  return Source.query(trx).insertAndFetch({
    ...(fromApiNames(columns) as Partial<Source>),
    id,
    nextRunAt: body.discovery_interval === 'off' ? null : new Date(),
    ...sealNewConfig(deps.vault, connector, { companyId, id }, config),
  })
}

/** The body of `PATCH /sdk/assets/{id}`, validated. */
export interface SourcePatch extends SourceSettings {
  name?: string
  description?: string | null
  connection_config?: SourceConfig
  is_active?: boolean
  discovery_interval?: string
}

/**
 * Changes what is given; a connection config is merged, and a secret left out is kept. A source that is switched off
 * has the alerts closed that only a look at it could close; those of schema changes are left to their acknowledgement.
 */
export async function patchSource(deps: CatalogDeps, trx: Transaction, sourceId: string, patch: SourcePatch) {
  // When two patch at once, the later one has to start from what the first one made of it.
  // One that is switched off waits for the scans that are being recorded, and then finds their alerts.
  const source = await lockSource(trx, sourceId, { alone: patch.is_active === false })
  if (patch.name !== undefined && patch.name !== source.name) await assertFreeName(trx, patch.name)
  if (patch.max_bytes_per_statement != null) requireByteLimit(connectorOf(deps.connectors, source), patch)
  const { name: formerName } = source
  const { connection_config: config, ...columns } = patch
  const { discovery_interval: interval } = patch
  const changed = await Source.query(trx).patchAndFetchById(source.id, {
    ...(fromApiNames(columns) as Partial<Source>),
    ...(interval !== undefined &&
      interval !== source.discoveryInterval &&
      (interval === 'off' ? { nextRunAt: null, retryAt: null } : { nextRunAt: new Date() })),
    ...(config && { ...mergeConfig(deps, source, config), ...CLOSED_BREAKER }),
    ...(patch.is_active === true && CLOSED_BREAKER),
    updatedAt: new Date(),
  })
  if (changed.name !== formerName) await renameTables(trx, changed, formerName)
  if (changed.autoTagEnabled !== source.autoTagEnabled) {
    await (changed.autoTagEnabled ? classifyAll(trx, changed) : forgetAutomatic(trx, changed))
    await derivePersonalColumns(deps.extensions, trx, [changed.id])
  }
  if (patch.is_active === false)
    await deps.alerts.resolveOrphaned(trx, { sourceId: source.id, onlyRechecked: true })
  return changed
}

/**
 * Removes a source with all rows that name it or a table of it. Its alerts stay as history, and are resolved.
 * @throws 404 `ASSET_NOT_FOUND` when it was removed meanwhile
 */
export async function removeSource(
  { alerts, extensions }: Pick<CatalogDeps, 'alerts' | 'extensions'>,
  trx: Transaction,
  { id }: Source,
): Promise<void> {
  // First its row, which scans hold, then those of its rules and schedules, and last the alerts of them.
  const { companyId } = await lockSource(trx, id, { alone: true })
  const tables = await rows<{ id: string }>(
    trx,
    'select id from tables where company_id = :companyId and source_id = :id',
    { companyId, id },
  )
  const tableIds = tables.map(table => table.id)
  for (const extension of extensions) await extension.releaseTables?.(trx, tableIds)
  await Source.query(trx).deleteById(id)
  await alerts.resolveOrphaned(trx, { sourceId: id })
  // After the alerts, whose last messages go by the rules that name the source.
  const assetIds = [id, ...tableIds]
  await alerts.forgetAssets(trx, assetIds)
  for (const extension of extensions) await extension.forgetAssets?.(trx, assetIds)
}

/** Qualified names start with the source's name. */
async function renameTables(trx: Transaction, source: Source, formerName: string): Promise<void> {
  const tables = await rows<{ id: string }>(
    trx,
    'select id from tables where company_id = ? and source_id = ?',
    [source.companyId, source.id],
  )
  const ids = tables.map(({ id }) => id)
  await inChunks(ids, some =>
    trx.raw(
      `update tables set qualified_name = ? || substr(qualified_name, char_length(?) + 1)
         where company_id = ? and id = any(?)`,
      [formatName([source.name]), formatName([formerName]), source.companyId, some],
    ),
  )
}

function findConnector(connectors: Connectors, name: string): Connector {
  if (connectors.has(name)) return connectors.get(name)
  throw unknownName('source_type', name, connectors.names())
}

async function assertFreeName(trx: Transaction, name: string): Promise<void> {
  const [taken] = await Source.query(trx).where('name', name).limit(1)
  if (taken)
    throw apiError('CONFLICT', `There is a source named ${name} already: choose another name`, {
      field: 'name',
    })
}

/** Refuses a check or discovery of a source that is paused. */
export function sourceInactive({ id, name }: Source): Error {
  return apiError('CONFLICT', `The source ${name} is switched off: set its is_active to true first`, {
    asset_id: id,
  })
}
