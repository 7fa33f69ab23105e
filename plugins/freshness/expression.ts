import type { Server } from '@hapi/hapi'
import { checkCustomSql, type CustomSql } from '../../checks/sql/custom-sql.ts'
import { asksVolatile, written } from '../../checks/sql/render.ts'
import type { TableRef } from '../../connectors/catalog.ts'
import type { Connection } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { sql } from '../../connectors/sql.ts'
import { hasCode, invalidField } from '../../server/http/errors.ts'
import { hiddenColumns } from './columns.ts'

const FIELD = 'freshness_expression'
/** Milliseconds that the engine may take for a question. */
const ASK_MS = 5_000

/** What an expression is read over. */
interface Row {
  dialect: Dialect
  /** The table's own name. */
  table: string
  columns: readonly { name: string }[]
  /** Columns that it may not name. */
  hidden: ReadonlySet<string>
}

/**
 * Reads one SQL expression over the columns of a row, by the rules of CUSTOM_SQL expressions.
 * @returns what it says, or why it is refused
 */
export async function readExpression(text: string, row: Row): Promise<CustomSql | { error: string }> {
  const reading = await checkCustomSql(text, row)
  if ('error' in reading)
    // What CUSTOM_SQL says of its own field is as true of this one, which has no second form.
    return {
      error: reading.error
        .replaceAll('sql_expression', FIELD)
        .replaceAll(' boolean ', ' ')
        .replace(' or one SELECT', '')
        .replace('a list is neither', 'a list is none'),
    }
  if (reading.form === 'select') return { error: `${FIELD} must be one expression, not a SELECT.` }
  const reason = whyPersonal(reading, row)
  return reason === null ? reading : { error: reason }
}

/** Why the newest value could show personal data: by the name of a column, or by a whole row, which holds it too. */
function whyPersonal({ references }: CustomSql, { table, columns, hidden }: Row): string | null {
  if (hidden.size === 0) return null
  // Names without quotes are the same in any case on most engines.
  const lower = (name: string) => name.toLowerCase()
  const tagged = new Set([...hidden].map(lower))
  const known = new Set(columns.map(({ name }) => lower(name)))
  for (const parts of references) {
    // Each part: the first may be a column with fields.
    const shown = parts.find(part => tagged.has(lower(part)))
    if (shown !== undefined)
      return `${shown} is tagged as personal data, and its newest value would be shown: leave it out of ${FIELD}, or take the tag off.`
    const last = parts.at(-1) ?? ''
    // A row can be named by its table, by a star, and by a function in the place of a column: orders.to_json.
    const isRow = last === '' || (parts.some(part => lower(part) === lower(table)) && !known.has(lower(last)))
    if (isRow)
      return `${parts.map(part => part || '*').join('.')} stands for a whole row, of which ${[...hidden].join(', ')} is tagged as personal data: name the columns that ${FIELD} reads.`
  }
  return null
}

/**
 * Of expressions those that the engine should not run, by id, as far as it can tell: those that call what may change
 * something. One statement, unless there are such.
 */
export async function refusedExpressions(
  connection: Connection,
  dialect: Dialect,
  expressions: ReadonlyMap<string, CustomSql>,
): Promise<Map<string, string>> {
  const all = [...expressions.values()]
  const [first] = all
  if (!first) return new Map()
  if ((await whyNot(connection, dialect, { ...first, calls: all.flatMap(({ calls }) => calls) })) === null)
    return new Map()
  const refused = new Map<string, string>()
  for (const [id, expression] of expressions) {
    const reason = await whyNot(connection, dialect, expression)
    if (reason !== null) refused.set(id, reason)
  }
  return refused
}

async function whyNot(
  connection: Connection,
  dialect: Dialect,
  expression: CustomSql,
): Promise<string | null> {
  for (const { select, validateRows } of asksVolatile(expression, dialect, FIELD)) {
    const reason = validateRows?.(await connection.query(select, { timeoutMs: ASK_MS })) ?? null
    if (reason !== null) return reason
  }
  return null
}

/** A table and its source, as the catalog gives them. */
type Loaded = Required<Awaited<ReturnType<Server['plugins']['catalog']['findAsset']>>>

/**
 * Refuses an expression that the engine would not run. Without a connection that is found out at the check.
 * @throws 400 `VALIDATION_ERROR`
 */
export async function assertExpression(
  server: Server,
  { source, table }: Loaded,
  text: string,
): Promise<void> {
  const { catalog } = server.plugins
  const { name, columns } = table
  const { dialect } = catalog.connectorOf(source)
  const hidden = hiddenColumns(server, table)
  const reading = await readExpression(text, { dialect, table: name, columns, hidden })
  if ('error' in reading) throw invalidField(FIELD, reading.error)
  if (!source.isActive || source.queryAccessLevel === 'schema_only') return
  try {
    const reason = await catalog.withConnection(
      source,
      async connection =>
        (await whyNot(connection, dialect, reading)) ??
        (await tried(connection, dialect, catalog.tableInfo(table), reading)),
      { purpose: 'dry_run', timeoutMs: ASK_MS },
    )
    if (reason !== null) throw invalidField(FIELD, reason)
  } catch (error) {
    if (!(error instanceof ConnectorError || hasCode(error, 'UNAVAILABLE'))) throw error
  }
}

/** Has the engine look up every name and type, and MAX with it, without reading a row. */
async function tried(
  connection: Connection,
  dialect: Dialect,
  table: TableRef,
  expression: CustomSql,
): Promise<string | null> {
  const statement = sql`select max(${written(expression, dialect)}) as newest from ${dialect.table(table)} where 1 = 0`
  try {
    await connection.query(statement, { timeoutMs: ASK_MS })
    return null
  } catch (thrown) {
    if (thrown instanceof ConnectorError && REFUSALS.has(thrown.kind)) return thrown.message
    throw thrown
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['invalid-query', 'missing-object', 'permission'])
