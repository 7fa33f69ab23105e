import type { ServerRoute } from '@hapi/hapi'
import { formatName } from '../../../connectors/catalog.ts'
import { access, caller, inCompany, routesOf, type AnyRequest } from '../../../server/http/access.ts'
import { auditorOf, auditRequest, fieldsOf } from '../../../server/http/audit.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import { param } from '../../../server/http/input.ts'
import { waitHeaders } from '../../../server/http/run-accepted.ts'
import { findAsset, UUID } from '../assets/assets.ts'
import { changeTable, withoutTableFields } from '../assets/change-table.ts'
import { Run, Source } from '../models.ts'
import type { CatalogDeps } from '../deps.ts'
import { presentRun, presentSource } from '../assets/present.ts'
import { replies } from '../assets/replies.ts'
import { answerStarted } from '../discovery/runs.ts'
import * as schemas from '../schemas.ts'
import { createSource, patchSource, removeSource, sourceInactive } from './sources.ts'
import { lockRun, lockSource } from '../locks.ts'
import { requestDiscovery } from '../discovery/jobs.ts'
import { makeTablePreview } from '../discovery/table-preview.ts'
import { connectorOf } from './config.ts'
import { testSource } from './connection-status.ts'

const route = routesOf('assets')
const jobRoute = routesOf('jobs')

/** Per source, for all callers together. */
const DISCOVERIES_AN_HOUR = 10

const audit = auditorOf('source', ({ id }: Source) => id)

/** The source that the path names. @throws 404 `ASSET_NOT_FOUND`, 400 `VALIDATION_ERROR` for a table */
export async function findSource(trx: Transaction, request: AnyRequest): Promise<Source> {
  const { source, table } = await findAsset(trx, param(request, 'asset_id'))
  if (!table) return source
  throw invalidField('asset_id', `is a table; give its source, ${formatName([source.name])}`, {
    asset_id: source.id,
  })
}

