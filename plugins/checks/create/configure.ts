import type { CheckType } from '../../../checks/check.ts'
import {
  describeMissingCapability,
  describeUngroupableColumn,
  describeUnsuitedColumn,
  type SuitedColumn,
} from '../../../checks/suited-columns.ts'
import { columnForType } from '../../../checks/column-values.ts'
import { buildCheckContext, findCheckFilterProblem } from '../../../checks/plan.ts'
import {
  validateFilterOnEngine,
  validateOnEngine,
  validationSession,
} from '../../../checks/engine-validation.ts'
import type { ColumnInfo } from '../../../connectors/catalog.ts'
import type { Connection } from '../../../connectors/connector.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { hasCode, invalidField, invalidInput, unknownName } from '../../../server/http/errors.ts'
import { EXTENSION_VALIDATION_OPTIONS, inputErrorsOf } from '../../../server/http/validation-messages.ts'
import type { CatalogApi, Source, TableContext } from '../../catalog/api.ts'
import type { CheckRequest, ConfiguredCheck } from '../types.ts'
import type { AskEngine } from '../declared/declared-checks.ts'
import type { CheckDeps } from '../deps.ts'
import { personalDataRefusal } from '../run/measure.ts'
import { shownColumnsRefusal } from '../run/shown-columns.ts'
import { requestedWindow } from '../windows/requested-window.ts'

/** What checks are found good with. */
type ConfigureDeps = Pick<CheckDeps, 'db' | 'catalog' | 'types' | 'timezone'>

/** Checks what a user asks for against the check type, the table's catalog entry and the engine. */
export async function configure(
  deps: ConfigureDeps,
  companyId: string,
  assetId: string,
  request: CheckRequest,
): Promise<ConfiguredCheck> {
  const { catalog, db } = deps
  const loaded = await db.company(companyId, async trx => {
    const asset = await catalog.findAsset(trx, assetId)
    return { source: asset.source, table: await catalog.findTable(trx, asset, request.tablePath) }
  })
  return configureTable(deps, loaded, request, true)
}

/**
 * Checks what a user asks for of a table that is loaded, wherever its path came from.
 * @param asksEngine whether the engine is asked the type's questions
 */
export async function configureTable(
  deps: ConfigureDeps,
  loaded: TableContext,
  request: Omit<CheckRequest, 'tablePath'>,
  asksEngine: boolean | AskEngine,
): Promise<ConfiguredCheck> {
  const { catalog } = deps
  const type = typeOf(deps, request)
  const column = columnOf(deps, type, loaded, request)
  const config = validConfig(type, request, column)
  assertSuited(deps, type, loaded, column, request)
  const { nullIsValid, groupBy = [], filter } = request
  const { dialect } = catalog.connectorOf(loaded.source)
  for (const [index, name] of groupBy.entries()) {
    const field = `group_by_columns.${index}`
    const error = describeUngroupableColumn(catalog.findColumn(loaded.table, name, field), dialect)
    if (error !== null) throw invalidInput([{ field, error }])
  }
  const hidden = personalDataRefusal({ type, column: column?.name, groupBy }, catalog.personalColumns(loaded))
  if (hidden) throw invalidInput([{ field: hidden.field, error: hidden.message }])
  const check: ConfiguredCheck['check'] = {
    type,
    config,
    ...(column && { column: column.name }),
    ...(nullIsValid !== undefined && { nullIsValid }),
    ...(groupBy.length > 0 && { groupBy }),
    ...(filter != null && { filter }),
  }
  const table = catalog.tableInfo(loaded.table)
  const refusal = await typeRefusal(type, config, column, { dialect, table })
  const ungroupable = groupBy.length > 0 ? await type.validateGrouping?.(config, { dialect, table }) : null
  if (refusal === null && ungroupable) throw invalidInput([{ field: 'group_by_columns', error: ungroupable }])
  const configField = fieldOf(request, Object.keys(config)[0])
  if (refusal !== null) throw invalidInput([{ field: configField, error: refusal }])
  const shown = await shownColumnsRefusal(catalog, loaded, check)
  if (shown) throw invalidInput([{ field: configField, error: shown.message }])
  const window = requestedWindow(loaded, check, request.window ?? { window: null }, {
    dialect,
    table,
    catalog,
  })
  const filterProblem = await findCheckFilterProblem(check, { dialect, table })
  if (filterProblem !== null) throw invalidInput([{ field: 'filter', error: filterProblem }])
  const answer = asksEngine ? await askEngine(deps, loaded, check, asksEngine) : undefined
  if (answer) throw invalidInput([{ ...answer, field: answer.field === 'filter' ? 'filter' : configField }])
  return {
    ...loaded,
    check,
    ...(request.window && { window }),
    isEngineValidated: answer === null,
    warnings: type.configWarnings?.(config, column) ?? [],
  }
}

/** What the check type itself has against a config. One that throws is to blame, and says what. */
async function typeRefusal(
  type: CheckType,
  config: Record<string, unknown>,
  column: ColumnInfo | undefined,
  on: Parameters<NonNullable<CheckType['validateConfig']>>[2],
): Promise<string | null> {
  try {
    return (await type.validateConfig?.(config, column, on)) ?? null
  } catch (error) {
    return `${type.name} failed: ${(error as Error).message}`
  }
}

/** What an engine has against a check, and of what. */
interface EngineRefusal {
  field: 'filter' | 'config'
  error: string
}

/**
 * What the engine has against its filter or, by the type's own questions, against its config, or null. Without a connection, or where the engine cannot
 * tell without running the SQL, it is found out at the check: undefined.
 */
