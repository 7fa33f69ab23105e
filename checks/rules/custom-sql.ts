import Joi from 'joi'
import { raw, sql } from '../../connectors/sql.ts'
import type { CheckContext, EngineValidation, TableRule } from '../check.ts'
import { rowCount } from '../measures.ts'
import { invalidRowCondition, readRowCounts, rowMeasures } from '../rows/row-rules.ts'
import { checkCustomSql, parseCustomSql, type CustomSql } from '../sql/custom-sql.ts'
import { findOutputName } from '../sql/output-names.ts'
import { plainSelect, renderCustomSql, renderForCounting, validateVolatility } from '../sql/render.ts'

type CustomSqlConfig = {
  sql_expression: string
  value_column?: string
  value_unit?: string
  expected?: string
}

function parseConfig(context: CheckContext<CustomSqlConfig>): CustomSql {
  const { config, dialect, table } = context
  const reading = parseCustomSql(config.sql_expression, { dialect, columns: table.columns })
  if ('error' in reading) throw new Error(reading.error)
  return reading
}

/**
 * Makes the engine resolve every name and type of the text, and nothing more: a text that was run, or only planned, could
 * have the engine raise what it read. The aliases of this statement are visible to the text, so they are names that no table has: a missing column must not
 * resolve to one of them.
 */
function validateNames(custom: CustomSql, { from, dialect }: CheckContext): EngineValidation {
  const text = renderCustomSql(custom, dialect)
  if (custom.form === 'expression')
    return { accepts: sql`select 1 as tidemark_probe from ${from} where 1 = 0 and (${text})` }
  // In this position its columns may share a name.
  if (dialect.needsUniqueColumnNames && custom.countingPieces)
    return {
      accepts: sql`select 1 as tidemark_probe from (select 1 as tidemark_probe) tidemark_probe where 1 = 0 and exists (${text})`,
    }
  return { accepts: sql`select 1 as x from (${text}) q where 1 = 0` }
}

/**
 * CUSTOM_SQL: `sql_expression` is a boolean expression that is true for valid rows, or a whole SELECT that
 * returns the invalid rows. Expression: a row is valid when it is true, so NULL is invalid; where the check
 * names a column, rows in which that column is NULL follow `treat_null_as_valid` instead. SELECT: invalid is
 * the number of rows it returns, which may be above the table's own; NULL policy does not apply. An expression is counted
 * beside the other checks of its table; a SELECT runs in a statement of its own. Sessions are read-only. What is refused stands in `checkCustomSql`. A SELECT of one number that is
 * not as `expected` is described by that number, if `value_column` counts rows.
 */
export const customSql: TableRule<CustomSqlConfig> = {
  family: 'rule',
  name: 'CUSTOM_SQL',
  label: 'Custom SQL',
  description: 'A boolean SQL expression holds for every row, or a SELECT of invalid rows returns none.',
  config: Joi.object({
    sql_expression: Joi.string().min(1).max(10_000).required(),
    expected: Joi.string()
      .max(200)
      .description(
        'What the number of a SELECT that returns a row when it is wrong must be, for messages: `at most 10 %`.',
      ),
    value_column: Joi.string()
      .max(63)
      .pattern(/^[a-z_][a-z0-9_]*$/)
      .description('The column of that SELECT with the number. It is shown if it counts rows.'),
    value_unit: Joi.string().max(50).description('The unit of the number: `%`, `rows`.'),
  }),
  column: 'optional',
  userSql: 'aggregate',
  filters: true,
  namesItsRows: ({ sql_expression }, { dialect, table }) => {
    const reading = parseCustomSql(sql_expression, { dialect, columns: table.columns })
    return !('error' in reading) && reading.form === 'select'
  },
  async validateConfig({ sql_expression, expected }, _column, { dialect, table }) {
    const reading = await checkCustomSql(sql_expression, { dialect, columns: table.columns })
    if ('error' in reading) return reading.error
    if (reading.form === 'select') return null
    return expected === undefined
      ? findOutputName(reading, table)
      : 'expected describes the number of a SELECT, and sql_expression is no SELECT: leave it out.'
  },
  engineValidations(context) {
    const custom = parseConfig(context)
    return [...validateVolatility(custom, context.dialect, 'sql_expression'), validateNames(custom, context)]
  },
  measures(context) {
    const custom = parseConfig(context)
    if (custom.form === 'expression') return rowMeasures(context, renderCustomSql(custom, context.dialect))
    const { value_column: column } = context.config
    const { dialect } = context
    const table = dialect.table(context.table)
    if (column !== undefined && custom.countColumns?.includes(column)) {
      const text = renderCustomSql(custom, dialect, plainSelect(table, raw(column)))
      const select = sql`select ${rowCount} as returned, max(q.${raw(column)}) as found from (${text}) q`
      return { returned: { select, column: 'returned' }, found: { select, column: 'found' } }
    }
    return {
      returned: sql`(select ${rowCount} from (${renderForCounting(custom, dialect, plainSelect(table))}) q)`,
    }
  },
  readMeasures(measured, total, context) {
    return 'returned' in measured
      ? { total, invalid: measured.returned ?? 0 }
      : readRowCounts(measured, total, context)
  },
  describe({ invalid, measured }, { expected, value_unit: unit }) {
    if (expected === undefined) return null
    if (invalid === 0) return `as expected: ${expected}`
    const { found = null } = measured
    if (found === null) return `not as expected: ${expected}`
    const number = Number.isInteger(found) ? found : Number(found.toPrecision(6))
    const words = found === 1 ? unit?.replace(/s$/, '') : unit
    return `${number}${words === undefined ? '' : ` ${words}`}, expected ${expected}`
  },
  samples(context) {
    const custom = parseConfig(context)
    const { dialect } = context
    if (custom.form === 'expression')
      return {
        where: invalidRowCondition(context, renderCustomSql(custom, dialect)),
        columns: custom.columns,
      }
    const plain = plainSelect(dialect.table(context.table))
    const text = renderCustomSql(custom, dialect, plain)
    // Unwrapped if it can be limited that way: its columns may then share a name.
    const isOwn = dialect.needsUniqueColumnNames && custom.countingPieces && !custom.isLimited
    return {
      select: isOwn ? text : sql`select * from (${text}) q`,
      rows: renderForCounting(custom, dialect, plain),
    }
  },
}