/** The routes that manage sources, and those of the jobs on them. */
export function sourceRoutes(deps: CatalogDeps): ServerRoute[] {
  const { connectors, extensions, jobs } = deps
  const previewTables = makeTablePreview(deps)
  const present = (trx: Transaction, source: Source) => presentSource(connectors, trx, source, extensions)

  return [
    route('POST', '/api/v1/sdk/assets', access.write, {
      id: 'createSource',
      description: 'Add a source',
      notes:
        'The fields of `connection_config` depend on `source_type`. Nothing connects yet: test the connection, then discover the source. Secrets are encrypted and never returned.',
      validate: { payload: schemas.newSource },
      response: replies.source,
      handler: async (request, h) => {
        const { companyId } = caller(request)
        const data = await inCompany(request, async trx => {
          const source = await createSource(deps, trx, companyId, request.payload)
          const record = await present(trx, source)
          const { name, sourceType } = source
          await audit(request, trx, 'created', source, { name, source_type: sourceType })
          return record
        })
        return h.response({ data }).code(201)
      },
    }),
    route('PATCH', '/api/v1/sdk/assets/{asset_id}', access.write, {
      description: 'Change a source, or the description and default window of a table',
      notes:
        'Fields that are left out keep their values; `connection_config` is merged, and a secret that is left out is kept. A new host or port needs the secret again. The `default_window` of a table is replaced as a whole; null removes it. Existing checks stay as they are.',
      validate: { params: schemas.assetParams, payload: schemas.assetPatch },
      response: replies.asset,
      handler: request =>
        inCompany(request, async trx => {
          const patch = request.payload
          const { source, table } = await findAsset(trx, param(request, 'asset_id'))
          const data = table
            ? await changeTable(deps, trx, { source, table }, patch)
            : await present(trx, await patchSource(deps, trx, source.id, withoutTableFields(patch)))
          const type = table ? 'table' : 'source'
          await auditRequest(request, trx, {
            action: `${type}.updated`,
            target: { type, id: (table ?? source).id },
            details: { fields: fieldsOf(patch) },
          })
          return { data }
        }),
    }),
    route('DELETE', '/api/v1/sdk/assets/{asset_id}', access.write, {
      id: 'deleteSource',
      description: 'Remove a source with its tables, checks and results',
      notes:
        'It cannot be undone. Use `is_active: false` to pause a source. A table cannot be removed by hand.',
      validate: { params: schemas.assetParams },
      response: replies.sourceRemoved,
      handler: request =>
        inCompany(request, async trx => {
          const source = await findSource(trx, request)
          await removeSource(deps, trx, source)
          const { name } = source
          await audit(request, trx, 'removed', source, { name })
          return { data: { success: true, message: `Source ${name} was removed` } }
        }),
    }),
    route('POST', '/api/v1/sdk/assets/{asset_id}/test-connection', access.write, {
      id: 'testConnection',
      description: 'Try the connection stage by stage',
      notes: 'A failure is the answer and raises no alert; a success resolves an open one.',
      validate: { params: schemas.assetParams },
      response: replies.tested,
      handler: async request => {
        const source = await inCompany(request, trx => findSource(trx, request))
        connectorOf(connectors, source)
        const auditTest = (trx: Transaction, code: string | null) =>
          audit(request, trx, 'tested', source, { success: code === null, error_code: code })
        return { data: await testSource(deps, source, auditTest) }
      },
    }),
    route('POST', '/api/v1/sdk/assets/{asset_id}/preview-tables', access.write, {
      description: 'Count the tables that patterns would leave in',
      notes:
        'Reads the catalog of the source at most once in five minutes, and stores nothing. Use it before the patterns of a source are changed. A source that cannot be read is 200 with `error_message`.',
      validate: { params: schemas.assetParams, payload: schemas.tablePreview },
      response: replies.tablePreview,
      handler: async request => {
        const source = await inCompany(request, trx => findSource(trx, request))
        connectorOf(connectors, source)
        return { data: await previewTables(source, request.payload) }
      },
    }),
    route('POST', '/api/v1/sdk/assets/{asset_id}/discover', access.write, {
      description: 'Discover a source',
      notes:
        'Starts a job that reads the catalog and records what changed. Replies 202 with the job at once; with `Prefer: wait=N` 200 with the finished job. At most 10 per hour and source.',
      validate: { params: schemas.assetParams, headers: waitHeaders },
      response: replies.discovery,
      handler: async (request, h) => {
        const source = await inCompany(request, trx => findSource(trx, request))
        if (!source.isActive) throw sourceInactive(source)
        connectorOf(connectors, source)
        await request.server.limits.take(`discovery:${source.id}`, DISCOVERIES_AN_HOUR, 3_600, request)
        const run = await inCompany(request, async trx => {
          const asked = await requestDiscovery(jobs, trx, source)
          await audit(request, trx, 'discovery_requested', source, { job_id: asked.id })
          return asked
        })
        return answerStarted(request, h, 'Discovery', run, {
          asset_id: run.assetId,
          started_at: run.createdAt,
        })
      },
    }),
    jobRoute('GET', '/api/v1/sdk/jobs/{job_id}', access.read, {
      description: 'Get a job',
      notes: 'Ask until `status` is completed, failed or cancelled.',
      validate: { params: schemas.jobParams },
      response: replies.job,
      handler: request =>
        inCompany(request, async trx => ({ data: presentRun(await findRun(trx, request)) })),
    }),
    jobRoute('POST', '/api/v1/sdk/jobs/{job_id}/cancel', access.write, {
      description: 'Cancel a job',
      notes: 'A waiting or running job. A finished one is 409.',
      validate: { params: schemas.jobParams },
      response: replies.job,
      handler: request =>
        inCompany(request, async trx => {
          const { sourceId } = await findRun(trx, request)
          const { lastDiscoveryAt } = await lockSource(trx, sourceId)
          const run = await findRun(trx, request, lockRun)
          if (run.status !== 'pending' && run.status !== 'running') {
            throw apiError('CONFLICT', `The job is ${run.status} already`, { status: run.status })
          }
          const discoveryState = lastDiscoveryAt === null ? 'never' : 'completed'
          if (run.workflowName === 'discovery')
            await Source.query(trx).findById(run.sourceId).patch({ discoveryState })
          const cancelled = await Run.query(trx).patchAndFetchById(run.id, {
            status: 'cancelled',
            completedAt: new Date(),
          })
          await auditRequest(request, trx, { action: 'job.cancelled', target: { type: 'job', id: run.id } })
          return { data: presentRun(cancelled) }
        }),
    }),
  ]
}

async function findRun(
  trx: Transaction,
  request: AnyRequest,
  find = async (_: Transaction, id: string) => Run.query(trx).findById(id),
): Promise<Run> {
  const id = param(request, 'job_id')
  const run = UUID.test(id) ? await find(trx, id) : undefined
  if (!run) throw apiError('JOB_NOT_FOUND', 'There is no such job', { job_id: id })
  return run
}
