import { setImmediate } from 'node:timers/promises'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { filterWithPauses } from '../../server/filter-with-pauses.ts'
import type { Source } from '../catalog/api.ts'
import type { TableProfile } from '../profiles/api.ts'
import { findParentIds, nameOfThing, thingsOf, type ParentIndex } from './rules/references.ts'
import type { TableEvidence } from './rules/evidence.ts'
import type { RecommendationsDeps } from './deps.ts'
import { findReplicas } from './replicas.ts'

/** Tables whose profiles are in memory together. */
const TABLES_PER_BATCH = 200

/** Tables above which all of their source are read: their parents would be most of it. */
const MAX_CHOSEN_TABLES = 2_000

/**
 * What the catalog knows of the active tables of a source, by name: no profiles, and no signals of freshness.
 * @param chosen leaves out tables that are neither among these nor may be a parent of one
 */
export async function readTables(
  trx: Transaction,
  source: Source,
  chosen?: ReadonlySet<string>,
): Promise<TableEvidence[]> {
  if (!chosen || chosen.size > MAX_CHOSEN_TABLES) return selectTables(trx, source)
  const tables = await selectTables(trx, source, [...chosen])
  const things = [...new Set(tables.flatMap(thingsOf))]
  const parents = things.length === 0 ? [] : await findParentTables(trx, source, things)
  const missing = parents.filter(id => !chosen.has(id))
  return missing.length === 0 ? tables : [...tables, ...(await selectTables(trx, source, missing))]
}

/** The tables that keys may be called after: by what was stored of them, and by the names of those that changed since. */
async function findParentTables(
  trx: Transaction,
  { id: sourceId }: Source,
  things: readonly string[],
): Promise<string[]> {
  const bindings = { companyId: companyOf(trx), sourceId, things }
  const stored = await rows<{ id: string }>(
    trx,
    `select table_id as id from recommendation_counts
     where company_id = :companyId and source_id = :sourceId and thing = any(cast(:things as text[]))`,
    bindings,
  )
  const changed = await rows<{ id: string; name: string }>(
    trx,
    `select id, name from tables where company_id = :companyId and source_id = :sourceId and is_active and id in (
       select c.table_id from recommendation_changes c
       left join recommendation_counts n on n.company_id = :companyId and n.table_id = c.table_id
       where c.company_id = :companyId and c.source_id = :sourceId and (c.is_of_key or n.table_id is null))`,
    bindings,
  )
  const wanted = new Set(things)
  const named = await filterWithPauses(changed, ({ name }) => wanted.has(nameOfThing(name)))
  return [...new Set([...stored, ...named].map(({ id }) => id))]
}

async function selectTables(
  trx: Transaction,
  { id }: Source,
  ids?: readonly string[],
): Promise<TableEvidence[]> {
  const tables = await rows<TableEvidence & { estimatedRows: string | null }>(
    trx,
    `select id, catalog_name as catalog, schema_name as schema, name, kind, columns, constraints, column_tags,
       estimated_rows, 0 as dependents
     from tables where company_id = :companyId and source_id = :sourceId and is_active
       ${ids ? 'and id = any(cast(:ids as uuid[]))' : ''} order by qualified_name, id`,
    { companyId: companyOf(trx), sourceId: id, ids: ids ?? [] },
  )
  return tables.map(table => ({
    ...table,
    estimatedRows: table.estimatedRows === null ? null : Number(table.estimatedRows),
  }))
}

/** Some tables with all that is known of them, and the profiles of their parents. */
export interface EvidenceBatch {
  tables: TableEvidence[]
  parentProfiles: Map<string, TableProfile>
}

/** Completes the evidence of tables, some at a time. @param hasReplicas whether tables of other sources are looked at */
export async function* readEvidence(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  tables: readonly TableEvidence[],
  { parents, hasReplicas }: { parents: ParentIndex; hasReplicas: boolean },
): AsyncGenerator<EvidenceBatch> {
  const { profiles, freshness } = deps
  for (let from = 0; from < tables.length; from += TABLES_PER_BATCH) {
    const some = tables.slice(from, from + TABLES_PER_BATCH)
    const ids = some.map(({ id }) => id)
    const own = await profiles.latest(trx, ids)
    const others = new Set(some.flatMap(table => findParentIds(table, parents)).filter(id => !own.has(id)))
    const parentProfiles = new Map([...own, ...(await profiles.latest(trx, [...others]))])
    const signals = await freshness.findSignals(trx, source, ids)
    const dependents = await countDependents(deps, trx, ids)
    const replicas = hasReplicas ? await findReplicas(deps, trx, source, ids) : undefined
    yield {
      parentProfiles,
      tables: some.map(table => {
        const profile = own.get(table.id)
        const signal = signals.get(table.id)
        const candidates = replicas?.get(table.id)
        return {
          ...table,
          dependents: dependents.get(table.id) ?? 0,
          ...(profile && { profile }),
          ...(signal && { freshness: signal }),
          ...(candidates && { replicas: candidates }),
        }
      }),
    }
    await setImmediate()
  }
}

/** How many tables are made from each of some. */
async function countDependents(deps: RecommendationsDeps, trx: Transaction, tableIds: readonly string[]) {
  const queries = deps.catalog.upstreamQueries()
  if (queries.length === 0) return new Map<string, number>()
  const counted = await rows<{ id: string; dependents: number }>(
    trx,
    `select upstream_id as id, cast(count(distinct table_id) as int) as dependents
     from (${queries.join(' union all ')}) u
     where company_id = :companyId and upstream_id = any(cast(:tableIds as uuid[])) group by upstream_id`,
    { companyId: companyOf(trx), tableIds },
  )
  return new Map(counted.map(({ id, dependents }) => [id, dependents]))
}
