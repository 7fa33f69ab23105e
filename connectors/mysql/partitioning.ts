import { partitioningOf, type PartitionColumn, type TableInfo } from '../catalog.ts'

/** Methods by the first word of `partition_method` that is not LINEAR; `SYSTEM_TIME` is none of columns. */
const METHODS: Readonly<Record<string, PartitionColumn['method']>> = {
  RANGE: 'range',
  LIST: 'list',
  HASH: 'hash',
  KEY: 'hash',
}

/** A name as the server prints it, in the quotes of the session's sql_mode. */
const NAME_PATTERN = /^(?:`((?:[^`]|``)+)`|"((?:[^"]|"")+)"|([\w$]+))$/u
/** What stands between the commas of a list. */
const PART_PATTERN = /(?:`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^`",])+/gu
/**
 * Functions that keep the order of time, of which servers prune partitions by conditions on the bare column.
 * https://dev.mysql.com/doc/refman/8.4/en/partitioning-pruning.html
 */
const ORDER_KEEPING_PATTERN = /^(?:to_days|to_seconds|year|unix_timestamp)\s*\((.*)\)$/isu

/** The columns of a `partition_method` and `partition_expression`; other expressions than bare columns are left out. */
export function describePartitioning(table: TableInfo, how: string, expression: string) {
  const method = METHODS[how.replace(/^LINEAR /, '').split(' ')[0] ?? '']
  const ordered = method === 'range' ? ORDER_KEEPING_PATTERN.exec(expression.trim())?.[1] : undefined
  const columns = [...(ordered ?? expression).matchAll(PART_PATTERN)].flatMap(([part]) => {
    const [, ticked, quoted, bare] = NAME_PATTERN.exec(part.trim()) ?? []
    const name = ticked?.replaceAll('``', '`') ?? quoted?.replaceAll('""', '"') ?? bare
    // The statement that made the table may have written the name in other case.
    const column = table.columns.find(own => own.name.toLowerCase() === name?.toLowerCase())
    return column && method ? [{ name: column.name, method }] : []
  })
  return partitioningOf({ columns, clustering: [] })
}
