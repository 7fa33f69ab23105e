import { setImmediate } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { Source } from '../catalog/api.ts'
import type { TableProfile } from '../profiles/api.ts'
import { findParentIds, type ParentIndex } from './rules/references.ts'
import type { TableEvidence } from './rules/evidence.ts'

/** Tables whose profiles are in memory together. */
const TABLES_PER_BATCH = 200

/** What the catalog knows of the active tables of a source, by name: no profiles, and no signals of freshness. */
export async function readTables(trx: Transaction, { id }: Source): Promise<TableEvidence[]> {
  const tables = await rows<TableEvidence & { estimatedRows: string | null }>(
    trx,
    `select id, catalog_name as catalog, schema_name as schema, name, kind, columns, constraints, column_tags,
       estimated_rows, 0 as dependents
     from tables where company_id = ? and source_id = ? and is_active order by qualified_name, id`,
    [companyOf(trx), id],
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

/** Completes the evidence of tables, some at a time. */
export async function* readEvidence(
  server: Server,
  trx: Transaction,
  source: Source,
  tables: readonly TableEvidence[],
  parents: ParentIndex,
): AsyncGenerator<EvidenceBatch> {
  const { profiles, freshness } = server.plugins
  for (let from = 0; from < tables.length; from += TABLES_PER_BATCH) {
    const some = tables.slice(from, from + TABLES_PER_BATCH)
    const ids = some.map(({ id }) => id)
    const own = await profiles.latest(trx, ids)
    const others = new Set(some.flatMap(table => findParentIds(table, parents)).filter(id => !own.has(id)))
    const parentProfiles = new Map([...own, ...(await profiles.latest(trx, [...others]))])
    const signals = await freshness.findSignals(trx, source, ids)
    const dependents = await countDependents(server, trx, ids)
    yield {
      parentProfiles,
      tables: some.map(table => {
        const profile = own.get(table.id)
        const signal = signals.get(table.id)
        return {
          ...table,
          dependents: dependents.get(table.id) ?? 0,
          ...(profile && { profile }),
          ...(signal && { freshness: signal }),
        }
      }),
    }
    await setImmediate()
  }
}

/** How many tables are made from each of some. */
async function countDependents(server: Server, trx: Transaction, tableIds: readonly string[]) {
  const queries = server.plugins.catalog.upstreamQueries()
  if (queries.length === 0) return new Map<string, number>()
  const found = await rows<{ id: string; dependents: number }>(
    trx,
    `select upstream_id as id, cast(count(distinct table_id) as int) as dependents
     from (${queries.join(' union all ')}) u
     where company_id = :companyId and upstream_id = any(cast(:tableIds as uuid[])) group by upstream_id`,
    { companyId: companyOf(trx), tableIds },
  )
  return new Map(found.map(({ id, dependents }) => [id, dependents]))
}
