/** How many recommendations each table has: stored, so that a page of a source computes only its own tables. */
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { lockName } from '../../server/database/locks.ts'
import type { Source } from '../catalog/api.ts'
import { readOffers, STATUSES, type Offer, type OfferStatus } from './offers.ts'
import type { CheckTypeName, TableEvidence } from './rules/evidence.ts'
import { nameOfThing, thingsOf } from './rules/references.ts'
import type { RecommendationsDeps } from './deps.ts'

/** The recommendations of a table that are alike for all filters of lists. */
interface CountDetail {
  type: CheckTypeName
  confidence: number
  status: OfferStatus
  count: number
}

/** Tables that are counted in one transaction. */
export const TABLES_PER_COUNT = 200

/** The tables of a source that changed since they were counted, in the order of lists; at most `limit`. */
export async function findUncounted(trx: Transaction, { id }: Source, limit: number): Promise<string[]> {
  const changed = await rows<{ id: string }>(
    trx,
    `select c.table_id as id
     from (select distinct table_id from recommendation_changes where company_id = :companyId and source_id = :sourceId) c
     left join tables t on t.company_id = :companyId and t.id = c.table_id
     order by t.qualified_name, c.table_id limit :limit`,
    { companyId: companyOf(trx), sourceId: id, limit },
  )
  return changed.map(table => table.id)
}

/** Whether any of them comes before a table, or is it. */
export async function hasUncountedUntil(trx: Transaction, { id }: Source, tableId: string): Promise<boolean> {
  const earlier = await rows(
    trx,
    `select 1 as one from recommendation_changes c
     join tables t on t.company_id = :companyId and t.id = c.table_id
     where c.company_id = :companyId and c.source_id = :sourceId and t.is_active and (t.qualified_name, t.id) <= (
       select qualified_name, table_id from recommendation_counts where company_id = :companyId and table_id = :tableId)
     limit 1`,
    { companyId: companyOf(trx), sourceId: id, tableId },
  )
  return earlier.length > 0
}

/** How many tables of a source changed since they were counted. */
export async function countUncounted(trx: Transaction, { id }: Source): Promise<number> {
  const [counted] = await rows<{ count: number }>(
    trx,
    `select cast(count(distinct table_id) as int) as count from recommendation_changes
     where company_id = :companyId and source_id = :sourceId`,
    { companyId: companyOf(trx), sourceId: id },
  )
  return counted?.count ?? 0
}

/**
 * Counts the recommendations of tables. What changed before is done with then; a change that commits meanwhile stays, so
 * that its table is counted again.
 */
export async function countTables(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  tableIds: readonly string[],
): Promise<void> {
  await lockName(trx, `recommendation-counts:${source.id}`)
  const bindings = { companyId: companyOf(trx), sourceId: source.id, tableIds }
  await spreadChanges(trx, source, tableIds)
  const changes = await rows<{ id: string }>(
    trx,
    `select id from recommendation_changes
     where company_id = :companyId and source_id = :sourceId and table_id = any(cast(:tableIds as uuid[]))`,
    bindings,
  )
  const counted = new Map<string, TableEvidence>()
  const offers: Offer[] = []
  const note = (tables: readonly TableEvidence[]) => tables.forEach(table => counted.set(table.id, table))
  const filter = { tableIds: new Set(tableIds), isWanted: () => true }
  for await (const batch of readOffers(deps, trx, source, filter, note)) offers.push(...batch)
  await saveCounts(trx, source, [...counted.values()], offers)
  await trx.raw(
    `delete from recommendation_counts where company_id = :companyId and source_id = :sourceId
       and table_id = any(cast(:inactive as uuid[]))`,
    { ...bindings, inactive: tableIds.filter(id => !counted.has(id)) },
  )
  await trx.raw(
    `delete from recommendation_changes where company_id = :companyId and id = any(cast(:ids as bigint[]))`,
    {
      ...bindings,
      ids: changes.map(({ id }) => id),
    },
  )
}

/**
 * Lets tables be counted again whose columns are called after a table whose key or name changed, and those of other sources
 * that have its name: they may be copies of each other.
 * @param tableIds defaults to all that changed
 */
export async function spreadChanges(
  trx: Transaction,
  { id: sourceId }: Source,
  tableIds?: readonly string[],
): Promise<void> {
  const bindings = { companyId: companyOf(trx), sourceId, tableIds: tableIds ?? [] }
  const changed = await rows<{ id: string; name: string }>(
    trx,
    `with spread as (
       update recommendation_changes set is_of_key = false
       where company_id = :companyId and source_id = :sourceId and is_of_key
         ${tableIds ? 'and table_id = any(cast(:tableIds as uuid[]))' : ''} returning table_id)
     select distinct t.id, t.name from spread join tables t on t.company_id = :companyId and t.id = spread.table_id`,
    bindings,
  )
  if (changed.length === 0) return
  const records = JSON.stringify(changed.map(({ id, name }) => ({ id, thing: nameOfThing(name) })))
  await trx.raw(
    `with given as materialized (select id, thing from jsonb_to_recordset(cast(:records as jsonb)) as r(id uuid, thing text)),
     renamed as (
       update recommendation_counts c set thing = g.thing from given g
       where c.company_id = :companyId and c.table_id = g.id and c.thing <> g.thing)
     insert into recommendation_changes (company_id, source_id, table_id, is_of_key)
     select distinct c.company_id, c.source_id, c.table_id, false
     from recommendation_counts c cross join unnest(c.things) as named (thing) join given g on g.thing = named.thing
     where c.company_id = :companyId and c.source_id = :sourceId and c.table_id not in (
       select table_id from recommendation_changes where company_id = :companyId and source_id = :sourceId)`,
    { ...bindings, records },
  )
  await trx.raw(
    `insert into recommendation_changes (company_id, source_id, table_id, is_of_key)
     select distinct o.company_id, o.source_id, o.id, false
     from tables t join tables o on o.company_id = :companyId and o.lower_name = t.lower_name and o.is_active
     where t.company_id = :companyId and t.id = any(cast(:changed as uuid[])) and o.source_id <> :sourceId`,
    { ...bindings, changed: changed.map(({ id }) => id) },
  )
}

