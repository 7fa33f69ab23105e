import Joi from 'joi'
import type { ColumnInfo } from '../../connectors/catalog.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { join, sql, type Sql } from '../../connectors/sql.ts'
import type { RowRule } from '../check.ts'
import { columnNumber, isDecimal, numberLiteral } from '../measures.ts'
import { asColumnText, isNumeric, storesNumbersAsBooleans } from '../column-values.ts'

type Allowed = string | number | boolean

const TRUTH: Record<string, 0 | 1> = { true: 1, t: 1, '1': 1, false: 0, f: 0, '0': 0 }

function unreadable(
  values: readonly Allowed[],
  column: ColumnInfo | undefined,
  dialect: Dialect,
): Allowed | undefined {
  if (isNumeric(column)) return values.find(value => typeof value === 'boolean' || !isNumber(value))
  if (column?.kind !== 'boolean' || dialect.booleanStorage(column) === 'any') return undefined
  const keepsNumbers = storesNumbersAsBooleans(column, dialect)
  return values.find(
    value => truthOf(value) === undefined && !(keepsNumbers && typeof value !== 'boolean' && isNumber(value)),
  )
}

function truthOf(value: Allowed): 0 | 1 | undefined {
  return TRUTH[String(value).toLowerCase()]
}

/** Allowed values as a boolean column stores them that holds more than two: what stands for a truth value, and itself. */
function storedAs(value: Allowed, storage: 'number' | 'any'): Sql[] {
  const truth = truthOf(value)
  const canBeNumber = typeof value !== 'boolean' && isNumber(value)
  return [
    ...(truth === undefined ? [] : [numberLiteral(truth)]),
    ...(truth === undefined && canBeNumber ? [numberLiteral(value)] : []),
    ...(storage === 'any' && typeof value === 'string' && !canBeNumber ? [sql`${value}`] : []),
  ]
}

function isNumber(value: string | number): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : isDecimal(value)
}

/**
 * ENUM: the value is one of `allowed_values` (1 to 1,000): compared as numbers on numeric columns (a decimal
 * text where a double is too short), as truth values on booleans, as text on all others. A boolean column that the
 * engine stores as numbers or texts may hold others than 0 and 1, and is compared with what is listed. On text columns
 * equality is the column's own: its collation decides on case, CHAR(n) ignores the padding. The empty text is
 * a value like others; NULL is none and cannot be listed, nor can NaN and infinity, which are invalid. A column of 32-bit
 * floats is compared in its own precision, so that 0.1 lists the 0.1 that it holds.
 *
 * Where engines differ: trailing blanks of any text are ignored by MySQL's collations that pad, `utf8mb4_bin` among
 * them; SQLite keeps decimals as doubles, so that two may be equal to it that differ from the 16th digit on; a
 * timestamp is compared as the engine prints it, which is never its day alone.
 */
export const enumeration: RowRule<{ allowed_values: Allowed[] }> = {
  family: 'rule',
  name: 'ENUM',
  label: 'Allowed values',
  failure: 'with unknown values',
  description: 'Values are in a list of allowed values.',
  config: Joi.object({
    allowed_values: Joi.array()
      .items(Joi.string().allow('').max(1000), Joi.number().strict().unsafe(), Joi.boolean().strict())
      .min(1)
      .max(1000)
      .required(),
  }),
  column: 'required',
  mergesParts: true,
  kinds: ['integer', 'decimal', 'float', 'text', 'boolean', 'date', 'timestamp', 'time', 'json', 'other'],
  readsText: true,
  validateConfig({ allowed_values }, column, { dialect }) {
    const value = unreadable(allowed_values, column, dialect)
    if (value === undefined) return null
    return `allowed_values holds ${JSON.stringify(value)}, which is no ${isNumeric(column) ? 'number' : 'boolean'} for a column of type ${column?.type}.`
  },
  // Comparisons with constants, where no column is made a number or a truth value before.
  // What a column's character set lacks is NULL in the list.
  isStrict: ({ info, config }) =>
    info?.kind === 'text' && config.allowed_values.every(value => /^[\x00-\x7f]*$/.test(String(value))),
  valid(context) {
    const { column, info, config } = context
    const values = [...new Set(config.allowed_values)]
    if (isNumeric(info)) {
      const numbers = values.map(value => columnNumber(info, value as string | number, context.dialect))
      // Some engines would make all of them what the column holds, and fail on one that it cannot.
      const held = numbers.filter(({ isHeld }) => isHeld).map(({ literal }) => literal)
      return held.length > 0 ? sql`${column} in (${join(held)})` : sql`1 = 0`
    }
    if (info?.kind === 'boolean') {
      const storage = context.dialect.booleanStorage(info)
      if (storage !== 'boolean')
        return sql`${column} in (${join(values.flatMap(value => storedAs(value, storage)))})`
      const truths = values.map(value => numberLiteral(truthOf(value) ?? 0))
      return sql`case when ${column} then 1 else 0 end in (${join(truths)})`
    }
    const texts = values.map(String)
    return context.dialect.isOneOf(asColumnText(context), texts, info?.kind === 'text' ? info : undefined)
  },
}
