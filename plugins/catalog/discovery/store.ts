import { setImmediate } from 'node:timers/promises'
import { v7 } from 'uuid'
import { formatName, tablePath, type ConstraintInfo, type TableInfo } from '../../../connectors/catalog.ts'
import type { ConnectorError } from '../../../connectors/errors.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { failureOf } from '../sources/failures.ts'
import { storedTablePath } from '../drift/drift.ts'
import { compactColumn, Table, type Source } from '../models.ts'

/** What is asked of every stored table of a source, so that those that did not change are not read. */
export interface KnownTable {
  id: string
  catalogName: string
  schemaName: string
  name: string
  fingerprint: string
  isActive: boolean
  absence: 'removed' | 'excluded' | null
  hasReadError: boolean
  estimatedRows: number | null
}

/** The stored tables of a source, removed ones too. */
export function knownTables(trx: Transaction, source: Source): Promise<KnownTable[]> {
  return rows<KnownTable>(
    trx,
    `select id, catalog_name, schema_name, name, fingerprint, is_active, absence, estimated_rows::float8,
       read_error is not null as has_read_error
     from tables where company_id = ? and source_id = ?`,
    [source.companyId, source.id],
  )
}

/** Whole rows of stored tables by path. */
export async function storedTables(trx: Transaction, ids: readonly string[]): Promise<Map<string, Table>> {
  const found = new Map<string, Table>()
  await inChunks(ids, async some => {
    for (const row of await Table.query(trx).whereRaw('id = any(?)', [some]))
      found.set(storedTablePath(row), row)
  })
  return found
}

/** Tables in one statement: enough for few statements, few enough for the memory of the server. */
const MAX_CHUNK_TABLES = 500
/** Columns in one statement; a table has up to some thousands. */
const MAX_CHUNK_COLUMNS = 8_000

/**
 * Inserts tables, or brings them up to date and into use again.
 * @param prints their fingerprints by path
 * @returns their ids by path
 */
export async function storeTables(
  trx: Transaction,
  source: Source,
  tables: readonly TableInfo[],
  prints: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  const write = async (records: string) => {
    const written = await rows<Parameters<typeof storedTablePath>[0] & { id: string }>(
      trx,
      `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind,
         identity, comment, columns, constraints, column_count, fingerprint, estimated_rows, partitioning)
       select r.id, :companyId, :sourceId, r.catalog_name, r.schema_name, r.name, r.qualified_name, r.kind,
         r.identity, r.comment, r.columns, r.constraints, r.column_count, r.fingerprint, r.estimated_rows,
         r.partitioning
       from jsonb_to_recordset(cast(:records as jsonb)) as r(id uuid, catalog_name text, schema_name text, name text,
         qualified_name text, kind text, identity text, comment text, columns jsonb, constraints jsonb,
         column_count integer, fingerprint text, estimated_rows bigint, partitioning jsonb)
       on conflict (source_id, catalog_name, schema_name, name) do update set
         qualified_name = excluded.qualified_name, kind = excluded.kind, identity = excluded.identity,
         comment = excluded.comment, columns = excluded.columns, constraints = excluded.constraints,
         column_count = excluded.column_count, fingerprint = excluded.fingerprint,
         estimated_rows = excluded.estimated_rows, partitioning = excluded.partitioning, is_active = true, absence = null, read_error = null,
         updated_at = now()
       returning id, catalog_name, schema_name, name`,
      { companyId: source.companyId, sourceId: source.id, records },
    )
    for (const table of written) ids.set(storedTablePath(table), table.id)
  }
  let written = Promise.resolve()
  for (const chunk of chunkTables(tables)) {
    // Made while PostgreSQL writes the chunk before.
    const records = JSON.stringify(
      chunk.map(table => tableRow(source, table, prints.get(tablePath(table)) ?? '')),
    )
    await written
    written = write(records)
    // What fails is thrown where it is awaited.
    written.catch(() => undefined)
    await setImmediate()
  }
  await written
  return ids
}

function* chunkTables(tables: readonly TableInfo[]): Generator<TableInfo[]> {
  let chunk: TableInfo[] = []
  let columns = 0
  for (const table of tables) {
    chunk.push(table)
    columns += table.columns.length
    if (chunk.length < MAX_CHUNK_TABLES && columns < MAX_CHUNK_COLUMNS) continue
    yield chunk
    chunk = []
    columns = 0
  }
  if (chunk.length > 0) yield chunk
}

function tableRow(source: Source, table: TableInfo, fingerprint: string) {
  return {
    id: v7(),
    catalog_name: table.catalog,
    schema_name: table.schema,
    name: table.name,
    qualified_name: formatName([source.name, table.catalog, table.schema, table.name]),
    kind: table.kind,
    identity: table.identity ?? null,
    comment: table.comment,
    columns: table.columns.map(compactColumn),
    constraints: table.constraints,
    column_count: table.columns.length,
    fingerprint,
    estimated_rows: storableEstimate(table),
    partitioning: table.partitioning ?? null,
  }
}

/** Rows that one statement reads or changes whole: 100,000 take longer than the product's database gives a statement. */
const MAX_CHUNK_ROWS = 4_000

/** Does something with any number of rows, some in a statement. */
export async function inChunks<Item>(all: readonly Item[], work: (some: Item[]) => PromiseLike<unknown>) {
  for (let from = 0; from < all.length; from += MAX_CHUNK_ROWS)
    await work(all.slice(from, from + MAX_CHUNK_ROWS))
}

