import Joi from 'joi'
import { raw, sql } from '../../connectors/sql.ts'
import type { CheckContext, DerivedMetric, EngineValidation, Measure, MeasuredValues } from '../check.ts'
import { NotFiniteError, rowCount } from '../measures.ts'
import { checkCustomSql, parseCustomSql, type CustomSql } from '../sql/custom-sql.ts'
import { findOutputName } from '../sql/output-names.ts'
import { plainSelect, renderCustomSql, validateVolatility } from '../sql/render.ts'

type CustomSqlConfig = { sql_expression: string }

type TextPlace = Pick<CheckContext, 'dialect' | 'table'>

async function read({ sql_expression }: CustomSqlConfig, { dialect, table }: TextPlace) {
  return checkCustomSql(sql_expression, { dialect, columns: table.columns })
}

/** @throws Error for a text that `validateConfig` refuses */
function parseConfig({ config, dialect, table }: CheckContext<CustomSqlConfig>): CustomSql {
  const reading = parseCustomSql(config.sql_expression, { dialect, columns: table.columns })
  if ('error' in reading) throw new Error(reading.error)
  return reading
}

/** A name that needs no quotes on any engine. */
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/

/** Why a text that may run is no number of the table, or null. */
function findProblem(custom: CustomSql, { table }: Pick<TextPlace, 'table'>): string | null {
  if (custom.form === 'select') {
    if (custom.onlyColumn === undefined)
      return 'sql_expression must return one column: a SELECT of one number, without * and UNION.'
    return PLAIN_NAME.test(custom.onlyColumn)
      ? null
      : 'sql_expression must name its number in small letters: select count(*) as value from orders.'
  }
  return findOutputName(custom, table) ?? custom.aggregation?.problem ?? null
}

/** Has the engine resolve all names and types, where nothing is run and no name of a scan is visible. */
function validateNames(custom: CustomSql, { table, dialect }: CheckContext): EngineValidation {
  const text = renderCustomSql(custom, dialect)
  return custom.form === 'select'
    ? { accepts: sql`select 1 as x from (${text}) q where 1 = 0` }
    : { accepts: sql`select (${text}) as tidemark_probe from ${dialect.table(table)} where 1 = 0` }
}

/**
 * custom_sql: `sql_expression` is an aggregate over the rows of the table, which is measured with its other checks and in
 * groups, or one SELECT of one number, which has a statement of its own. NULL is no value. A SELECT of another number of
 * rows than one, and what is no number, are errors.
 */
export const customSqlMetric: DerivedMetric<CustomSqlConfig> = {
  family: 'metric',
  name: 'custom_sql',
  label: 'Custom SQL',
  description: 'The number that an aggregate SQL expression, or a SELECT of one number, gives.',
  config: Joi.object({
    sql_expression: Joi.string()
      .min(1)
      .max(10_000)
      .required()
      .description('`sum(paid) / nullif(sum(due), 0)`, or `select count(*) as value from orders`.'),
  }),
  column: 'ignored',
  userSql: 'aggregate',
  namesItsRows(config, on) {
    const reading = parseCustomSql(config.sql_expression, { dialect: on.dialect, columns: on.table.columns })
    return !('error' in reading) && reading.form === 'select'
  },
  async validateConfig(config, _column, on) {
    const reading = await read(config, on)
    // The reader of texts names the forms of the rule.
    if ('error' in reading) return reading.error.replace('one boolean expression', 'one aggregate expression')
    return findProblem(reading, on)
  },
  async validateGrouping(config, on) {
    const reading = await read(config, on)
    return 'form' in reading && reading.form === 'select'
      ? 'sql_expression is a whole SELECT, which has no groups of the table: give an aggregate expression, or leave group_by_columns out'
      : null
  },
  async shownColumns(config, on) {
    const reading = await read(config, on)
    if ('error' in reading) return []
    if (reading.form === 'expression') return reading.aggregation?.isCount ? [] : reading.columns
    return reading.countColumns?.includes(reading.onlyColumn ?? '') ? [] : 'any'
  },
  engineValidations(context) {
    const custom = parseConfig(context)
    return [...validateVolatility(custom, context.dialect, 'sql_expression'), validateNames(custom, context)]
  },
  measures(context): Record<string, Measure> {
    const custom = parseConfig(context)
    const { dialect, table } = context
    if (custom.form === 'expression') {
      const aggregate = renderCustomSql(custom, dialect, rowCount)
      // In CASE no engine takes a function that returns several rows.
      return { value: sql`case when 1 = 1 then (${aggregate}) end` }
    }
    const name = raw(custom.onlyColumn ?? '')
    const found = sql`max(q.${name})`
    const text = renderCustomSql(custom, dialect, plainSelect(dialect.table(table), name))
    const select = sql`select ${rowCount} as returned, ${found} as found from (${text}) q`
    return { returned: { select, column: 'returned' }, found: { select, column: 'found' } }
  },
  readMeasures(measured: MeasuredValues) {
    const { returned, found = null, value = null } = measured
    if (returned === undefined) return value
    if (returned === 1) return found
    throw new NotFiniteError(
      `sql_expression returned ${returned === 0 ? 'no row' : `${returned} rows`}, and a metric is one number.`,
    )
  },
}
