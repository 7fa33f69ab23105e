import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import {
  apiError,
  hasErrorData,
  invalidField,
  invalidInput,
  type InputError,
} from '../../server/http/errors.ts'
import type { Page } from '../../server/http/page.ts'
import type { CatalogApi } from '../catalog/api.ts'
import { ALL_COLUMNS, type OutsideNode } from './api.ts'
import { describeEdges, type ColumnPair, type DescribedEdge } from './graph/edges.ts'
import { findOutside, readNodes } from './graph/nodes.ts'
import { outsideKey, recordEdges, storeOutside } from './graph/record.ts'
import { settleEdges, type LineageEdge } from './graph/unreported.ts'

/** The body of `POST /sdk/lineage/edges`, validated: each end is named, or described where it is outside the catalog. */
export interface ManualEdgeInput {
  upstream?: string
  upstream_external?: OutsideNode
  downstream?: string
  downstream_external?: OutsideNode
  columns?: { upstream_column: string; downstream_column: string; kind: ColumnPair['kind'] }[]
}

type Side = 'upstream' | 'downstream'

/** An end of an edge that is there. */
interface ResolvedEnd {
  id: string
  /** @throws 400 for a column that a table does not have */
  checkColumn(name: string, field: string): void
}

/** Adds an edge by hand, or replaces its columns. @throws 400 naming the field of an end or column that is not there */
export async function addManualEdge(
  catalog: CatalogApi,
  trx: Transaction,
  input: ManualEdgeInput,
): Promise<{ edge: DescribedEdge; isNew: boolean }> {
  const upstream = await resolveEnd(catalog, trx, 'upstream', input)
  const downstream = await resolveEnd(catalog, trx, 'downstream', input)
  for (const [index, pair] of (input.columns ?? []).entries()) {
    upstream.checkColumn(pair.upstream_column, `columns.${index}.upstream_column`)
    if (pair.downstream_column !== ALL_COLUMNS)
      downstream.checkColumn(pair.downstream_column, `columns.${index}.downstream_column`)
  }
  const columns = input.columns?.map(({ upstream_column: from, downstream_column: to, kind }) => ({
    upstream: from,
    downstream: to,
    kind,
  }))
  const ends = { upstreamId: upstream.id, downstreamId: downstream.id }
  const isNew = !(await isManual(trx, ends))
  await recordEdges(trx, {
    origin: 'manual',
    sourceId: null,
    isComplete: false,
    edges: [
      {
        upstream: { tableId: upstream.id },
        downstream: { tableId: downstream.id },
        detail: '',
        ...(columns && { columns }),
      },
    ],
  })
  const [edge] = await describeEdges(trx, [ends], { withColumns: true })
  if (!edge) throw new Error('An edge was stored and is not there')
  return { edge, isNew }
}

async function resolveEnd(
  catalog: CatalogApi,
  trx: Transaction,
  side: Side,
  input: ManualEdgeInput,
): Promise<ResolvedEnd> {
  const checkColumn = () => {}
  const external = input[`${side}_external`]
  if (external) {
    const ids = await storeOutside(trx, [external])
    return { id: ids.get(outsideKey(external)) ?? '', checkColumn }
  }
  const name = input[side] ?? ''
  const outside = await findOutside(trx, name)
  if (outside) return { id: outside.id, checkColumn }
  try {
    const { table } = await catalog.findAsset(trx, name)
    if (!table) throw invalidField(side, 'is a source: name one of its tables')
    return {
      id: table.id,
      checkColumn: (column, field) => void catalog.findColumn(table, column, field),
    }
  } catch (error) {
    if (!hasErrorData(error) || error.data?.code !== 'ASSET_NOT_FOUND') throw error
    const hint = `describe what is outside the catalog as ${side}_external`
    const { candidates } = error.data.details as Pick<InputError, 'candidates'>
    throw invalidInput([
      {
        field: side,
        error: `${side} is no table: ${error.message}; ${hint}`,
        ...(candidates && { candidates }),
      },
    ])
  }
}

async function isManual(trx: Transaction, { upstreamId, downstreamId }: LineageEdge): Promise<boolean> {
  const found = await rows(
    trx,
    `select from lineage_edge_origins where company_id = :companyId and origin = 'manual'
        and upstream_id = :upstreamId and downstream_id = :downstreamId`,
    { companyId: companyOf(trx), upstreamId, downstreamId },
  )
  return found.length > 0
}

/** One page of the edges by hand, the newest first, with the qualified names of their ends. */
export async function listManualEdges(
  trx: Transaction,
  { limit, offset }: Page,
): Promise<{ edges: DescribedEdge[]; names: Map<string, string>; total: number }> {
  const found = await rows<LineageEdge & { total: number }>(
    trx,
    `with manual as materialized (
       select upstream_id, downstream_id, min(first_seen_at) as at from lineage_edge_origins
        where company_id = :companyId and origin = 'manual' group by 1, 2)
     select counted.total, page.* from (select count(*)::int as total from manual) counted
       left join lateral (
         select upstream_id, downstream_id from manual order by at desc, upstream_id, downstream_id
          limit :limit offset :offset) page on true`,
    { companyId: companyOf(trx), limit, offset },
  )
  const ends = found.filter(({ upstreamId }) => upstreamId !== null)
  return {
    edges: await describeEdges(trx, ends, { withColumns: true }),
    names: await readNames(trx, ends),
    total: found[0]?.total ?? 0,
  }
}

/** The qualified names of the ends of edges by id. */
export async function readNames(
  trx: Transaction,
  edges: readonly LineageEdge[],
): Promise<Map<string, string>> {
  const nodes = await readNodes(
    trx,
    edges.flatMap(({ upstreamId, downstreamId }) => [upstreamId, downstreamId]),
  )
  return new Map(nodes.map(({ id, qualifiedName }) => [id, qualifiedName]))
}

/** Removes an edge by hand; it stays where another origin reports it too. @throws 404 `NOT_FOUND` */
export async function removeManualEdge(trx: Transaction, edge: LineageEdge): Promise<void> {
  const removed = await rows<LineageEdge>(
    trx,
    `delete from lineage_edge_origins where company_id = :companyId and origin = 'manual'
        and upstream_id = :upstreamId and downstream_id = :downstreamId
      returning upstream_id, downstream_id`,
    { companyId: companyOf(trx), ...edge },
  )
  if (removed.length === 0)
    throw apiError('NOT_FOUND', 'There is no such edge that was added by hand, or it is not yours')
  await settleEdges(trx, [edge])
}
