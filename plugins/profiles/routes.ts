import type { ServerRoute } from '@hapi/hapi'
import { validate as isUuid } from 'uuid'
import {
  access,
  caller,
  inCompany,
  routesOf,
  type ValidRequest,
  type AnyRequest,
} from '../../server/http/access.ts'
import type { Transaction } from '../../server/database/database.ts'
import { apiError, invalidField } from '../../server/http/errors.ts'
import { param } from '../../server/http/input.ts'
import { newestFirst, pageOf, pagination } from '../../server/http/page.ts'
import { waitHeaders } from '../../server/http/run-accepted.ts'
import type { Jobs } from '../../server/jobs/jobs.ts'
import type { CatalogApi, TableContext } from '../catalog/api.ts'
import { diffProfiles } from './diff.ts'
import { profileJob } from './job.ts'
import { Profile } from './models.ts'
import { presentProfile, presentSummary } from './present.ts'
import { resolveTarget, type ProfileRequest } from './profile.ts'
import { assetParams, listQuery, profileBody, profileQuery, replies, tableParams } from './schemas.ts'
import { readProfile, shownValues, type ShownValues } from './store.ts'

const route = routesOf('profiles')

interface RoutesDeps {
  catalog: CatalogApi
  jobs: Jobs
}

/** Lists leave the columns out. */
const NO_VALUES: ShownValues = { masked: new Set(), showsValues: false }

export const routes = ({ catalog, jobs }: RoutesDeps): ServerRoute[] => [
  route('POST', '/api/v1/sdk/assets/{asset_id}/profile', access.write, {
    id: 'createProfile',
    description: 'Profile a table, or tables of a source',
    notes:
      'Counts, distinct values, extremes, quantiles, text lengths, frequent values and patterns of each column. Replies 202 with the job at once; with `Prefer: wait=N` 200 with the finished job. A table above PROFILE_ROW_LIMIT is read as a sample.',
    validate: { params: assetParams, headers: waitHeaders, payload: profileBody },
    response: replies.started,
    app: { errors: ['ASSET_NOT_FOUND', 'CONFLICT'] },
    handler: async (request, h) => {
      const run = await inCompany(request, trx => requestProfile({ catalog, jobs }, request, trx))
      return catalog.answerStarted(request, h, 'Profile', run, { asset_id: run.assetId })
    },
  }),
  route('GET', '/api/v1/sdk/assets/{asset_id}/profile', access.read, {
    id: 'getProfile',
    description: 'Get the latest profile of a table',
    notes: 'With `compare_to` also what changed since an earlier one, by column and field.',
    validate: { params: tableParams, query: profileQuery },
    response: replies.profile,
    app: { errors: ['ASSET_NOT_FOUND', 'NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => {
        const { compare_to: compareTo } = request.query
        return { data: await readPresented(catalog, request, trx, compareTo) }
      }),
  }),
  route('GET', '/api/v1/sdk/assets/{asset_id}/profiles', access.read, {
    id: 'listProfiles',
    description: 'List the profiles of a table, newest first',
    notes: 'Without their columns. They are kept for RETENTION_RESULTS_DAYS.',
    validate: { params: tableParams, query: listQuery },
    response: replies.profiles,
    handler: request =>
      inCompany(request, async trx => {
        const { table } = await findTable(catalog, request, trx)
        const page = request.query
        const { results, total } = await pageOf(historyOf(trx, table.id), page)
        const data = results.map(row => presentSummary(readProfile(row, NO_VALUES)))
        return { data, pagination: pagination(total, page) }
      }),
  }),
]

async function requestProfile(
  { catalog, jobs }: RoutesDeps,
  request: ValidRequest<ProfileRequest | null, unknown>,
  trx: Transaction,
) {
  const { companyId } = caller(request)
  const body = request.payload ?? {}
  const target = await resolveTarget(catalog, trx, param(request, 'asset_id'), body)
  const { sourceId, tableId } = target
  const run = await catalog.startRun(trx, {
    workflowName: 'asset_profile',
    sourceId,
    assetId: tableId ?? sourceId,
  })
  const { include_patterns: include, exclude_patterns: exclude } = target
  const data = {
    company_id: companyId,
    source_id: sourceId,
    run_id: run.id,
    ...(tableId && { table_id: tableId }),
    ...(include && { include_patterns: include }),
    ...(exclude && { exclude_patterns: exclude }),
  }
  await jobs.send(profileJob, data, { trx, group: sourceId })
  return run
}

async function findTable(catalog: CatalogApi, request: AnyRequest, trx: Transaction): Promise<TableContext> {
  const { source, table } = await catalog.findAsset(trx, param(request, 'asset_id'))
  if (!table) throw invalidField('asset_id', 'is a source, but must be a table: each table has its profile')
  return { source, table }
}

function historyOf(trx: Transaction, tableId: string) {
  return Profile.query(trx).where({ tableId }).orderBy(newestFirst('profiledAt', 'id'))
}

async function readPresented(
  catalog: CatalogApi,
  request: AnyRequest,
  trx: Transaction,
  compareTo: string | undefined,
) {
  const loaded = await findTable(catalog, request, trx)
  const { source, table } = loaded
  const latest = await historyOf(trx, table.id).first()
  if (!latest) {
    const message = `${table.qualifiedName} was not profiled yet: POST /api/v1/sdk/assets/${table.id}/profile`
    throw apiError('NOT_FOUND', message, { asset_id: table.id })
  }
  const earlier = compareTo === undefined ? undefined : await findEarlier(trx, table.id, compareTo)
  const shown = (row: Profile) =>
    readProfile(row, shownValues(catalog, { source, table: { ...table, columns: row.columns } }))
  const profile = shown(latest)
  const diff = earlier ? diffProfiles(shown(earlier), profile) : null
  return presentProfile(profile, diff)
}

async function findEarlier(trx: Transaction, tableId: string, compareTo: string): Promise<Profile> {
  const history = historyOf(trx, tableId)
  const time = isUuid(compareTo) ? undefined : new Date(compareTo)
  if (time && !(time.getTime() > -62_135_596_800_000))
    throw invalidField('compare_to', 'must be the id of a profile or a time in ISO 8601')
  const found = await (time
    ? history.where('profiledAt', '<=', time).first()
    : history.where({ id: compareTo }).first())
  if (found) return found
  const hint = `GET /api/v1/sdk/assets/${tableId}/profiles lists them`
  throw invalidField('compare_to', `names no profile of this table: ${hint}`)
}
