import { formatName, tablePath } from '../../../connectors/catalog.ts'
import type { ViewDefinition } from '../../../connectors/connector.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { SeenEdge } from '../api.ts'
import { recordEdges } from '../graph/record.ts'
import { unpackPairs, type PackedView } from './view-batch.ts'

export interface FoundView {
  view: ViewDefinition
  hash: string
  /** Null of a definition that takes too much to read: what was known stays. */
  reading: PackedView | null
}

export interface FoundViews {
  /** Those whose definition or tables changed since they were read. */
  changed: FoundView[]
  /** Ids of tables that are no views any more. */
  goneIds: string[]
}

/** A view with the id of its table. */
type StoredView = FoundView & { id: string }

/** What one statement stores: views, and pairs of columns of their edges. */
const MAX_OF_GROUP = { views: 1_000, pairs: 50_000 }

/** Stores what views are made from, in place of what was known of them. */
export async function recordViews(
  trx: Transaction,
  sourceId: string,
  { changed, goneIds }: FoundViews,
): Promise<void> {
  if (changed.length > 0 || goneIds.length > 0) {
    const ids = await tableIds(trx, sourceId)
    const stored = changed.flatMap(found => {
      const id = ids.get(tablePath(found.view))
      return id === undefined ? [] : [{ ...found, id }]
    })
    const pause = makePauses()
    const record = async (views: readonly StoredView[], downstreamIds: readonly string[]) => {
      const edges: SeenEdge[] = []
      for (const view of views) {
        edges.push(...edgesInto(view, ids))
        await pause()
      }
      await recordEdges(trx, { origin: 'view', sourceId, isComplete: true, downstreamIds, edges })
    }
    if (goneIds.length > 0) await record([], goneIds)
    for (const group of groupBySize(stored)) {
      const known = group.filter(({ reading }) => reading)
      await record(
        known,
        known.map(({ id }) => id),
      )
      await storeViews(trx, sourceId, group)
    }
    await forgetViews(trx, sourceId, goneIds)
  }
  await trx.raw(
    `update lineage_edge_origins set last_seen_at = now()
      where company_id = :companyId and source_id = :sourceId and origin in ('view', 'foreign_key')
        and last_seen_at < now() - interval '1 day'`,
    { companyId: companyOf(trx), sourceId },
  )
}

function groupBySize(views: readonly StoredView[]): StoredView[][] {
  const groups: StoredView[][] = []
  let size = Infinity
  for (const view of views) {
    const own = (view.reading?.upstream ?? []).reduce((sum, { pairs }) => sum + (pairs?.length ?? 0) / 3, 0)
    if (size + own > MAX_OF_GROUP.pairs || groups.at(-1)!.length === MAX_OF_GROUP.views) {
      groups.push([])
      size = 0
    }
    groups.at(-1)!.push(view)
    size += own
  }
  return groups
}

function edgesInto({ id, view, reading }: StoredView, ids: ReadonlyMap<string, string>): SeenEdge[] {
  if (!reading) return []
  const { upstream, words, confidence } = reading
  return upstream.flatMap(({ path, pairs }): SeenEdge[] => {
    const tableId = ids.get(path)
    if (tableId === undefined || tableId === id) return []
    return [
      {
        upstream: { tableId },
        downstream: { tableId: id },
        detail: formatName([view.schema, view.name]),
        confidence,
        ...(pairs && { columns: unpackPairs(pairs, words) }),
      },
    ]
  })
}

/** The ids of the active tables of a source by path. */
async function tableIds(trx: Transaction, sourceId: string): Promise<Map<string, string>> {
  const found = await rows<{ id: string; catalog: string; schema: string; name: string }>(
    trx,
    `select id, catalog_name as catalog, schema_name as schema, name from tables
      where company_id = :companyId and source_id = :sourceId and is_active`,
    { companyId: companyOf(trx), sourceId },
  )
  return new Map(found.map(({ id, ...table }) => [tablePath(table), id]))
}

async function storeViews(trx: Transaction, sourceId: string, changed: readonly StoredView[]): Promise<void> {
  await trx.raw(
    `insert into lineage_views (table_id, company_id, source_id, hash, names)
     select id, :companyId, :sourceId, hash, names
       from jsonb_to_recordset(cast(:views as jsonb)) as v (id uuid, hash text, names jsonb)
     on conflict (table_id) do update
       set hash = excluded.hash, names = excluded.names, parsed_at = now()`,
    {
      companyId: companyOf(trx),
      sourceId,
      views: JSON.stringify(
        changed.map(({ id, hash, reading }) => ({ id, hash, names: reading?.names ?? [] })),
      ),
    },
  )
}

async function forgetViews(trx: Transaction, sourceId: string, goneIds: readonly string[]): Promise<void> {
  await trx.raw(
    `delete from lineage_views where company_id = :companyId and source_id = :sourceId
        and table_id = any(cast(:goneIds as uuid[]))`,
    { companyId: companyOf(trx), sourceId, goneIds: [...goneIds] },
  )
}
