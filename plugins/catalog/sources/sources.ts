import type { Server } from '@hapi/hapi'
import { v7 } from 'uuid'
import type { Connector, Stage } from '../../../connectors/connector.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { formatName } from '../../../connectors/catalog.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import { CLOSED, isPause } from './breaker.ts'
import { changedConfig, newConfig, type Config } from './config.ts'
import { failureOf, testConnection } from './connections.ts'
import type { AssetExtension } from '../assets/asset-extensions.ts'
import { Run, Source, type FreshnessDefaults } from '../models.ts'
import { discoverJob } from '../discovery/jobs.ts'
import { inParts } from '../discovery/store.ts'
import { classifyAll, forgetAutomatic } from '../tags/tags.ts'
import { lockSource } from '../locks.ts'

/** How a source is to be treated; as in the columns of the same names. */
interface Treatment {
  query_access_level?: Source['queryAccessLevel']
  max_concurrency?: number
  statement_timeout_seconds?: number | null
  include_patterns?: string[]
  exclude_patterns?: string[]
  auto_tag_enabled?: boolean
  freshness_defaults?: FreshnessDefaults | null
}

function treatmentOf(body: Treatment): Partial<Source> {
  return {
    queryAccessLevel: body.query_access_level,
    maxConcurrency: body.max_concurrency,
    statementTimeoutSeconds: body.statement_timeout_seconds,
    includePatterns: body.include_patterns,
    excludePatterns: body.exclude_patterns,
    autoTagEnabled: body.auto_tag_enabled,
    freshnessDefaults: body.freshness_defaults,
  }
}

/** The body of `POST /sdk/assets`, validated. */
export interface NewSource extends Treatment {
  name: string
  source_type: string
  connection_config: Config
  description?: string
  discovery_interval: string
}

/** Makes a source. Nothing is dialled yet. */
export async function createSource(
  server: Server,
  trx: Transaction,
  companyId: string,
  body: NewSource,
): Promise<Source> {
  await assertFreeName(trx, body.name)
  const connector = engineOf(server, body.source_type)
  const id = v7()
  return Source.query(trx).insertAndFetch({
    id,
    name: body.name,
    sourceType: body.source_type,
    description: body.description ?? null,
    discoveryInterval: body.discovery_interval,
    nextRunAt: body.discovery_interval === 'off' ? null : new Date(),
    ...treatmentOf(body),
    ...newConfig(server, connector, { companyId, id }, body.connection_config),
  })
}

/** The body of `PATCH /sdk/assets/{id}`, validated. */
export interface SourcePatch extends Treatment {
  name?: string
  description?: string | null
  connection_config?: Config
  is_active?: boolean
  discovery_interval?: string
}

/**
 * Changes what is given; a connection config is merged, and a secret left out is kept. A source that is switched off
 * has the alerts closed that only a look at it could close; those of schema changes are left to their acknowledgement.
 */
export async function patchSource(
  server: Server,
  trx: Transaction,
  sourceId: string,
  patch: SourcePatch,
): Promise<Source> {
  // Of two at once, the later one has to start from what the first one made of it.
  // One that is switched off waits for the scans that are being recorded, and then finds their alerts.
  const source = await lockSource(trx, sourceId, { alone: patch.is_active === false })
  if (patch.name !== undefined && patch.name !== source.name) await assertFreeName(trx, patch.name)
  const { name: formerName } = source
  const { discovery_interval: interval } = patch
  const changed = await Source.query(trx).patchAndFetchById(source.id, {
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.description !== undefined && { description: patch.description }),
    ...(patch.is_active !== undefined && { isActive: patch.is_active }),
    ...treatmentOf(patch),
    ...(interval !== undefined &&
      interval !== source.discoveryInterval && {
        discoveryInterval: interval,
        ...(interval === 'off' ? { nextRunAt: null, retryAt: null } : { nextRunAt: new Date() }),
      }),
    ...(patch.connection_config && {
      ...changedConfig(server, source, patch.connection_config),
      ...CLOSED,
    }),
    ...(patch.is_active === true && CLOSED),
    updatedAt: new Date(),
  })
  if (changed.name !== formerName) await renameTables(trx, changed, formerName)
  if (changed.autoTagEnabled !== source.autoTagEnabled)
    await (changed.autoTagEnabled ? classifyAll(trx, changed) : forgetAutomatic(trx, changed))
  if (patch.is_active === false)
    await server.plugins.alerts.resolveOrphaned(trx, {
      sourceId: source.id,
      onlyRechecked: true,
    })
  return changed
}

/**
 * Removes a source with all rows that name it or a table of it. Its alerts stay as history, and are resolved.
 * @throws 404 `ASSET_NOT_FOUND` when it was removed meanwhile
 */
export async function removeSource(
  server: Server,
  trx: Transaction,
  { id }: Source,
  extensions: readonly AssetExtension[],
): Promise<void> {
  // First its row, which scans hold, then those of its rules and schedules, and last the alerts of them.
  const { companyId } = await lockSource(trx, id, { alone: true })
  const tables = await rows<{ id: string }>(
    trx,
    'select id from tables where company_id = :companyId and source_id = :id',
    { companyId, id },
  )
  await Source.query(trx).deleteById(id)
  await server.plugins.alerts.resolveOrphaned(trx, { sourceId: id })
  // After the alerts, whose last messages go by the rules that name the source.
  const assetIds = [id, ...tables.map(table => table.id)]
  await server.plugins.alerts.forgetAssets(trx, assetIds)
  for (const extension of extensions) await extension.forgetAssets?.(trx, assetIds)
}

