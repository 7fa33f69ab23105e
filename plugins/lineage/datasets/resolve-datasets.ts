import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { SeenColumn } from '../api.ts'
import {
  listCandidates,
  type DatasetName,
  type NamedSource,
  type NamespaceRule,
  type TableCandidate,
} from './namespaces.ts'

/** The sources and rules of a company, by which datasets are resolved. */
export interface NamespaceContext {
  sources: NamedSource[]
  rules: (NamespaceRule & { id: string; createdAt: Date })[]
}

export async function readNamespaceContext(trx: Transaction): Promise<NamespaceContext> {
  const companyId = companyOf(trx)
  const sources = await rows<NamedSource>(
    trx,
    `select id, name, source_type, config from sources where company_id = :companyId order by name`,
    { companyId },
  )
  const rules = await rows<NamespaceContext['rules'][number]>(
    trx,
    `select id, namespace, source_id, name_prefix, created_at from lineage_namespaces
      where company_id = :companyId order by namespace, id`,
    { companyId },
  )
  return { sources, rules }
}

/** A dataset with the other names that its producer knows. */
export type AliasedDataset = DatasetName & { symlinks?: readonly DatasetName[] }

export const datasetKey = ({ namespace, name }: DatasetName) => JSON.stringify([namespace, name])

/** @returns the ids of the tables that datasets are, by `datasetKey`; those that no source has are missing */
export async function resolveDatasets(
  trx: Transaction,
  context: NamespaceContext,
  datasets: readonly AliasedDataset[],
): Promise<Map<string, string>> {
  const [given, pause] = [[] as NamedCandidates[], makePauses()]
  for (const dataset of datasets) {
    // The name of the dataset itself first.
    const candidates = [dataset, ...(dataset.symlinks ?? [])].flatMap((name, index) =>
      listCandidates(name, context.sources, context.rules).map(candidate => ({
        ...candidate,
        rank: candidate.rank + index * 2,
      })),
    )
    given.push({ key: datasetKey(dataset), candidates })
    await pause()
  }
  return findTables(trx, given)
}

interface NamedCandidates {
  key: string
  candidates: readonly TableCandidate[]
}

interface FoundTable {
  key: string
  id: string
  rank: number
  isExact: boolean
}

/**
 * Finds tables by candidates for their names. Names are compared without case where no table is spelled the same, and a
 * name that several tables have is none.
 * @returns the ids of tables by key
 */
export async function findTables(
  trx: Transaction,
  given: readonly NamedCandidates[],
): Promise<Map<string, string>> {
  const candidates = given.flatMap(({ key, candidates: own }) => own.map(each => ({ key, ...each })))
  if (candidates.length === 0) return new Map()
  const found = await rows<FoundTable>(
    trx,
    `with given as materialized (
       select * from jsonb_to_recordset(cast(:candidates as jsonb))
         as g (key text, "sourceId" uuid, catalog text, schema text, name text, rank int))
     select g.key, t.id, g.rank,
            t.name = g.name and t.schema_name = coalesce(g.schema, t.schema_name)
              and t.catalog_name = coalesce(g.catalog, t.catalog_name) as is_exact
       from given g
       join tables t on t.company_id = :companyId and t.source_id = g."sourceId" and t.is_active
        and lower(t.name) = lower(g.name)
        and (g.schema is null or lower(t.schema_name) = lower(g.schema))
        and (g.catalog is null or lower(t.catalog_name) = lower(g.catalog))`,
    { companyId: companyOf(trx), candidates: JSON.stringify(candidates) },
  )
  const chosen = new Map<string, string>()
  for (const [key, tables] of Map.groupBy(found, ({ key: each }) => each)) {
    const order = ({ rank, isExact }: FoundTable) => rank * 2 + (isExact ? 0 : 1)
    const least = Math.min(...tables.map(order))
    const ids = new Set(tables.filter(table => order(table) === least).map(({ id }) => id))
    const [id] = ids
    if (ids.size === 1 && id !== undefined) chosen.set(key, id)
  }
  return chosen
}

/** The columns of a table by their names, also in letters of the other case; null where several have such a name. */
type ColumnNames = { exact: ReadonlySet<string>; folded: ReadonlyMap<string, string | null> }

/** Tables whose columns one statement reads. */
const TABLES_PER_STATEMENT = 500

/** The names of the columns of some tables, by the id of the table. */
export async function readColumnNames(
  trx: Transaction,
  tableIds: readonly string[],
): Promise<Map<string, ColumnNames>> {
  const [ids, byTable, pause] = [[...new Set(tableIds)], new Map<string, ColumnNames>(), makePauses()]
  for (let from = 0; from < ids.length; from += TABLES_PER_STATEMENT) {
    const found = await rows<{ id: string; names: string[] }>(
      trx,
      `select id, array(select c ->> 'name' from jsonb_array_elements(columns) c) as names from tables
        where company_id = :companyId and id = any(cast(:ids as uuid[]))`,
      { companyId: companyOf(trx), ids: ids.slice(from, from + TABLES_PER_STATEMENT) },
    )
    for (const { id, names } of found) {
      const folded = new Map<string, string | null>()
      for (const name of names) folded.set(name.toLowerCase(), folded.has(name.toLowerCase()) ? null : name)
      byTable.set(id, { exact: new Set(names), folded })
      await pause()
    }
  }
  return byTable
}

/** Pairs of columns as both tables spell them. @param names of the columns of tables, as `readColumnNames` returns them */
export function spellPairs(
  pairs: readonly SeenColumn[],
  names: ReadonlyMap<string, ColumnNames>,
  {
    upstreamId = '',
    downstreamId = '',
  }: { upstreamId?: string | undefined; downstreamId?: string | undefined },
): SeenColumn[] {
  return pairs.map(pair => ({
    ...pair,
    upstream: spellColumn(pair.upstream, names.get(upstreamId)),
    downstream: spellColumn(pair.downstream, names.get(downstreamId)),
  }))
}

/** A column as its table spells it, where one of its columns is meant. */
function spellColumn(name: string, columns: ColumnNames | undefined): string {
  if (!columns || columns.exact.has(name)) return name
  return columns.folded.get(name.toLowerCase()) ?? name
}
