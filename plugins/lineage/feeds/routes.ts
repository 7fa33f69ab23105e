import type { Request, RouteOptions, ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../../server/http/access.ts'
import { auditorOf, auditRequest } from '../../../server/http/audit.ts'
import { apiError, hasErrorData } from '../../../server/http/errors.ts'
import { toApiNames } from '../../../server/http/fields.ts'
import { param } from '../../../server/http/input.ts'
import { pagination } from '../../../server/http/page.ts'
import type { OwnersApi } from '../../owners/api.ts'
import type { LineageDeps } from '../deps.ts'
import { createRule, deleteRule, listNamespaces } from '../datasets/namespace-rules.ts'
import type { NamespaceContext } from '../datasets/resolve-datasets.ts'
import { importProject } from '../dbt/import-project.ts'
import { listChecks } from '../dbt/list-checks.ts'
import { recordEvent } from '../openlineage/record-event.ts'
import { listRunsOf } from '../openlineage/runs.ts'
import { listFeeds } from './list-feeds.ts'
import { readRequestBody, TOO_LARGE_ADVICE } from './body-reader.ts'
import * as eventSchemas from './event-schemas.ts'
import * as schemas from './schemas.ts'

const route = routesOf('lineage')
const base = '/api/v1/sdk/lineage'

const MEBIBYTE = 1_048_576
const MAX_EVENT_BYTES = 10 * MEBIBYTE
const MAX_ARTIFACT_BYTES = 64 * MEBIBYTE
const DAY_MS = 86_400_000

/** The body is left as bytes: what it holds beside the fields that are used is not looked at, and may be anything. */
const rawPayload = (maxBytes: number): RouteOptions['payload'] => ({ output: 'data', maxBytes })

const auditRule = auditorOf('lineage_namespace', ({ id }: NamespaceContext['rules'][number]) => id)

export const feedRoutes = (deps: LineageDeps): ServerRoute[] => [
  route('POST', '/api/v1/lineage', access.lineage, {
    id: 'sendLineageEvent',
    description: 'Send an event of OpenLineage',
    notes: [
      'What the HTTP transport of OpenLineage sends with an API key: RunEvents, JobEvents and DatasetEvents of',
      'specification 2-0-2. Unknown facets are left aside. The same event again changes nothing. 6,000 requests a minute.',
    ],
    payload: rawPayload(MAX_EVENT_BYTES),
    validate: { payload: eventSchemas.eventBody },
    response: eventSchemas.eventReply,
    app: { readsBody: true },
    handler: async (request, h) => {
      const event = await readRequestBody('event', request)
      const outcome = await inCompany(request, trx => recordEvent(deps.owners, trx, event))
      return h.response({ data: toApiNames({ ...outcome }) }).code(201)
    },
  }),
  route('POST', '/api/v1/lineage/batch', access.lineage, {
    id: 'sendLineageEvents',
    description: 'Send up to 500 events of OpenLineage',
    notes: [
      'Each event is stored by itself; the reply lists those that were not, and whether to send them again. After 40,000',
      'edges or 10 seconds, the other events are left for another batch.',
    ],
    payload: rawPayload(MAX_EVENT_BYTES),
    validate: { payload: eventSchemas.eventsBody },
    response: eventSchemas.eventsReply,
    app: { readsBody: true, isHeavy: true },
    handler: request => recordBatch(deps.owners, request),
  }),
  route('POST', `${base}/dbt`, access.write, {
    id: 'importDbtProject',
    description: 'Import lineage, owners and test results of a dbt project',
    notes: [
      'In place of what the project reported for the source before. The command `tidemark lineage dbt TARGET_DIR`',
      'sends only the parts that are used. A body may have 64 MiB.',
    ],
    payload: {
      ...rawPayload(MAX_ARTIFACT_BYTES),
      failAction(_request, _h, error) {
        if ((error as { output?: { statusCode?: number } }).output?.statusCode !== 413)
          throw error ?? apiError('BAD_REQUEST', 'The body could not be read: send it again')
        throw apiError('PAYLOAD_TOO_LARGE', `The body is larger than 64 MiB: ${TOO_LARGE_ADVICE}`)
      },
    },
    app: { readsBody: true, isHeavy: true, errors: ['ASSET_NOT_FOUND'] },
    validate: { payload: schemas.dbtBody },
    response: schemas.dbtReply,
    handler: async request => {
      const body = await readRequestBody('dbt', request)
      const data = await inCompany(request, async trx => {
        const { source, ...outcome } = await importProject(deps, trx, body)
        const { project, tables, edges } = outcome
        await auditRequest(request, trx, {
          action: 'lineage.dbt_imported',
          target: { type: 'source', id: source.id },
          details: { project, tables, edges },
        })
        const { tests, unmatched, unmatchedCount, exposures, columns, keptColumns, removedEdges, runs } =
          outcome
        return {
          source_id: source.id,
          project,
          tables,
          unmatched_count: unmatchedCount,
          unmatched,
          exposures,
          edges,
          columns,
          kept_columns: keptColumns,
          removed_edges: removedEdges,
          tests: tests.total,
          test_results: tests.updated,
          failing_tests: tests.failing,
          test_errors: tests.errors,
          model_runs: runs,
        }
      })
      return { data }
    },
  }),
  route('GET', `${base}/dbt/tests`, access.read, {
    id: 'listDbtTests',
    description: 'List tests of dbt with their last results',
    notes:
      'Those that fail first. One that fails, warns or could not run has an open alert of type `external_check_failed`.',
    validate: { query: schemas.testList },
    response: schemas.testReply,
    handler: request =>
      inCompany(request, async trx => {
        const { asset_id: assetId, status, ...page } = request.query
        const asset = assetId === undefined ? undefined : await deps.catalog.findAsset(trx, assetId)
        const { checks, total } = await listChecks(trx, { asset, status, ...page })
        return {
          data: { data: checks.map(check => toApiNames({ ...check })), pagination: pagination(total, page) },
        }
      }),
  }),
  route('GET', `${base}/runs`, access.read, {
    id: 'listLineageRuns',
    description: 'List runs that write a table, or the tables of a source',
    notes:
      'As OpenLineage and dbt reported them, the latest first, at most 1,000. They are kept for 90 days.',
    validate: { query: schemas.runQuery },
    response: schemas.runReply,
    handler: request =>
      inCompany(request, async trx => {
        const { asset_id: assetId, days } = request.query
        const { source, table } = await deps.catalog.findAsset(trx, assetId)
        const target = table ? { tableIds: [table.id] } : { sourceId: source.id }
        const runs = await listRunsOf(trx, target, new Date(Date.now() - days * DAY_MS))
        return {
          data: { runs: runs.map(({ tableId, ...run }) => toApiNames({ ...run, assetId: tableId })) },
        }
      }),
  }),
  route('GET', `${base}/feeds`, access.read, {
    id: 'listLineageFeeds',
    description: 'List what pipelines and tools have sent',
    notes:
      'By producer, the latest first, at most 50: runs of the last 90 days, the edges that its jobs report, and its last failed run.',
    response: schemas.feedReply,
    app: { isHeavy: true },
    handler: request =>
      inCompany(request, async trx => ({
        data: { feeds: (await listFeeds(trx)).map(feed => toApiNames({ ...feed })) },
      })),
  }),
  route('GET', `${base}/namespaces`, access.read, {
    id: 'listLineageNamespaces',
    description: 'List the rules that map namespaces to sources',
    notes: 'With the namespaces of datasets that no source has, and what they are mapped to.',
    response: schemas.ruleList,
    handler: request =>
      inCompany(request, async trx => {
        const { rules, reported } = await listNamespaces(trx)
        return {
          data: { rules: rules.map(presentRule), reported: reported.map(each => toApiNames({ ...each })) },
        }
      }),
  }),
  route('POST', `${base}/namespaces`, access.write, {
    id: 'createLineageNamespace',
    description: 'Map a namespace of OpenLineage to a source',
    notes:
      'A rule comes before the naming convention. Datasets that the source has become its tables at once.',
    app: { errors: ['ASSET_NOT_FOUND'] },
    validate: { payload: schemas.newRule },
    response: schemas.ruleReply,
    handler: async (request, h) => {
      const body = request.payload
      const data = await inCompany(request, async trx => {
        const { source } = await deps.catalog.findAsset(trx, body.source_id)
        const { namespace, name_prefix: namePrefix } = body
        const { rule, moved } = await createRule(deps.owners, trx, {
          namespace,
          namePrefix,
          sourceId: source.id,
        })
        await auditRule(request, trx, 'created', rule, { namespace, source_id: source.id })
        return { ...presentRule(rule), moved_datasets: moved }
      })
      return h.response({ data }).code(201)
    },
  }),
  route('DELETE', `${base}/namespaces/{id}`, access.write, {
    id: 'deleteLineageNamespace',
    description: 'Delete a rule that maps a namespace to a source',
    notes: 'Edges that it led to stay until they are stale.',
    validate: { params: schemas.ruleParams },
    response: schemas.ruleRemoval,
    handler: request =>
      inCompany(request, async trx => {
        const rule = await deleteRule(trx, param(request, 'id'))
        await auditRule(request, trx, 'deleted', rule, { namespace: rule.namespace })
        return { data: { success: true, message: 'The rule was deleted' } }
      }),
  }),
]

function presentRule({ id, namespace, sourceId, namePrefix, createdAt }: NamespaceContext['rules'][number]) {
  return { id, namespace, source_id: sourceId, name_prefix: namePrefix, created_at: createdAt }
}

/** Edges, and milliseconds, after which no other event of a batch is stored: its sender sends the rest again. */
const MAX_BATCH_EDGES = 40_000
const MAX_BATCH_MS = 10_000

const OVER_BUDGET = `The events before it were the work of one batch, ${MAX_BATCH_EDGES} edges or ${MAX_BATCH_MS / 1_000} s: send it again, in another batch`

async function recordBatch(owners: OwnersApi, request: Request) {
  const events = await readRequestBody('events', request)
  const failed: { index: number; reason: string; retriable: boolean }[] = []
  const startedAt = performance.now()
  let edges = 0
  const omitted = { datasets: 0, edges: 0 }
  for (const [index, found] of events.entries()) {
    if ('problems' in found) {
      failed.push({ index, reason: found.problems.map(({ error }) => error).join('; '), retriable: false })
      continue
    }
    if (edges >= MAX_BATCH_EDGES || performance.now() - startedAt > MAX_BATCH_MS) {
      failed.push({ index, reason: OVER_BUDGET, retriable: true })
      continue
    }
    const recording = inCompany(request, trx => recordEvent(owners, trx, found.event))
    const work = recording.then(outcome => {
      edges += outcome.edges
      omitted.datasets += outcome.omittedDatasets
      omitted.edges += outcome.omittedEdges
    })
    await work.catch((error: unknown) => {
      const isOurs = hasErrorData(error) && error.output.statusCode < 500
      if (!isOurs)
        request.server.pino.error({ err: error, request_id: request.info.id }, 'an event was not stored')
      const reason = isOurs ? error.message : 'The service could not store it'
      failed.push({ index, reason, retriable: !isOurs })
    })
  }
  const retriable = failed.filter(each => each.retriable).length
  return {
    status: failed.length > 0 ? 'partial_success' : 'success',
    summary: {
      received: events.length,
      successful: events.length - failed.length,
      failed: failed.length,
      retriable,
      non_retriable: failed.length - retriable,
      omitted_datasets: omitted.datasets,
      omitted_edges: omitted.edges,
    },
    failed_events: failed,
  }
}