async function askEngine(
  { catalog }: ConfigureDeps,
  { source, table }: TableContext,
  check: ConfiguredCheck['check'],
  asked: true | AskEngine,
): Promise<EngineRefusal | null | undefined> {
  const hasQuestions = check.type.engineValidations !== undefined || check.filter !== undefined
  if (!hasQuestions || !source.isActive || source.queryAccessLevel === 'schema_only') return undefined
  const connector = catalog.connectorOf(source)
  const context = buildCheckContext(connector, catalog.tableInfo(table), check)
  async function question(connection: Connection): Promise<EngineRefusal | null | undefined> {
    const session = validationSession(connection, ENGINE_TIMEOUT_MS)
    const ofFilter = await validateFilterOnEngine(context, session).catch(refusalMessage)
    if (typeof ofFilter === 'string') return { field: 'filter', error: ofFilter }
    const ofType = await validateOnEngine(check.type, context, session).catch(refusalMessage)
    if (typeof ofType === 'string') return { field: 'config', error: ofType }
    return ofFilter === undefined ? undefined : ofType
  }
  try {
    if (asked !== true) return await asked(question)
    return await catalog.withConnection(source, question, {
      purpose: 'dry_run',
      timeoutMs: ENGINE_TIMEOUT_MS,
    })
  } catch (error) {
    if (error instanceof ConnectorError || hasCode(error, 'UNAVAILABLE')) return undefined
    throw error
  }
}

/** The sentence of an engine's error that says what is wrong with the question. @throws any other, which says nothing of it */
export function refusalMessage(error: unknown): string {
  if (error instanceof ConnectorError && REFUSALS.has(error.kind)) return error.message
  throw error
}

const REFUSALS: ReadonlySet<string> = new Set(['invalid-query', 'missing-object', 'permission'])

/** Milliseconds that the engine may take for a question. */
const ENGINE_TIMEOUT_MS = 5_000

function typeOf(
  { types }: ConfigureDeps,
  { family, type, typeField }: Omit<CheckRequest, 'tablePath'>,
): CheckType {
  const findColumn = types.all().filter(check => check.family === family)
  const found = findColumn.find(check => check.name === type)
  if (found) return found
  throw unknownName(
    typeField,
    type,
    findColumn.map(check => check.name),
  )
}

function columnOf(
  { catalog }: ConfigureDeps,
  type: CheckType,
  { source, table }: TableContext,
  request: Pick<CheckRequest, 'column' | 'typeField' | 'type'>,
): ColumnInfo | undefined {
  if (type.column === 'ignored') return undefined
  if (request.column !== undefined) {
    const column = catalog.findColumn(table, request.column, 'column_name')
    return columnForType(type, column, catalog.connectorOf(source).dialect)
  }
  if (type.column === 'optional') return undefined
  throw invalidField('column_name', `is required for ${type.name}`, { [request.typeField]: type.name })
}

function validConfig(
  type: CheckType,
  request: Omit<CheckRequest, 'tablePath'>,
  column: ColumnInfo | undefined,
) {
  const { value, error } = type.config.validate(request.config, {
    ...EXTENSION_VALIDATION_OPTIONS,
    convert: false,
  })
  const prefix = request.configField === undefined ? [] : [request.configField]
  const errors = error
    ? inputErrorsOf(error, type.config, { prefix, otherFields: request.otherFields })
    : // A column of floating numbers rounds what it is given in the same way.
      column?.kind === 'float'
      ? []
      : inexactIntegers(value).map(path => {
          const field = fieldOf(request, path.join('.') || undefined)
          return { field, error: `${field} ${INEXACT}` }
        })
  if (errors.length === 0) return (value ?? {}) as Record<string, unknown>
  throw invalidInput(errors, { [request.typeField]: type.name })
}

const INEXACT =
  'is beyond 2^53, where a JSON number no longer holds every integer: give it as text, such as "9007199254740993"'

/** Where a config holds integers that may have been other ones in the body. */
function inexactIntegers(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? [path] : []
  if (typeof value !== 'object' || value === null) return []
  return Array.isArray(value)
    ? value.flatMap((item, index) => inexactIntegers(item, [...path, index]))
    : Object.entries(value).flatMap(([name, item]) => inexactIntegers(item, [...path, name]))
}

function fieldOf(
  { configField, typeField }: Pick<CheckRequest, 'configField' | 'typeField'>,
  name: string | undefined,
): string {
  return [configField, name].filter(part => part !== undefined).join('.') || typeField
}

function assertSuited(
  { catalog }: ConfigureDeps,
  type: CheckType,
  { source }: TableContext,
  column: ColumnInfo | undefined,
  { typeField }: Pick<CheckRequest, 'typeField'>,
): void {
  const refusal = findSuitabilityRefusal(catalog, type, source, column)
  if (!refusal) return
  const field = refusal.blamed === 'type' ? typeField : 'column_name'
  throw invalidInput([{ field, error: refusal.error }])
}

/** Why a type does not suit a source or a column: which of the two to blame, and a sentence. */
interface SuitabilityRefusal {
  blamed: 'type' | 'column'
  error: string
}

/** What a check of a type and a column is refused for, whatever its config. */
export function findSuitabilityRefusal(
  catalog: CatalogApi,
  type: CheckType,
  source: Source,
  column: SuitedColumn | undefined,
): SuitabilityRefusal | null {
  const connector = catalog.connectorOf(source)
  const missing = describeMissingCapability(type, connector)
  if (missing) return { blamed: 'type', error: missing }
  const error = column ? describeUnsuitedColumn(type, column, connector.dialect) : null
  return error === null ? null : { blamed: 'column', error }
}
