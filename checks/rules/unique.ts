import Joi from 'joi'
import type { CheckContext, TableRule } from '../check.ts'
import { nonNullCount } from '../measures.ts'
import { raw, sql, type Sql } from '../../connectors/sql.ts'

/** The values that occur more than once, with `pick` of each. */
function repeated({ column, from }: CheckContext, pick: Sql): Sql {
  return sql`select ${pick} from ${from} where ${column} is not null group by ${column} having count(*) > 1`
}

/**
 * UNIQUE: no value occurs twice. Invalid are all rows whose value occurs more than once, not the surplus:
 * of `a, a, b` two are invalid. NULLs are invalid unless `treat_null_as_valid`, and are not duplicates of
 * each other. Values are equal by the column's own collation. The count groups the table in a sub-query of
 * its own, inside the shared statement.
 */
export const unique: TableRule = {
  family: 'rule',
  name: 'UNIQUE',
  description: 'No value of the column occurs more than once.',
  config: Joi.object({}),
  column: 'required',
  kinds: ['integer', 'decimal', 'float', 'text', 'boolean', 'date', 'timestamp', 'time', 'binary', 'other'],
  measures: context => ({
    present: nonNullCount(context.column),
    repeated: sql`(select coalesce(sum(d.n), 0) from (${repeated(context, raw('count(*) as n'))}) d)`,
  }),
  read(measured, total, { nullIsValid }) {
    const nulls = total - (measured.present ?? 0)
    return { total, invalid: (measured.repeated ?? 0) + (nullIsValid ? 0 : nulls) }
  },
  samples(context) {
    const { column, nullIsValid } = context
    const isRepeated = sql`${column} in (${repeated(context, column)})`
    return { where: nullIsValid ? isRepeated : sql`(${column} is null or ${isRepeated})` }
  },
}
