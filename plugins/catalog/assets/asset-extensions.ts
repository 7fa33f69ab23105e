import type { Pojo } from 'objection'
import {
  companyOf,
  rows,
  type Database,
  type Reading,
  type Transaction,
} from '../../../server/database/database.ts'
import { Table, type Source } from '../models.ts'
import { openChangesOfTables } from '../drift/open-changes.ts'

/** What other features know of assets, merged into their records. */
export interface AssetFacts {
  /** Fields of representation A, by source id. */
  sources?(trx: Transaction, sources: readonly Source[]): Promise<Map<string, object>>
  /** Fields of representation B. */
  tables?(companyId: string, tableIds: readonly string[]): TableFacts
  /** Forgets a source and its tables, whose rows were removed before in the same transaction. */
  forget?(trx: Transaction, assetIds: readonly string[]): Promise<void>
}

/** What is known of some tables: what reads it, and what is made of it by table id. */
export interface TableFacts<Row extends object = object> {
  reading: Reading<Row>
  tell(found: readonly Row[]): Map<string, object>
}

/** What the record of a table shows; each column by its name, so that the statement outlives migrations. */
const SHOWN = [
  'id',
  'qualifiedName',
  'kind',
  'catalogName',
  'schemaName',
  'name',
  'description',
  'comment',
  'isActive',
  'absence',
  'readError',
  'columnCount',
  'estimatedRows',
  'constraints',
  'columns',
  'columnTags',
  'tags',
  'createdAt',
  'updatedAt',
] as const satisfies (keyof Table)[]

/** A table with what its record shows. */
export type ShownTable = Pick<Table, (typeof SHOWN)[number]>

const SHOWN_TABLE = `
  select ${SHOWN.map(name => `t.${name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)}`).join(', ')},
    s.name as source_name
  from tables t join sources s on s.company_id = t.company_id and s.id = t.source_id
  where t.company_id = :company_id and t.id = :id`

/** What is known of some tables beside their rows, by features too, merged by table. */
export async function factsOf(
  trx: Transaction,
  facts: readonly AssetFacts[],
  tableIds: readonly string[],
): Promise<Map<string, object>> {
  if (tableIds.length === 0) return new Map()
  const { readings, merge } = readingsOf(companyOf(trx), facts, tableIds)
  return merge(await Promise.all(readings.map(({ text, bindings }) => rows(trx, text, bindings))))
}

/** A table by its UUID with all that is known of it, read together; undefined when there is no such table. */
export async function readTable(
  db: Database,
  companyId: string,
  assetId: string,
  facts: readonly AssetFacts[],
): Promise<{ source: { name: string }; table: ShownTable; facts: object } | undefined> {
  const id = assetId.toLowerCase()
  const { readings, merge } = readingsOf(companyId, facts, [id])
  const shown: Reading<Pojo> = { name: 'table', text: SHOWN_TABLE, bindings: { company_id: companyId, id } }
  const [[row], ...found] = await db.read<[Pojo, ...object[]]>(companyId, [shown, ...readings])
  if (!row) return undefined
  const { sourceName, ...columns } = row
  const table = Table.fromDatabaseJson(columns)
  return { source: { name: String(sourceName) }, table, facts: merge(found).get(id) ?? {} }
}

/** What reads what is known of some tables, for a batch, and what makes one of what each has read. */
export function readingsOf(companyId: string, facts: readonly AssetFacts[], tableIds: readonly string[]) {
  const all = [
    openChangesOfTables(companyId, tableIds),
    ...facts.flatMap(({ tables }) => tables?.(companyId, tableIds) ?? []),
  ]
  return {
    readings: all.map(({ reading }) => reading),
    merge(found: readonly object[][]): Map<string, object> {
      const known = all.map(({ tell }, at) => tell(found[at] ?? []))
      return new Map(
        tableIds.map(id => [
          id,
          Object.assign({ schema_change_status: 'none' }, ...known.map(map => map.get(id))) as object,
        ]),
      )
    },
  }
}