/** Changes tables of a source by their ids, some in a statement. @param change the rest of an UPDATE */
function changeTables(
  trx: Transaction,
  { companyId }: Source,
  ids: readonly string[],
  change: { set: string; and?: string; bindings?: Record<string, string> },
): Promise<void> {
  const { set, and = '', bindings } = change
  const statement = `update tables set ${set} where company_id = :companyId and id = any(:some) ${and}`
  return inChunks(ids, some => trx.raw(statement, { ...bindings, companyId, some }))
}

/** Changes each of some tables by an item with its id. @param columns of `r`, the items; @param set of `t`, the tables */
function changeEachTable(
  trx: Transaction,
  { companyId }: Source,
  items: readonly { id: string }[],
  { columns, set, and = '' }: { columns: string; set: string; and?: string },
): Promise<void> {
  const statement = `update tables t set ${set} from jsonb_to_recordset(cast(:items as jsonb)) as r(id uuid, ${columns})
    where t.company_id = :companyId and t.id = r.id ${and}`
  return inChunks(items, some => trx.raw(statement, { items: JSON.stringify(some), companyId }))
}

/** Keeps what is stored of some tables as what was accepted; `absent` ones were not there when they were. */
export async function saveBaselines(
  trx: Transaction,
  source: Source,
  ids: { stored: readonly string[]; absent: readonly string[] },
): Promise<void> {
  await changeTables(trx, source, ids.stored, {
    set: `baseline = jsonb_strip_nulls(jsonb_build_object('kind', kind, 'identity', identity))
      || jsonb_build_object('columns', columns, 'constraints', constraints)`,
  })
  await changeTables(trx, source, ids.absent, { set: `baseline = jsonb_build_object('absent', true)` })
}

/** The columns and constraints of a stored table that were accepted, with properties that are known since. */
export interface CompletedBaseline {
  id: string
  columns: ReturnType<typeof compactColumn>[]
  constraints: ConstraintInfo[]
}

/** Stores what became known of columns and constraints that were accepted. */
export function completeBaselines(trx: Transaction, source: Source, completed: readonly CompletedBaseline[]) {
  const set = `baseline = t.baseline || jsonb_build_object('columns', r.columns, 'constraints', r.constraints)`
  return changeEachTable(trx, source, completed, { columns: 'columns jsonb, constraints jsonb', set })
}

/** Forgets what was accepted of some tables: what they are is. */
export function dropBaselines(trx: Transaction, source: Source, ids: readonly string[]): Promise<void> {
  return changeTables(trx, source, ids, { set: 'baseline = null', and: 'and baseline is not null' })
}

/** Takes tables out of use; their records stay readable. */
export function retireTables(
  trx: Transaction,
  source: Source,
  ids: readonly string[],
  absence: 'removed' | 'excluded',
): Promise<void> {
  const set = 'is_active = false, absence = :absence, read_error = null, updated_at = now()'
  return changeTables(trx, source, ids, { set, bindings: { absence } })
}

/** Remembers which tables could not be read and why, and forgets it of those that could. */
export function saveReadErrors(
  trx: Transaction,
  source: Source,
  unread: readonly { id: string; error: ConnectorError }[],
  readAgain: readonly string[],
): Promise<void> {
  const notes = [
    ...unread.map(({ id, error }) => ({ id, error: failureOf(error) })),
    ...readAgain.map(id => ({ id, error: undefined })),
  ]
  return changeEachTable(trx, source, notes, {
    columns: 'error jsonb',
    set: 'read_error = r.error',
    and: 'and t.read_error is distinct from r.error',
  })
}

/** How much an estimate must be off to be written, since that is a write for every table that is written to. */
const ESTIMATE_TOLERANCE = 1.5

/** Some engines report impossibly many rows, or fractions. */
function storableEstimate({ estimatedRows }: TableInfo): number | null {
  if (estimatedRows === undefined || !(estimatedRows >= 0)) return null
  return Math.min(Math.round(estimatedRows), Number.MAX_SAFE_INTEGER)
}

/** Brings the row estimates of tables that did not change otherwise up to date. */
export function storeEstimates(
  trx: Transaction,
  source: Source,
  pairs: readonly (readonly [KnownTable, TableInfo])[],
): Promise<void> {
  const off = pairs.flatMap(([{ id, estimatedRows: stored }, table]) => {
    const now = storableEstimate(table)
    if (now === null) return []
    const isClose =
      stored !== null && now <= ESTIMATE_TOLERANCE * stored && stored <= ESTIMATE_TOLERANCE * now
    return isClose ? [] : [{ id, rows: now }]
  })
  return changeEachTable(trx, source, off, { columns: 'rows bigint', set: 'estimated_rows = r.rows' })
}

/** Counts what a source holds, once for all who will ask. */
export async function countTables(trx: Transaction, { companyId, id }: Source): Promise<void> {
  await trx.raw(
    `update sources set (table_count, column_count, schema_count, catalog_count) = (
       select count(*), coalesce(sum(column_count), 0), count(distinct (catalog_name, schema_name)),
         count(distinct catalog_name)
       from tables where company_id = :companyId and source_id = :id and is_active)
     where company_id = :companyId and id = :id`,
    { companyId, id },
  )
}