/** Qualified names start with the source's name. */
async function renameTables(trx: Transaction, source: Source, formerName: string): Promise<void> {
  const tables = await rows<{ id: string }>(
    trx,
    'select id from tables where company_id = ? and source_id = ?',
    [source.companyId, source.id],
  )
  await inParts(
    tables.map(({ id }) => id),
    some =>
      trx.raw(
        `update tables set qualified_name = ? || substr(qualified_name, char_length(?) + 1)
         where company_id = ? and id = any(?)`,
        [formatName([source.name]), formatName([formerName]), source.companyId, some],
      ),
  )
}

function engineOf(server: Server, name: string): Connector {
  if (server.connectors.has(name)) return server.connectors.get(name)
  throw invalidField('source_type', `must be one of ${server.connectors.names().join(', ')}`)
}

async function assertFreeName(trx: Transaction, name: string): Promise<void> {
  const [taken] = await Source.query(trx).where('name', name).limit(1)
  if (taken)
    throw apiError('CONFLICT', `There is a source named ${name} already: choose another name`, {
      field: 'name',
    })
}

/** The reply of a connection test. */
export interface Tested {
  success: boolean
  latency_ms: number
  error_code: string | null
  error_message: string | null
  tested_at: string
  stages: { name: string; status: string; latency_ms: number; message: string }[]
}

/**
 * Tests the connection of a source for a caller, who is answered with the outcome: it raises no alert. A success resolves
 * an open one. `tell` records the outcome in the same transaction.
 */
export async function testSource(
  server: Server,
  source: Source,
  tell: (trx: Transaction, errorCode: string | null) => Promise<unknown>,
): Promise<Tested> {
  const stages = await testConnection(server, source)
  const failed = stages.find(stage => stage.status === 'failed')
  const error = failed ? (failed.error ?? unknownFailure(source, failed)) : null
  const failure = error && failureOf(error)
  await server.db.company(source.companyId, async trx => {
    const tls = stages.find(({ name, status }) => name === 'tls' && status !== 'failed')
    // Skipped after an earlier stage failed, it tells nothing.
    if (tls && !failed)
      await Source.query(trx)
        .findById(source.id)
        .patch({ isEncrypted: tls.status === 'passed' })
    await noteConnection(server, trx, source, error, { isByHand: true })
    await tell(trx, failure?.code ?? null)
  })
  return {
    success: !failed,
    latency_ms: stages.reduce((sum, stage) => sum + Math.round(stage.latencyMs), 0),
    error_code: failure?.code ?? null,
    error_message: failure?.message ?? null,
    tested_at: new Date().toISOString(),
    stages: stages.map(({ name, status, latencyMs, message }) => ({
      name,
      status,
      latency_ms: Math.round(latencyMs),
      message,
    })),
  }
}

function unknownFailure(source: Source, stage: Stage): ConnectorError {
  return new ConnectorError({ kind: 'other', engine: source.sourceType, message: stage.message })
}

/** What an event of a source as a whole is about; alert rules go by its tags too. */
export function about({ id, name, tags }: Source) {
  return { sourceId: id, asset: { id, qualifiedName: formatName([name]), assetType: 'source', tags } }
}

/**
 * Remembers whether a source could be reached, and opens or closes its `connection_failed` alert. Of one that is
 * switched off or removed, nobody would close the alert: none is opened. One that was left alone was not tried, and one
 * whose connection was changed meanwhile was not tried as it is now.
 * @param options `isByHand` if a caller waits for the outcome: a failure then raises no alert
 */
export async function noteConnection(
  server: Server,
  trx: Transaction,
  source: Source,
  error: Error | null,
  options: { isByHand?: boolean } = {},
): Promise<void> {
  if (isPause(error)) return
  const failure = error && failureOf(error)
  const [noted] = await Source.query(trx)
    .where({ id: source.id, secrets: source.secrets })
    .patch({
      connectionStatus: failure ? 'failed' : 'connected',
      connectionError: failure,
      testedAt: new Date(),
    })
    .returning('isActive')
  if (!noted) return
  if (!failure) {
    await server.plugins.alerts.resolve(trx, 'connection_failed', source.id)
    return
  }
  if (!noted.isActive || options.isByHand) return
  await server.plugins.alerts.raise(trx, {
    type: 'connection_failed',
    cause: source.id,
    severity: 'critical',
    ...about(source),
    ruleName: 'Connection',
    title: `${source.name} cannot be read: ${failure.message}`,
    details: { error_code: failure.code, error_message: failure.message },
  })
}

/** Asks for a discovery; while one waits or runs, that one is the answer. */
export async function requestDiscovery(server: Server, trx: Transaction, source: Source): Promise<Run> {
  const id = v7()
  const made = await rows(
    trx,
    `insert into runs (id, company_id, workflow_name, source_id, asset_id)
     values (:id, :companyId, 'discovery', :sourceId, :sourceId)
     on conflict do nothing returning id`,
    { id, companyId: source.companyId, sourceId: source.id },
  )
  if (made.length > 0) {
    await Source.query(trx).findById(source.id).patch({ discoveryState: 'queued', retryAt: null })
    await server.jobs.send(
      discoverJob,
      { company_id: source.companyId, run_id: id },
      { trx, group: source.companyId },
    )
  }
  const [run] = await Run.query(trx)
    .where({ sourceId: source.id, workflowName: 'discovery' })
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
  if (!run) throw new Error('A discovery was asked for and is not stored')
  return run
}

/** Refuses a check or discovery of a source that is paused. */
export function switchedOff({ id, name }: Source): Error {
  return apiError('CONFLICT', `The source ${name} is switched off: set its is_active to true first`, {
    asset_id: id,
  })
}
