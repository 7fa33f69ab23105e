import type { Pojo } from 'objection'
import {
  companyOf,
  rows,
  type Found,
  type Reading,
  type Readings,
  type Transaction,
} from '../../../server/database/database.ts'
import { Table, type Source } from '../models.ts'
import { openChangesOfTables } from '../drift/open-changes.ts'
import type { AssetExtension } from './asset-extensions.ts'
import type { JudgedFields } from './table-health.ts'

/** Columns of a table that its record shows. Named one by one: `*` in a prepared statement fails after a migration. */
const SHOWN_COLUMNS = [
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
  'partitioning',
  'windowSetting',
  'constraints',
  'columns',
  'columnTags',
  'tags',
  'createdAt',
  'updatedAt',
] as const satisfies (keyof Table)[]

/** A table with the columns that its record shows. */
export type ShownTable = Pick<Table, (typeof SHOWN_COLUMNS)[number]>

const SHOWN_TABLE_QUERY = `
  select ${SHOWN_COLUMNS.map(name => `t.${name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)}`).join(', ')},
    s.name as source_name, s.source_type
  from tables t join sources s on s.company_id = t.company_id and s.id = t.source_id
  where t.company_id = :company_id and t.id = :id`

/**
 * The fields of some tables that are not in their rows: open changes, and what the extensions add.
 * @param options.isSingle whether the record of one table is shown, which has more fields than those of lists
 */
export async function readExtensionFields(
  trx: Transaction,
  extensions: readonly AssetExtension[],
  tableIds: readonly string[],
  { isSingle = false } = {},
): Promise<Map<string, JudgedFields>> {
  if (tableIds.length === 0) return new Map()
  const { readings, merge } = extensionReadings(companyOf(trx), extensions, tableIds, isSingle)
  return merge(await Promise.all(readings.map(({ text, bindings }) => rows(trx, text, bindings))))
}

/** A table as its record shows it. */
interface TableRecord {
  source: Pick<Source, 'name' | 'sourceType'>
  table: ShownTable
  extensionFields: JudgedFields
}

/** The statements that read a table by UUID with all fields of its record, and what makes the record of their rows. */
export function tableRecordReadings(
  companyId: string,
  assetId: string,
  extensions: readonly AssetExtension[],
): { readings: Readings<object[]>; recordOf(found: Found<object[]>): TableRecord | undefined } {
  const id = assetId.toLowerCase()
  const { readings, merge } = extensionReadings(companyId, extensions, [id], true)
  const shown: Reading<Pojo> = {
    name: 'table',
    text: SHOWN_TABLE_QUERY,
    bindings: { company_id: companyId, id },
  }
  return {
    readings: [shown, ...readings],
    recordOf([tables, ...others]) {
      const [row] = tables as Pojo[]
      if (!row) return undefined
      const { sourceName, sourceType, ...columns } = row
      const table = Table.fromDatabaseJson(columns)
      const source = { name: String(sourceName), sourceType: String(sourceType) }
      return { source, table, extensionFields: merge(others).get(id) ?? {} }
    },
  }
}

/** The statements that read these fields, and what makes one object a table of their rows. */
function extensionReadings(
  companyId: string,
  extensions: readonly AssetExtension[],
  tableIds: readonly string[],
  isSingle: boolean,
) {
  const all = [
    openChangesOfTables(companyId, tableIds),
    ...extensions.flatMap(extension => extension.tableFields?.(companyId, tableIds) ?? []),
    ...(isSingle
      ? extensions.flatMap(extension => extension.singleTableFields?.(companyId, tableIds[0]!) ?? [])
      : []),
  ]
  return {
    readings: all.map(({ reading }) => reading),
    merge(answers: readonly object[][]): Map<string, JudgedFields> {
      const maps = all.map((fields, index) => fields.fieldsByTable(answers[index] ?? []))
      return new Map(
        tableIds.map(id => [
          id,
          Object.assign({ schema_change_status: 'none' }, ...maps.map(map => map.get(id))) as JudgedFields,
        ]),
      )
    },
  }
}
