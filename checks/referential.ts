import Joi from 'joi'
import { NUMERIC_KINDS, tablePath, type ColumnInfo, type TableInfo } from '../connectors/catalog.ts'
import type { Dialect } from '../connectors/dialect.ts'
import { join, raw, sql, type Sql } from '../connectors/sql.ts'
import type { CheckContext, Measure, TableRule } from './check.ts'
import { storesNumbersAsBooleans } from './column-values.ts'
import { nonNullCount, numberLiteral } from './measures.ts'

/** What the child column refers to, and how many children each parent must and may have. */
export type ReferentialConfig = {
  parent: TableInfo
  parentColumn: string
  /** Measured only when given. */
  minChildren?: number | null
  /** Measured only when given. */
  maxChildren?: number | null
}

type Context = CheckContext<ReferentialConfig>

/**
 * Each value of the two columns that is not NULL, with how many children have it and whether it is a parent's. A
 * union, not a join: no engine has another way to compute it than to read each table once, where a join without an
 * index or a hash compares every child with every parent. A parent that stands there twice multiplies nothing. The
 * children are counted before they meet the parents, of which most are different.
 */
function families({ column, from, filter, config, dialect, info }: Context): Sql {
  const keys = keysOf({ dialect, info, config })
  const child = keys.child(sql`c.${column}`)
  const parent = keys.parent(sql`p.${dialect.quote(config.parentColumn)}`)
  const rows = filter
    ? sql`${filter.condition} and ${dialect.isNotNull(child, info)}`
    : dialect.isNotNull(child, info)
  const children = sql`select ${child} as k, count(*) as children, 0 as parents from ${from} c where ${rows} group by ${child}`
  const parents = sql`select ${parent} as k, 0 as children, 1 as parents from ${dialect.table(config.parent)} p where ${dialect.isNotNull(parent, parentOf(config))}`
  return sql`select u.k as k, sum(u.children) as children, max(u.parents) as parents from (${children} union all ${parents}) u group by u.k`
}

/**
 * How the two columns are written to be compared. Where one of them keeps 32-bit floats, the other's numbers are taken
 * as it would keep them: its 0.1 equals that of a decimal or a double, which engines compare as doubles.
 */
function keysOf({ dialect, info, config }: Pick<Context, 'dialect' | 'info' | 'config'>) {
  const parent = parentOf(config)
  const [ofChild, ofParent] = [info, parent].map(column => column !== undefined && dialect.isFloat32(column))
  const asIs = (value: Sql) => value
  const asSingle = (value: Sql) => dialect.asFloat32(value)
  return {
    child: ofParent && !ofChild ? asSingle : asIs,
    parent: ofChild && !ofParent ? asSingle : asIs,
  }
}

function parentOf({ parent, parentColumn }: ReferentialConfig): ColumnInfo | undefined {
  return parent.columns.find(({ name }) => name === parentColumn)
}

function sumIf(condition: Sql, then: Sql): Sql {
  return sql`coalesce(sum(case when ${condition} then ${then} else 0 end), 0)`
}

/** The numbers that need both tables, by the names they are measured under; limits that are not set ask for none. */
function counts({ config, dialect }: Context): Record<string, Sql> {
  const { minChildren, maxChildren } = config
  const parentIf = (condition: Sql) => sumIf(sql`f.parents = 1 and ${condition}`, sql`1`)
  return {
    orphans: sumIf(sql`f.parents = 0`, sql`f.children`),
    ...(typeof minChildren === 'number' && {
      below: parentIf(sql`f.children < ${numberLiteral(minChildren, dialect)}`),
    }),
    ...(typeof maxChildren === 'number' && {
      above: parentIf(sql`f.children > ${numberLiteral(maxChildren, dialect)}`),
    }),
  }
}

/**
 * Every value of the column occurs in a column of another table, or of the same one. Children that are NULL refer to
 * nothing and are no orphans. `measured` holds `present`, the children that are not NULL, `orphans`, and when asked
 * for `below` and `above`, the parents with fewer or more children than allowed; parents are counted by value. All in
 * one statement, which no other check waits for: the parent is read once, the child once more than for its rows.
 */
export const referential: TableRule<ReferentialConfig> = {
  family: 'rule',
  name: 'REFERENTIAL',
  description: 'Every value of the column that is not NULL occurs in a column of another table.',
  config: Joi.object({
    parent: Joi.object().unknown().required(),
    parentColumn: Joi.string().required(),
    minChildren: Joi.number().integer().min(0).allow(null),
    maxChildren: Joi.number().integer().min(0).allow(null),
  }),
  column: 'required',
  kinds: ['integer', 'decimal', 'float', 'text', 'boolean', 'date', 'timestamp', 'time', 'binary', 'other'],
  comparesValues: true,
  ownStatement: true,
  filters: true,
  validateConfig({ parent, parentColumn: name }, child, { dialect }) {
    const column = parent.columns.find(candidate => candidate.name === name)
    if (!column) return `The column ${name} does not exist in ${tablePath(parent)}.`
    return child ? incomparable(child, column, dialect) : null
  },
  measures(context) {
    const numbers = Object.entries(counts(context))
    const outputs = numbers.map(([name, number]) => sql`${number} as ${raw(name)}`)
    const select = sql`select ${join(outputs)} from (${families(context)}) f`
    return {
      present: nonNullCount(context),
      ...Object.fromEntries(numbers.map(([column]): [string, Measure] => [column, { select, column }])),
    }
  },
  readMeasures: (measured, total) => ({ total, invalid: measured.orphans ?? 0 }),
  samples(context) {
    // Not correlated: the child's column would be ambiguous with a parent's of the same name.
    return {
      where: sql`${keysOf(context).child(context.column)} in (select f.k from (${families(context)}) f where f.parents = 0)`,
    }
  },
}

/** Kinds of which values can be equal to each other's. What `other` is comparable with only the engine knows. */
const COMPARABLE: readonly (readonly ColumnInfo['kind'][])[] = [
  NUMERIC_KINDS,
  ['text'],
  ['boolean'],
  ['date', 'timestamp'],
  ['time'],
  ['binary'],
]

/** Why values of one column are never equal to those of another, in a sentence; null when they can be. */
export function incomparable(child: ColumnInfo, parent: ColumnInfo, dialect: Dialect): string | null {
  const kinds = [child.kind, parent.kind]
  const hasNumber = [child, parent].map(column => storesNumbersAsBooleans(column, dialect))
  const numbers = kinds.map((kind, index) => (hasNumber[index] ? 'integer' : kind))
  const fits =
    !kinds.includes('json') &&
    (kinds.includes('other') ||
      COMPARABLE.some(group => [kinds, numbers].some(pair => pair.every(kind => group.includes(kind)))))
  if (fits) return null
  return `The column ${child.name} is ${child.type} and ${parent.name} is ${parent.type}, which cannot be compared: choose columns of one kind.`
}

/** A statement that reads no rows, which the engine refuses when it cannot compare the two columns. */
export function comparison(
  dialect: Dialect,
  child: { table: TableInfo; column: string },
  { parent, parentColumn: name }: Pick<ReferentialConfig, 'parent' | 'parentColumn'>,
): Sql {
  const nothing = (table: TableInfo, column: string) =>
    sql`select t.${dialect.quote(column)} as k from ${dialect.table(table)} t where 1 = 0`
  const both = sql`${nothing(child.table, child.column)} union all ${nothing(parent, name)}`
  return sql`select u.k as k from (${both}) u group by u.k`
}
