import type { Server } from '@hapi/hapi'
import { lackingCapability, type CheckType } from '../../checks/check.ts'
import type { ColumnInfo } from '../../connectors/catalog.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { sql } from '../../connectors/sql.ts'
import { apiError, invalidField } from '../../server/errors.ts'
import type { CheckRequest, Loaded } from './api.ts'

/** Checks what a user asks for against the check type, the table's catalog entry and the engine. */
export async function configure(
  server: Server,
  companyId: string,
  assetId: string,
  request: CheckRequest,
): Promise<Loaded & { type: CheckType; config: Record<string, unknown> }> {
  const { catalog } = server.plugins
  const loaded = await server.db.company(companyId, async trx => {
    const asset = await catalog.findAsset(trx, assetId)
    return { source: asset.source, table: await catalog.findTable(trx, asset, request.tablePath) }
  })
  const type = typeOf(server, request)
  const column = columnOf(type, loaded, request)
  const config = validConfig(type, request)
  assertSuited(server, type, loaded, column, request)
  for (const name of request.groupBy ?? []) known(loaded, name, 'group_by_columns')
  const refusal = await type.refuses?.(config, column)
  if (refusal) throw invalidField(fieldOf(request, Object.keys(config)[0]), refusal)
  if (typeof config.pattern === 'string')
    await assertPattern(server, loaded, config.pattern, fieldOf(request, 'pattern'))
  return { ...loaded, type, config }
}

function typeOf(server: Server, { family, type, typeField }: CheckRequest): CheckType {
  const known = server.checks.all().filter(check => check.family === family)
  const found = known.find(check => check.name === type)
  if (found) return found
  throw invalidField(typeField, `must be one of ${known.map(check => check.name).join(', ')}`)
}

function columnOf(type: CheckType, loaded: Loaded, request: CheckRequest): ColumnInfo | undefined {
  if (type.column === 'ignored') return undefined
  if (request.column !== undefined) return known(loaded, request.column, 'column_name')
  if (type.column === 'optional') return undefined
  throw invalidField('column_name', `is required for ${type.name}`, { [request.typeField]: type.name })
}

function known({ table }: Loaded, name: string, field: string): ColumnInfo {
  const column = table.columns.find(candidate => candidate.name === name)
  if (column) return column
  const names = table.columns.map(candidate => candidate.name).slice(0, 50)
  throw invalidField(field, `the table ${table.qualifiedName} has no column ${name}`, { columns: names })
}

function validConfig(type: CheckType, request: CheckRequest): Record<string, unknown> {
  const { value, error } = type.config.validate(request.config, {
    abortEarly: false,
    convert: false,
    errors: { wrap: { label: false } },
  })
  if (!error) return (value ?? {}) as Record<string, unknown>
  const errors = error.details.map(({ path, message }) => ({
    field: fieldOf(request, path.join('.') || undefined),
    error: message,
  }))
  throw apiError('VALIDATION_ERROR', errors.map(({ error: text }) => text).join('; '), {
    ...errors[0],
    [request.typeField]: type.name,
    errors,
  })
}

function fieldOf({ configField, typeField }: CheckRequest, name: string | undefined): string {
  return [configField, name].filter(part => part !== undefined).join('.') || typeField
}

function assertSuited(
  server: Server,
  type: CheckType,
  { source }: Loaded,
  column: ColumnInfo | undefined,
  { typeField, groupBy = [] }: CheckRequest,
): void {
  const connector = server.plugins.catalog.connectorOf(source)
  const missing = lackingCapability(type, connector, groupBy.length > 0)
  if (missing) {
    const field = type.needs?.includes(missing) ? typeField : 'group_by_columns'
    throw invalidField(field, `${type.name} needs ${missing}, which ${connector.label} does not have`)
  }
  if (column && type.kinds && !type.kinds.includes(column.kind)) {
    throw invalidField(
      'column_name',
      `${type.name} works on ${type.kinds.join(', ')} columns; ${column.name} is ${column.type}`,
    )
  }
}

/** Whether the engine takes a pattern is the engine's to say; without a connection it is found out at the check. */
async function assertPattern(
  server: Server,
  { source }: Loaded,
  pattern: string,
  field: string,
): Promise<void> {
  const { catalog } = server.plugins
  const { dialect } = catalog.connectorOf(source)
  try {
    await catalog.withConnection(source, connection =>
      connection.query(
        sql`select ${dialect.countIf(dialect.matches(dialect.asText(sql`${'x'}`), pattern))} as found`,
        {
          timeoutMs: 5_000,
        },
      ),
    )
  } catch (error) {
    if (error instanceof ConnectorError && error.kind === 'invalid-query')
      throw invalidField(field, error.message)
    if (!(error instanceof ConnectorError)) throw error
  }
}