/** Stores the counts of tables. @param offers all of theirs */
async function saveCounts(
  trx: Transaction,
  source: Source,
  tables: readonly TableEvidence[],
  offers: readonly Offer[],
): Promise<void> {
  const byTable = Map.groupBy(offers, ({ table }) => table.id)
  const records = tables.map(table => {
    const own = byTable.get(table.id) ?? []
    const count = (status: OfferStatus) => own.filter(offer => offer.status === status).length
    return {
      table_id: table.id,
      ...Object.fromEntries(STATUSES.map(status => [status, count(status)])),
      details: detailsOf(own),
      things: thingsOf(table),
      thing: nameOfThing(table.name),
    }
  })
  const statuses = STATUSES.join(', ')
  await trx.raw(
    `insert into recommendation_counts (table_id, company_id, source_id, qualified_name, ${statuses}, details, things, thing)
     select r.table_id, t.company_id, t.source_id, t.qualified_name, ${STATUSES.map(status => `r.${status}`).join(', ')},
       r.details, r.things, r.thing
     from jsonb_to_recordset(cast(:records as jsonb)) as r(table_id uuid, ${STATUSES.map(status => `${status} int`).join(', ')},
       details jsonb, things text[], thing text)
     join tables t on t.company_id = :companyId and t.source_id = :sourceId and t.id = r.table_id order by r.table_id
     on conflict (table_id) do update set qualified_name = excluded.qualified_name,
       ${[...STATUSES, 'details', 'things', 'thing'].map(column => `${column} = excluded.${column}`).join(', ')}`,
    { companyId: companyOf(trx), sourceId: source.id, records: JSON.stringify(records) },
  )
}

function detailsOf(offers: readonly Offer[]): CountDetail[] {
  const alike = Map.groupBy(offers, ({ suggestion: { type, confidence }, status }) =>
    JSON.stringify([type, confidence, status]),
  )
  return Array.from(alike.values(), some => {
    const { suggestion, status } = some[0]!
    return { type: suggestion.type, confidence: suggestion.confidence, status, count: some.length }
  })
}

/** What narrows counts. */
export interface CountFilter {
  /** Defaults to all. */
  types?: readonly CheckTypeName[]
  minConfidence: number
  status: readonly OfferStatus[]
  limit: number
  offset: number
}

/** The tables of a page, and what is counted on all pages. */
export interface CountWindow {
  tables: { id: string; /** Recommendations of tables before it. */ before: number; wanted: number }[]
  total: number
  tableCount: number
  counts: Record<OfferStatus, number>
}

type WindowRow = Record<OfferStatus, number> & { total: number; tableCount: number } & {
  id: string | null
  before: number
  wanted: number
}

/** Finds the tables of a page in the stored counts of a source, by one statement. */
export async function readWindow(
  trx: Transaction,
  source: Source,
  filter: CountFilter,
): Promise<CountWindow> {
  const { types, minConfidence, status, limit, offset } = filter
  const isFiltered = types !== undefined || minConfidence > 0
  const from = isFiltered ? 'd' : 'c'
  const placed = await rows<WindowRow>(
    trx,
    `with counted as materialized (
       select c.table_id, c.qualified_name, ${STATUSES.map(name => `${from}.${name}`).join(', ')},
         ${status.map(name => `${from}.${name}`).join(' + ')} as wanted
       from recommendation_counts c ${isFiltered ? DETAILS : ''}
       where c.company_id = :companyId and c.source_id = :sourceId),
     placed as (
       select table_id, wanted, qualified_name, sum(wanted) over (order by qualified_name, table_id) - wanted as before
       from counted where wanted > 0)
     select w.*, p.table_id as id, cast(p.before as int) as before, p.wanted
     from (select ${STATUSES.map(name => `cast(coalesce(sum(${name}), 0) as int) as ${name}`).join(', ')},
         cast(coalesce(sum(wanted), 0) as int) as total, cast(count(*) filter (where wanted > 0) as int) as table_count
       from counted) w
     left join (select * from placed where before < cast(:offset as bigint) + cast(:limit as bigint)
       and before + wanted > cast(:offset as bigint)) p on true
     order by p.before`,
    {
      companyId: companyOf(trx),
      sourceId: source.id,
      limit,
      offset,
      types: types ?? null,
      minConfidence,
    },
  )
  const { total, tableCount } = placed[0]!
  return {
    tables: placed.flatMap(({ id, before, wanted }) => (id === null ? [] : [{ id, before, wanted }])),
    total,
    tableCount,
    counts: Object.fromEntries(STATUSES.map(name => [name, placed[0]![name]])) as CountWindow['counts'],
  }
}

const DETAILS = `cross join lateral (
  select ${STATUSES.map(name => `cast(coalesce(sum(count) filter (where status = '${name}'), 0) as int) as ${name}`).join(', ')}
  from jsonb_to_recordset(c.details) as r(type text, confidence numeric, status text, count int)
  where confidence >= cast(:minConfidence as numeric)
    and (cast(:types as text[]) is null or type = any(cast(:types as text[])))) d`
