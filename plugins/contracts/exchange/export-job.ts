import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { v7, validate as isUuid } from 'uuid'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { databaseNow } from '../../../server/database/now.ts'
import { apiError, hasErrorData, invalidField } from '../../../server/http/errors.ts'
import { runJob } from '../../../server/jobs/run-job.ts'
import type { Source, Table } from '../../catalog/api.ts'
import { ContractExport, type ExportRequest } from '../models.ts'
import { chooseDomains } from './domains.ts'
import { draftContract, writeContract, type DraftOptions } from './draft.ts'
import { writeZip } from './zip.ts'

/** Tables of one contract: more would make no file that people can read. */
export const MAX_TABLES = 500
/** Sources in one archive. */
const MAX_SOURCES = 1_000
const MAX_ARCHIVE_BYTES = 64 * 1024 * 1024
/** How long an archive can be downloaded. */
export const KEPT_HOURS = 24

/** Writes the contracts of several sources into an archive. */
export const exportJob = runJob<{ company_id: string; export_id: string }>({
  name: 'contracts.export',
  data: { export_id: Joi.string().guid().required() },
  expireSeconds: 3_600,
  async work({ company_id: companyId, export_id: exportId }, { server }) {
    const request = await server.db.company(companyId, trx => beginExport(trx, exportId))
    if (!request) return { status: 'gone' }
    const files = await writeFiles(server, companyId, request)
    const archive = await writeZip(files)
    if (archive.length > MAX_ARCHIVE_BYTES)
      throw apiError('PAYLOAD_TOO_LARGE', 'The archive is larger than 64 MiB: export fewer sources')
    const end = { status: 'completed' as const, archive, contracts: files.length }
    await server.db.company(companyId, trx => endExport(trx, exportId, end))
    return { status: 'completed', contracts: files.length }
  },
  fail(trx, { export_id: exportId }, error) {
    // What nobody foresaw may name things inside of this service: the log has it.
    const message = hasErrorData(error) ? error.message : 'Something unexpected went wrong; the log has more'
    return endExport(trx, exportId, { status: 'failed', error: message })
  },
})

/** Asks for an archive. @throws 400 for a scope that lacks its names, 404 for an unknown asset */
export async function requestExport(
  server: Server,
  trx: Transaction,
  request: ExportRequest,
): Promise<ContractExport> {
  await sourcesOf(server, trx, request)
  const asked = await ContractExport.query(trx).insertAndFetch({ id: v7(), status: 'pending', request })
  const data = { company_id: companyOf(trx), export_id: asked.id }
  await server.jobs.send(exportJob, data, { trx, group: companyOf(trx) })
  return asked
}

/** @throws 404 `JOB_NOT_FOUND` */
export async function findExport(trx: Transaction, exportId: string): Promise<ContractExport> {
  const found = isUuid(exportId)
    ? await ContractExport.query(trx)
        .findById(exportId.toLowerCase())
        .whereRaw('created_at >= now() - make_interval(hours => ?)', [KEPT_HOURS])
    : undefined
  if (found) return found
  const message = `There is no such export; an archive is kept for ${KEPT_HOURS} hours`
  throw apiError('JOB_NOT_FOUND', message, { job_id: exportId })
}

async function beginExport(trx: Transaction, exportId: string): Promise<ExportRequest | undefined> {
  const [begun] = await ContractExport.query(trx)
    .where('id', exportId)
    .whereIn('status', ['pending', 'running'])
    .patch({ status: 'running' })
    .returning('*')
  return begun?.request as ExportRequest | undefined
}

async function endExport(trx: Transaction, exportId: string, end: Partial<ContractExport>): Promise<void> {
  // Which sources it was of is no longer needed: it must not outlive them.
  await ContractExport.query(trx)
    .findById(exportId)
    .patch({ ...end, request: {}, completedAt: databaseNow() })
}

/** The sources, or tables, that a request is of. */
async function sourcesOf(
  server: Server,
  trx: Transaction,
  { scope, scope_name: name, asset_public_ids: ids = [] }: ExportRequest,
): Promise<{ source: Source; table?: Table }[]> {
  const { catalog } = server.plugins
  if (scope === 'warehouse') {
    if (name === undefined)
      throw invalidField('scope_name', 'is required with scope warehouse: the name of a source')
    return [await catalog.findAsset(trx, name)]
  }
  if (scope === 'assets') {
    if (ids.length === 0) throw invalidField('asset_public_ids', 'is required with scope assets')
    const assets = []
    for (const asset of new Set(ids)) assets.push(await catalog.findAsset(trx, asset))
    return assets
  }
  const sources = await rows<{ id: string }>(
    trx,
    'select id from sources where company_id = ? and table_count > 0 order by name, id limit ?',
    [companyOf(trx), MAX_SOURCES],
  )
  const all = []
  for (const source of sources) all.push(await catalog.findAsset(trx, source.id))
  return all
}

async function writeFiles(server: Server, companyId: string, request: ExportRequest) {
  const choice = chooseDomains(request.include, request.exclude)
  const assets = await server.db.company(companyId, trx => sourcesOf(server, trx, request))
  const files = []
  for (const [place, asset] of assets.entries()) {
    const text = await server.db.company(companyId, trx =>
      exportAsset(server, trx, asset, {
        domains: choice.domains,
        isExtended: request.mode === 'extended',
        isFromProfiles: false,
      }),
    )
    const name = (asset.table?.name ?? asset.source.name).replaceAll(/[^\w.-]+/g, '_')
    // Names may differ in other characters only.
    const number = assets.length > 1 ? `${String(place + 1).padStart(4, '0')}-` : ''
    files.push({ name: `${number}${name}.odcs.yaml`, content: Buffer.from(text) })
  }
  return files
}

/** The contract of an asset as YAML: of a source, that of its first tables. */
export async function exportAsset(
  server: Server,
  trx: Transaction,
  { source, table }: { source: Source; table?: Table },
  options: DraftOptions,
): Promise<string> {
  const ids = table
    ? []
    : await rows<{ id: string }>(
        trx,
        `select id from tables where company_id = ? and source_id = ? and is_active
         order by qualified_name, id limit ?`,
        [companyOf(trx), source.id, MAX_TABLES],
      )
  const tables = table
    ? [table]
    : await server.plugins.catalog.loadTables(
        trx,
        ids.map(each => each.id),
      )
  const inOrder = tables.toSorted((a, b) => (a.qualifiedName < b.qualifiedName ? -1 : 1))
  return writeContract(await draftContract(server, trx, { source, tables: inOrder }, options))
}
