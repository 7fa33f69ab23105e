import type { ColumnKind, TableInfo } from '../../connectors/catalog.ts'
import type { Connection } from '../../connectors/connector.ts'
import type { Engine } from '../plan.ts'

/** A column of a table that a stand makes. */
export interface StandColumn {
  name: string
  kind: ColumnKind
  /** The column's type in the engine's words; the stand's usual one for the kind unless told. */
  type?: string
}

/** A table with rows, and a session that can read it. */
export interface StandTable {
  table: TableInfo
  connection: Pick<Connection, 'query'>
}

/** Where checks are measured: an engine, and a way to make tables in it. */
export interface Stand {
  engine: Engine
  /** The name of the column under test; `a "value"`, which needs quoting, unless the engine takes no such name. */
  columnName?: string
  /** How the engine keeps a name that is written without quotes; as it is unless told. */
  fold?(name: string): string
  /** Why a table with such a column cannot be made, or null when it can. */
  lacks?(column: StandColumn): string | null
  /** Makes a table with these rows and a primary key `id` that counts them from 1. */
  make(columns: readonly StandColumn[], rows: readonly (readonly unknown[])[]): Promise<StandTable>
}

/** The catalog entry of a table that a stand made: its `id`, then the columns. */
export function describeTable(
  ref: { catalog: string; schema: string; name: string },
  columns: readonly StandColumn[],
): TableInfo {
  const all: readonly StandColumn[] = [{ name: 'id', kind: 'integer' }, ...columns]
  return {
    ...ref,
    kind: 'table',
    comment: null,
    constraints: [{ name: 'pk', type: 'primary_key', columns: ['id'] }],
    columns: all.map(({ name, kind, type }, index) => ({
      name,
      ordinal: index + 1,
      type: type ?? kind,
      rawType: type ?? kind,
      kind,
      nullable: name !== 'id',
      default: null,
      comment: null,
    })),
  }
}
