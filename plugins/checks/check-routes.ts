import Joi from 'joi'
import {
  access,
  actorOf,
  caller,
  inCompany,
  routesOf,
  type ValidRequest,
  type AnyRequest,
} from '../../server/http/access.ts'
import { auditAtEnd, auditRequest, auditRequestAll } from '../../server/http/audit.ts'
import { warnOfChange, warnOfRemoval } from '../../server/http/check-owner.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { ExistingCheck } from '../../server/http/trial-schemas.ts'
import { apiError } from '../../server/http/errors.ts'
import { param } from '../../server/http/input.ts'
import { newestFirst, pageOf, pageQuery, pagination, type Page } from '../../server/http/page.ts'
import { pascalCase } from '../../server/openapi/components.ts'
import type { CheckResource, RecordEvent, StoppedCheck } from './api.ts'
import type { ShownFields } from './check-resource.ts'
import { outlookOf } from './create/outlook.ts'
import { findTwin, rowOfBody, warnOfTwin } from './create/twins.ts'
import { createForColumns } from './create/create-many.ts'
import { requireScopeForSql } from './create/caller-sql.ts'
import { auditEventOf, deleteCheck, patchCheck } from './declared/checks-of-resource.ts'
import type { CheckDeps } from './deps.ts'
import { publicIdOf } from './kind.ts'
import { CheckResult, type CheckRow } from './models.ts'
import { presentPartsUse } from './parts/parts-use.ts'
import { listQuery, listRows, presentTotals } from './list/resource-defaults.ts'
import { runRow } from './run/select.ts'
import { countChecks, findCheck } from './store.ts'
import type { StopListener } from './declared/declared-checks.ts'

const assetParams = Joi.object({ asset_id: Joi.string().max(1_000).required() })
const createQuery = Joi.object<{ if_equal: 'create' | 'refuse' }>({
  if_equal: Joi.valid('create', 'refuse')
    .default('create')
    .description(
      'What becomes of a check that equals an existing one: made with a warning, or refused (409).',
    ),
})
const resultQuery = Joi.object<Page>(pageQuery({ max: 1_000, fallback: 100 }))

/** What the endpoints of checks look up, and call. */
export interface CheckRouteHooks {
  onStop: StopListener
}

