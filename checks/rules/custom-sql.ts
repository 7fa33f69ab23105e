import Joi from 'joi'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { CheckContext, Question, TableRule } from '../check.ts'
import { rowCount } from '../measures.ts'
import { invalidRow, readRows, rowMeasures } from '../rows.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { checkCustomSql, parseCustomSql, type CustomSql } from '../sql-safety.ts'

type CustomSqlConfig = {
  sql_expression: string
}

function read(context: CheckContext<CustomSqlConfig>): CustomSql {
  const reading = parseCustomSql(context.config.sql_expression)
  if ('error' in reading) throw new Error(reading.error)
  return reading
}

/**
 * The text on lines of its own, with names and texts quoted as the engine does: to some, "amount" is a text. It was
 * parsed as one expression or one SELECT before it came here.
 */
function written({ pieces }: CustomSql, dialect: Dialect): Sql {
  const parts = pieces.map(({ kind, text }) => {
    if (kind === 'sql') return raw(text)
    return kind === 'name' ? dialect.quote(text) : dialect.literal(text)
  })
  return sql`\n${join(parts, '')}\n`
}

/** Asks which of the functions it may call are volatile, where the engine can tell. */
function volatile({ calls }: CustomSql, { dialect }: CheckContext): Question[] {
  if (!dialect.volatileFunctions || calls.length === 0) return []
  return [
    {
      select: dialect.volatileFunctions(calls),
      refuses([found]) {
        if (!found) return null
        const how = found.used ? `, which ${String(found.used)} calls,` : ''
        return `The function ${String(found.name)}${how} is VOLATILE: it may change something or answer differently each time. Have it declared STABLE or IMMUTABLE if it does neither, or leave it out of sql_expression.`
      },
    },
  ]
}

/**
 * Makes the engine look up every name and type of the text without reading a row. What is false comes first: then
 * PostgreSQL does not even compute what is constant in an expression. Of a SELECT it may, as it will in every scan.
 */
function resolves(custom: CustomSql, { from, dialect }: CheckContext): Question {
  const text = written(custom, dialect)
  return {
    select:
      custom.form === 'select'
        ? sql`select 1 as x from (${text}) q where 1 = 0`
        : sql`select 1 as x from ${from} where 1 = 0 and (${text})`,
  }
}

/**
 * CUSTOM_SQL: `sql_expression` is a boolean expression that is true for valid rows, or a whole SELECT that
 * returns the invalid rows. Expression: a row is valid when it is true, so NULL is invalid; where the check
 * names a column, rows in which that column is NULL follow `treat_null_as_valid` instead. SELECT: invalid is
 * the number of rows it returns, which may be above the table's own; NULL policy does not apply. It runs in
 * a statement of its own, in a read-only session. What is refused stands in `checkCustomSql`.
 */
export const customSql: TableRule<CustomSqlConfig> = {
  family: 'rule',
  name: 'CUSTOM_SQL',
  description: 'A boolean SQL expression holds for every row, or a SELECT of invalid rows returns none.',
  config: Joi.object({ sql_expression: Joi.string().min(1).max(10_000).required() }),
  column: 'optional',
  alone: true,
  async refuses({ sql_expression }) {
    const reading = await checkCustomSql(sql_expression)
    return 'error' in reading ? reading.error : null
  },
  asks(context) {
    const custom = read(context)
    return [...volatile(custom, context), resolves(custom, context)]
  },
  measures(context) {
    const custom = read(context)
    if (custom.form === 'expression') return rowMeasures(context, written(custom, context.dialect))
    return { returned: sql`(select ${rowCount} from (${written(custom, context.dialect)}) q)` }
  },
  read(measured, total, context) {
    return 'returned' in measured
      ? { total, invalid: measured.returned ?? 0 }
      : readRows(measured, total, context)
  },
  samples(context) {
    const custom = read(context)
    if (custom.form === 'select')
      return { select: sql`select * from (${written(custom, context.dialect)}) q` }
    return { where: invalidRow(context, written(custom, context.dialect)), columns: custom.columns }
  },
}
