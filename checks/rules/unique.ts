import Joi from 'joi'
import { sql } from '../../connectors/sql.ts'
import type { TableRule } from '../check.ts'
import { nonNullCount, occurrenceMeasures } from '../measures.ts'

/**
 * UNIQUE: no value occurs twice. Invalid are all rows whose value occurs more than once, not the surplus:
 * of `a, a, b` two are invalid. NULLs are invalid unless `treat_null_as_valid`, and are not duplicates of
 * each other. Values are equal by the column's own collation. The count groups the table in a sub-query of
 * its own, inside the shared statement, which distinct_count and duplicate_count of the column then read too.
 */
export const unique: TableRule = {
  family: 'rule',
  name: 'UNIQUE',
  failure: 'with repeated values',
  description: 'No value of the column occurs more than once.',
  config: Joi.object({}),
  column: 'required',
  comparesValues: true,
  filters: true,
  rollup: { present: 'count', repeated: 'repeated' },
  measures: context => ({
    present: nonNullCount(context),
    repeated: occurrenceMeasures(context).repeated,
  }),
  readMeasures(measured, total, { nullIsValid }) {
    const nulls = total - (measured.present ?? 0)
    return { total, invalid: (measured.repeated ?? 0) + (nullIsValid ? 0 : nulls) }
  },
  samples(context) {
    const { column, info, rows, dialect, nullIsValid } = context
    const isRepeated = sql`${column} in (${dialect.groupByValue(column, column, rows, info)} having count(*) > 1)`
    return { where: nullIsValid ? isRepeated : sql`(${dialect.isNull(column, info)} or ${isRepeated})` }
  },
}