/** The eight endpoints that every kind of check has, and its dry run. */
export function checkRoutes<Row extends CheckRow>(
  deps: CheckDeps,
  { onStop }: CheckRouteHooks,
  resource: CheckResource<Row>,
) {
  const { alerts, catalog } = deps
  const { kind, names, schemas, replies, identify, dryRun } = resource
  const { one, many } = names
  const name = pascalCase(one)
  const base = `/api/v1/sdk/${names.path}/{asset_id}`
  const item = `${base}/{${names.id}}`
  const itemParams = assetParams.keys({ [names.id]: schemas.id })
  const route = routesOf(names.path)
  const app = names.errors && { errors: names.errors }

  const audited = <T>(request: AnyRequest, trx: Transaction, work: (record: RecordEvent) => Promise<T>) =>
    auditAtEnd(events => auditRequestAll(request, trx, events), work)
  const auditCreated = (request: AnyRequest, trx: Transaction, row: Row) =>
    auditRequest(request, trx, auditEventOf(resource, 'created', row))
  const notifyStopped = async (trx: Transaction, request: AnyRequest, row: Row, how: StoppedCheck['how']) => {
    const { source } = await assetOf(trx, request)
    const about = { subject: resource.subjectOf(row), by: actorOf(caller(request)) }
    const check = { kind: resource.declaration.kind, id: publicIdOf(kind, row), how, ...about }
    await onStop(trx, source, check)
  }
  const assetIdOf = (request: AnyRequest) => param(request, 'asset_id')
  const assetOf = (trx: Transaction, request: AnyRequest) => catalog.findAsset(trx, assetIdOf(request))
  /** Throws 404 for a row that never existed, belongs to another company, or was removed meanwhile. */
  const present = <T>(request: AnyRequest, found: T | undefined): T => {
    if (found !== undefined) return found
    const details = { [names.id]: param(request, names.id) }
    throw apiError(names.notFound, `There is no such ${one} on this asset`, details)
  }
  const rowOf = async (trx: Transaction, request: AnyRequest) =>
    present(request, await findCheck(trx, kind, await assetOf(trx, request), param(request, names.id)))

  return [
    route('GET', `${base}/summary`, access.read, {
      id: `get${name}Summary`,
      description: `Count the ${many} of an asset by their last status`,
      notes: 'Use it for an overview of a table, or of a source with all its tables.',
      validate: { params: assetParams },
      response: replies.summary,
      handler: request =>
        inCompany(request, async trx => {
          const asset = await assetOf(trx, request)
          const totals = await countChecks(trx, kind, asset)
          const data = resource.presentSummary
            ? await resource.presentSummary(totals, trx, asset)
            : presentTotals(many.split(' ').at(-1)!, totals)
          return { data }
        }),
    }),
    route('GET', base, access.read, {
      id: `list${name}s`,
      description: `List the ${many} of an asset`,
      notes: 'Those of a table, or of a source with all its tables; active and inactive ones.',
      validate: { params: assetParams, query: schemas.list ?? listQuery },
      response: replies.list,
      handler: async request => {
        const { query } = request
        const { items, total } = resource.list
          ? await resource.list(request, assetIdOf(request), query)
          : await inCompany(request, async trx => listRows(trx, resource, await assetOf(trx, request), query))
        return { data: { items }, pagination: pagination(total, query) }
      },
    }),
    route('POST', base, access.write, {
      id: `create${name}`,
      description: `Create a ${one}`,
      notes: `It runs by its interval from now on.${dryRun ? ' Try it first with the dry run.' : ''}`,
      validate: { params: assetParams, query: createQuery, payload: schemas.create },
      response: replies.created,
      app: { errors: ['ASSET_NOT_FOUND', 'CONFLICT', ...(names.namedErrors ?? [])] },
      handler: async (request, h) => {
        let twin: ExistingCheck | undefined
        const data = await resource.create(
          caller(request).companyId,
          assetIdOf(request),
          request.payload,
          async (trx, row) => {
            twin = await findTwin<Row>(trx, resource, row)
            if (twin && request.query.if_equal === 'refuse')
              throw apiError('CONFLICT', warnOfTwin(twin).join(), { existing: twin })
            await auditCreated(request, trx, row)
          },
        )
        return h.response({ data: withWarnings(data, warnOfTwin(twin)) }).code(201)
      },
    }),
    ...(resource.bulk
      ? [
          route('POST', `${base}/bulk`, access.write, {
            id: `create${name}s`,
            description: `Create a ${one} for each of several columns`,
            notes:
              'Takes the fields of one, with `column_names`. A column that is refused fails alone; the reply has the outcome of each.',
            validate: { params: assetParams, payload: resource.bulk.body },
            response: resource.bulk.reply,
            handler: async (request: ValidRequest<{ column_names: string[] }, unknown>) => {
              const { companyId } = caller(request)
              const { column_names: columns, ...body } = request.payload
              const create = async (column: string) => {
                let id = ''
                await resource.create(
                  companyId,
                  assetIdOf(request),
                  { ...body, column_name: column },
                  (trx, row) => {
                    id = publicIdOf(kind, row)
                    return auditCreated(request, trx, row)
                  },
                )
                return id
              }
              return { data: await createForColumns(deps, companyId, assetIdOf(request), columns, create) }
            },
          }),
        ]
      : []),
    route('GET', item, access.read, {
      id: `get${name}`,
      description: `Get a ${one}`,
      notes: 'With its configuration and its last status.',
      validate: { params: itemParams, ...(schemas.get && { query: schemas.get }) },
      response: replies.get,
      app,
      handler: request =>
        inCompany(request, async trx => {
          const row = await rowOf(trx, request)
          const { ownerRef: owner } = row
          return {
            data: {
              ...(await resource.present(trx, row, request.query)),
              ...(owner && { managed_by: owner }),
            },
          }
        }),
    }),
    route('PATCH', item, access.write, {
      id: `update${name}`,
      description: `Change a ${one}`,
      notes: 'Fields that are left out keep their values.',
      validate: { params: itemParams, payload: schemas.patch },
      response: replies.patched,
      app,
      handler: request =>
        inCompany(request, async trx => {
          const found = await rowOf(trx, request)
          const change = { row: found, patch: request.payload }
          const row = await audited(request, trx, async record => {
            const changed = present(request, await patchCheck(alerts, resource, trx, change, record))
            if ('is_active' in change.patch && change.patch.is_active === false)
              await notifyStopped(trx, request, changed, 'paused')
            return changed
          })
          return { data: { ...(await resource.present(trx, row, {})), ...warnOfChange(found.ownerRef) } }
        }),
    }),
    route('DELETE', item, access.write, {
      id: `delete${name}`,
      description: `Remove a ${one} and its ${names.results}`,
      notes: 'It cannot be undone. Set `is_active` to false to pause it.',
      validate: { params: itemParams },
      response: replies.removed,
      app,
      handler: request =>
        inCompany(request, async trx => {
          const row = await rowOf(trx, request)
          await audited(request, trx, async record => {
            await deleteCheck(alerts, resource, trx, row, record)
            await notifyStopped(trx, request, row, 'removed')
          })
          return {
            data: {
              success: true,
              message: `${identify(row).title} was removed`,
              ...warnOfRemoval(row.ownerRef),
            },
          }
        }),
    }),
    route('POST', `${item}/${names.run}`, access.write, {
      id: `${names.run}${name}`,
      description: `Run a ${one} now`,
      notes: 'Queries the source and stores the outcome, as a scheduled run does. Replies when it is done.',
      validate: { params: itemParams, ...(schemas.run && { payload: schemas.run }) },
      response: replies.run,
      app,
      handler: async request => {
        const row = await inCompany(request, trx => rowOf(trx, request))
        const sampleLimit = resource.sampleLimitOf?.(request.payload)
        const { results, outcome, parts } = present(
          request,
          await runRow(deps, row, {
            ...(sampleLimit !== undefined && { sampleLimit }),
            wholeRows: resource.wholeRowsOf?.(request.payload) ?? false,
          }),
        )
        const run = resource.presentRun(row, results, outcome)
        return { data: { ...run, ...(parts && { parts: presentPartsUse(parts) }) } }
      },
    }),
    route('GET', `${item}/${names.results}`, access.read, {
      id: `list${name}${pascalCase(names.results)}`,
      description: `List the ${names.results} of a ${one}, newest first`,
      notes: 'Use it for a chart, or to see when something changed.',
      validate: { params: itemParams, query: resultQuery },
      response: replies.results,
      app,
      handler: request =>
        inCompany(request, async trx => {
          const page = request.query
          const row = await rowOf(trx, request)
          const { results, total } = await pageOf(resultsOf(trx, row), page)
          const items = results.map(result => resource.presentResult(result, row))
          const chart = await resource.presentChart?.(trx, row)
          return { data: { items, ...chart }, pagination: pagination(total, page) }
        }),
    }),
    ...(dryRun
      ? [
          route('POST', `/api/v1/sdk/${names.path}/dry-run`, access.read, {
            id: `dryRun${name}`,
            description: `Try a new ${one}: measure it and judge its past`,
            notes:
              'Takes the fields of a new one and queries the source; nothing is stored. Use it before creating one. SQL of the caller needs the scope read-write.',
            validate: { payload: dryRun.body },
            response: dryRun.reply,
            handler: async request => {
              const body = request.payload
              requireScopeForSql(request, [body])
              const { companyId } = caller(request)
              const tried = await dryRun.measure(companyId, body)
              const row = await rowOfBody(deps, companyId, resource, body)
              const existing = await inCompany(request, trx => findTwin<Row>(trx, resource, row))
              const data = { ...tried, outlook: outlookOf(tried), existing: existing ?? null }
              return { data: withWarnings(data, warnOfTwin(existing)) }
            },
          }),
        ]
      : []),
  ]
}

/** A reply with more warnings. */
function withWarnings(data: ShownFields, warnings: readonly string[]): ShownFields {
  if (warnings.length === 0) return data
  const own = (data.warnings as string[] | undefined) ?? []
  return { ...data, warnings: [...warnings, ...own] }
}

/** What is stored of a check, newest first. */
export function resultsOf(trx: Transaction, { id }: Pick<CheckRow, 'id'>) {
  return CheckResult.query(trx).where('checkId', id).orderBy(newestFirst('at', 'id'))
}
