import type { Dialect } from '../../connectors/dialect.ts'
import { join, raw, sql, userSql, type Sql } from '../../connectors/sql.ts'
import type { SelectValidation } from '../check.ts'
import type { CustomSql } from './custom-sql.ts'

/**
 * A user's text on lines of its own, with names and texts quoted for the engine: some read "amount" as a text. The
 * caller has parsed it as one expression or one SELECT.
 * @param plain what stands in its place where the statement is only planned; defaults to a condition
 */
export function renderCustomSql(
  { pieces }: Pick<CustomSql, 'pieces'>,
  dialect: Dialect,
  plain: Sql = PLAIN_CONDITION,
): Sql {
  const parts = pieces.map(({ kind, text }) => {
    if (kind === 'sql') return raw(text)
    return kind === 'name' ? dialect.quote(text) : dialect.textLiteral(text)
  })
  return userSql(sql`\n${join(parts, '')}\n`, plain)
}

const PLAIN_CONDITION = raw('1 = 1')

/** What stands in the place of a user's SELECT where the statement is only planned: one of the check's own table. */
export function plainSelect(table: Sql, column = raw('x')): Sql {
  return sql`select 1 as ${column} from ${table}`
}

/**
 * A SELECT with as many rows as a user's own, that may stand in FROM: where the engine allows no two columns of one name
 * there, as a join with `*` has them, without the user's columns if it can be.
 */
export function renderForCounting(custom: CustomSql, dialect: Dialect, plain: Sql): Sql {
  return renderCustomSql(
    dialect.needsUniqueColumnNames && custom.countingPieces ? { pieces: custom.countingPieces } : custom,
    dialect,
    plain,
  )
}

/**
 * Validates that none of the functions it may call is volatile, on engines that know.
 * @param field what the user named it
 */
export function validateVolatility(
  { calls }: Pick<CustomSql, 'calls'>,
  dialect: Dialect,
  field: string,
): SelectValidation[] {
  if (!dialect.volatileFunctions || calls.length === 0) return []
  return [
    {
      select: dialect.volatileFunctions(calls),
      validateRows([found]) {
        if (!found) return null
        const how = found.used ? `, which ${String(found.used)} calls,` : ''
        return `The function ${String(found.name)}${how} is VOLATILE: it may change something or answer differently each time. Have it declared STABLE or IMMUTABLE if it does neither, or leave it out of ${field}.`
      },
    },
  ]
}
