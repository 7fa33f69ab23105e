import { checkCustomSql, type CustomSql } from '../../../checks/sql/custom-sql.ts'
import { validateVolatility, renderCustomSql } from '../../../checks/sql/render.ts'
import type { TableRef } from '../../../connectors/catalog.ts'
import type { Connection } from '../../../connectors/connector.ts'
import type { Dialect } from '../../../connectors/dialect.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { sql } from '../../../connectors/sql.ts'
import { hasCode, invalidInput } from '../../../server/http/errors.ts'
import type { CatalogApi, TableContext } from '../../catalog/api.ts'
import type { AskEngine } from '../../checks/api.ts'
import { hiddenColumns } from './columns.ts'

const FIELD = 'freshness_expression'
const VALIDATION_TIMEOUT_MS = 5_000

/** What an expression may refer to. */
interface ExpressionScope {
  dialect: Dialect
  /** The table's own name. */
  table: string
  columns: readonly { name: string }[]
  /** Columns that it must not use. */
  hidden: ReadonlySet<string>
}

/**
 * Parses a SQL expression over the columns of a row, by the rules of CUSTOM_SQL expressions.
 * @returns the parsed expression, or why it is rejected
 */
export async function parseExpression(
  text: string,
  row: ExpressionScope,
): Promise<CustomSql | { error: string }> {
  const reading = await checkCustomSql(text, row)
  if ('error' in reading)
    // The message of CUSTOM_SQL names its own field, and a SELECT form that does not exist here.
    return {
      error: reading.error
        .replaceAll('sql_expression', FIELD)
        .replaceAll(' boolean ', ' ')
        .replace(' or one SELECT', '')
        .replace('a list is neither', 'a list is none'),
    }
  if (reading.form === 'select') return { error: `${FIELD} must be one expression, not a SELECT.` }
  const reason = personalDataError(reading, row)
  return reason === null ? reading : { error: reason }
}

/** Why the newest value could show personal data: a tagged column, or a whole row, which contains it. */
function personalDataError({ references }: CustomSql, { table, columns, hidden }: ExpressionScope) {
  if (hidden.size === 0) return null
  // Most engines ignore the case of unquoted names.
  const lower = (name: string) => name.toLowerCase()
  const tagged = new Set([...hidden].map(lower))
  const names = new Set(columns.map(({ name }) => lower(name)))
  for (const parts of references) {
    // Any part may be the column: the first may have fields.
    const shown = parts.find(part => tagged.has(lower(part)))
    if (shown !== undefined)
      return `${shown} is tagged as personal data, and its newest value would be shown: leave it out of ${FIELD}, or take the tag off.`
    const last = parts.at(-1) ?? ''
    // A table name, a star, or a function in place of a column (orders.to_json) mean a whole row.
    const isRow = last === '' || (parts.some(part => lower(part) === lower(table)) && !names.has(lower(last)))
    if (isRow)
      return `${parts.map(part => part || '*').join('.')} is a whole row, in which ${[...hidden].join(', ')} is tagged as personal data: list the columns that ${FIELD} reads.`
  }
  return null
}

/**
 * Reasons to reject expressions, by id: those that call volatile functions, as far as the engine knows. One statement,
 * unless one is found.
 */
export async function findVolatileExpressions(
  connection: Connection,
  dialect: Dialect,
  expressions: ReadonlyMap<string, CustomSql>,
): Promise<Map<string, string>> {
  const all = [...expressions.values()]
  const [first] = all
  if (!first) return new Map()
  if (
    (await volatilityError(connection, dialect, { ...first, calls: all.flatMap(({ calls }) => calls) })) ===
    null
  )
    return new Map()
  const reasons = new Map<string, string>()
  for (const [id, expression] of expressions) {
    const reason = await volatilityError(connection, dialect, expression)
    if (reason !== null) reasons.set(id, reason)
  }
  return reasons
}

async function volatilityError(connection: Connection, dialect: Dialect, expression: CustomSql) {
  for (const { select, validateRows } of validateVolatility(expression, dialect, FIELD)) {
    const reason =
      validateRows?.(await connection.query(select, { timeoutMs: VALIDATION_TIMEOUT_MS })) ?? null
    if (reason !== null) return reason
  }
  return null
}

/**
 * Rejects an expression that the engine would not run. If the source cannot be reached, only the check finds out.
 * @param asked the session of the caller; defaults to one of its own
 * @throws 400 `VALIDATION_ERROR`
 */
export async function assertExpression(
  catalog: CatalogApi,
  { source, table }: TableContext,
  text: string,
  asked: true | AskEngine = true,
) {
  const { name, columns } = table
  const { dialect } = catalog.connectorOf(source)
  const hidden = hiddenColumns(catalog, table)
  const reading = await parseExpression(text, { dialect, table: name, columns, hidden })
  if ('error' in reading) throw invalidInput([{ field: FIELD, error: reading.error }])
  if (!source.isActive || source.queryAccessLevel === 'schema_only') return
  try {
    const question = async (connection: Connection) =>
      (await volatilityError(connection, dialect, reading)) ??
      (await typeError(connection, dialect, catalog.tableInfo(table), reading))
    const options = { purpose: 'dry_run', timeoutMs: VALIDATION_TIMEOUT_MS } as const
    const reason = await (asked === true
      ? catalog.withConnection(source, question, options)
      : asked(question))
    if (reason !== null) throw invalidInput([{ field: FIELD, error: reason }])
  } catch (error) {
    if (!(error instanceof ConnectorError || hasCode(error, 'UNAVAILABLE'))) throw error
  }
}

/** Lets the engine resolve every name and type, and MAX, where it can without running or planning the expression. */
async function typeError(connection: Connection, dialect: Dialect, table: TableRef, expression: CustomSql) {
  const statement = sql`select max(${renderCustomSql(expression, dialect)}) as newest from ${dialect.table(table)} where 1 = 0`
  try {
    await connection.validate?.(statement, { timeoutMs: VALIDATION_TIMEOUT_MS })
    return null
  } catch (thrown) {
    if (thrown instanceof ConnectorError && REJECTED_KINDS.has(thrown.kind)) return thrown.message
    throw thrown
  }
}

const REJECTED_KINDS: ReadonlySet<string> = new Set(['invalid-query', 'missing-object', 'permission'])
