import { formatName } from '../../../connectors/catalog.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { invalidField } from '../../../server/http/errors.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { LineageDeps } from '../deps.ts'
import type { LineageEnd, SeenEdge } from '../api.ts'
import { namespaceOf } from '../datasets/namespaces.ts'
import { findTables, readColumnNames, spellPairs } from '../datasets/resolve-datasets.ts'
import type { DbtBody } from '../feeds/read-body.ts'
import { recordEdges } from '../graph/record.ts'
import { storeRunEnds, storeRuns } from '../openlineage/runs.ts'
import type { Source } from '../../catalog/api.ts'
import type { DbtExposure, DbtProject, DbtRelation } from './project.ts'
import { storeTests, type StoredTests } from './store-tests.ts'

/** What became of the artifacts of a project. */
interface ImportOutcome {
  source: Source
  project: string
  /** Models, seeds, snapshots and sources that are tables of the catalog. */
  tables: number
  /** The others, at most 50 of them. */
  unmatched: string[]
  unmatchedCount: number
  exposures: number
  edges: number
  /** Pairs of columns that edges have. */
  columns: number
  /** Those of them that were known, of models without compiled SQL. */
  keptColumns: number
  removedEdges: number
  tests: StoredTests
  runs: number
}

const MAX_UNMATCHED = 50
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Stores the graph, owners, tests and runs of a project, in place of what the project reported for this source before. */
export async function importProject(
  deps: LineageDeps,
  trx: Transaction,
  body: DbtBody,
): Promise<ImportOutcome> {
  const { catalog, owners } = deps
  const asset = await catalog.findAsset(trx, body.source)
  if (asset.table) throw invalidField('source', 'must be a source, and this is a table')
  const source = await catalog.lockSource(trx, asset.source.id)
  const { project } = body
  const tableIds = await findTables(
    trx,
    [...project.relations.values()].map(({ uniqueId, place: { database, schema, name } }) => ({
      key: uniqueId,
      candidates: [
        // The database of engines without such a level is the schema, or is not written.
        { sourceId: source.id, ...(database !== undefined && { catalog: database }), schema, name, rank: 0 },
      ],
    })),
  )
  const scope = `${project.name}/`
  const ends = describeEnds(source, project, tableIds)
  const withColumns = project.edges.filter(({ columns }) => columns)
  const columnNames = await readColumnNames(
    trx,
    withColumns.flatMap(({ upstream, downstream }) =>
      [upstream, downstream].flatMap(id => tableIds.get(id) ?? []),
    ),
  )
  const pause = makePauses()
  const edges: SeenEdge[] = []
  for (const { upstream, downstream, columns, keepsColumns } of project.edges) {
    const [from, to] = [ends.get(upstream), ends.get(downstream)]
    const tables = { upstreamId: tableIds.get(upstream), downstreamId: tableIds.get(downstream) }
    const spelled = columns && spellPairs(columns, columnNames, tables)
    if (from && to)
      edges.push({
        upstream: from,
        downstream: to,
        detail: scope + downstream,
        ...(spelled && { columns: spelled }),
        ...(keepsColumns && { keepsColumns }),
      })
    await pause()
  }
  const recorded = await recordEdges(trx, {
    origin: 'dbt',
    sourceId: source.id,
    scope,
    isComplete: true,
    edges,
  })
  await owners.replaceFrom(
    trx,
    'dbt',
    `${source.id} ${project.name}`,
    [...project.relations.values()].flatMap(({ uniqueId, owners: reported }) => {
      const tableId = tableIds.get(uniqueId)
      return tableId === undefined ? [] : [{ tableId, owners: reported }]
    }),
  )
  const tests = await storeTests(deps, trx, source, { project, tests: body.tests, tableIds })
  const runs = await storeModelRuns(trx, body, tableIds)
  const unmatched = [...project.relations.values()].filter(({ uniqueId }) => !tableIds.has(uniqueId))
  return {
    source,
    project: project.name,
    tables: tableIds.size,
    unmatched: unmatched.slice(0, MAX_UNMATCHED).map(({ uniqueId }) => uniqueId),
    unmatchedCount: unmatched.length,
    exposures: project.exposures.size,
    edges: project.edges.length,
    columns: recorded.columns + recorded.keptColumns,
    keptColumns: recorded.keptColumns,
    removedEdges: recorded.removed,
    tests,
    runs,
  }
}

function describeEnds(
  source: Source,
  project: DbtProject,
  tableIds: ReadonlyMap<string, string>,
): Map<string, LineageEnd> {
  const ends = new Map<string, LineageEnd>()
  for (const relation of project.relations.values()) {
    const tableId = tableIds.get(relation.uniqueId)
    ends.set(relation.uniqueId, tableId === undefined ? describeRelation(source, relation) : { tableId })
  }
  for (const exposure of project.exposures.values())
    ends.set(exposure.uniqueId, describeExposure(project.name, exposure))
  return ends
}

/** A relation that the catalog does not have, under the name that OpenLineage gives it: so both are one node. */
function describeRelation(source: Source, { uniqueId, place, description, owners }: DbtRelation): LineageEnd {
  const { database, schema, name } = place
  return {
    outside: {
      kind: 'dataset',
      namespace: namespaceOf(source),
      name: formatName([...(database === undefined ? [] : [database]), schema, name]),
      ...(description !== null && { description }),
      ...(owners.length > 0 && { owners }),
      details: { dbt_unique_id: uniqueId },
    },
  }
}

function describeExposure(project: string, exposure: DbtExposure): LineageEnd {
  const { uniqueId, kind, name, url, description, owners } = exposure
  return {
    outside: {
      kind,
      namespace: `dbt://${project}`,
      name,
      url,
      ...(description !== null && { description }),
      ...(owners.length > 0 && { owners }),
      details: { dbt_unique_id: uniqueId },
    },
  }
}

/** Keeps what the results say of models, as runs of jobs: a model that failed explains what is wrong behind it. */
async function storeModelRuns(
  trx: Transaction,
  { project, runs, invocationId }: DbtBody,
  tableIds: ReadonlyMap<string, string>,
): Promise<number> {
  if (invocationId === null || !UUID.test(invocationId)) return 0
  const known = runs.filter(({ uniqueId }) => tableIds.has(uniqueId))
  const ids = await storeRuns(
    trx,
    known.map(({ uniqueId, isFailed, message, at }) => ({
      jobNamespace: `dbt://${project.name}`,
      jobName: uniqueId,
      runId: invocationId,
      state: isFailed ? 'failed' : 'completed',
      at,
      errorMessage: message,
      producer: 'dbt',
    })),
  )
  await storeRunEnds(
    trx,
    known.flatMap(({ uniqueId }, index) => {
      const [lineageRunId, endId] = [ids[index], tableIds.get(uniqueId)]
      return lineageRunId && endId ? [{ lineageRunId, direction: 'output' as const, endId }] : []
    }),
  )
  return known.length
}
