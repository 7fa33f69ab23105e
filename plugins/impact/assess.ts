import { formatName, parseName } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'
import { hasErrorData } from '../../server/http/errors.ts'
import type { CatalogApi, Source, Table } from '../catalog/api.ts'
import { effectOf, isOfColumn, worstLevel, type Effect, type Level, type PlannedChange } from './changes.ts'
import {
  findClauses,
  readChecks,
  selectChecks,
  type HitCheck,
  type HitClause,
  type SourceCheck,
} from './checks.ts'
import { findDependents, NO_DEPENDENTS, presentDependent, type Dependents } from './dependents.ts'
import type { ImpactDeps } from './deps.ts'
import { readSchemaTables } from './schema-tables.ts'

/** What a change would do. */
export interface ChangeImpact extends Dependents {
  change: PlannedChange
  /** Null of a schema. */
  table: Table | null
  oldType: string | null
  level: Level
  sentence: string
  checks: HitCheck[]
  contracts: HitClause[]
}

/** A change of something that the catalog does not have. */
export interface UnknownChange {
  index: number
  change: PlannedChange
  problem: string
}

/**
 * What changes of a source would do, in their order, and those of which nothing is known. Each has a transaction of its own,
 * so that many of them hold no connection for long.
 */
export async function assessChanges(
  deps: ImpactDeps,
  source: Source,
  changes: readonly PlannedChange[],
): Promise<{ level: Level; impacts: ChangeImpact[]; unknown: UnknownChange[] }> {
  const impacts: ChangeImpact[] = []
  const unknown: UnknownChange[] = []
  const read: ReadHits = { bySubject: new Map() }
  for (const [index, change] of changes.entries())
    await deps.db.company(source.companyId, async trx => {
      const subject = await findSubject(deps, trx, source, change)
      if ('problem' in subject) unknown.push({ index, change, problem: subject.problem })
      else impacts.push(await assessChange(deps, trx, source, change, subject, read))
    })
  return { level: worstLevel(impacts.map(({ level }) => level)), impacts, unknown }
}

/** What was read for earlier changes of a request: many are of the same tables, and all of the same source. */
interface ReadHits {
  checks?: SourceCheck[]
  bySubject: Map<string, SubjectHits>
}

type SubjectHits = Dependents & Pick<ChangeImpact, 'checks' | 'contracts'>

/** The tables of a change, and its column. */
interface ChangeSubject {
  tables: Table[]
  column?: { name: string; type?: string }
}

async function findSubject(
  deps: ImpactDeps,
  trx: Transaction,
  source: Source,
  { change, table: path, schema, column }: PlannedChange,
): Promise<ChangeSubject | { problem: string }> {
  if (change === 'drop_schema') {
    const tables = await readSchemaTables(deps.catalog, trx, source, schema ?? '')
    return tables.length > 0 ? { tables } : { problem: `the source has no schema ${schema}` }
  }
  try {
    const table = await findTable(deps.catalog, trx, source, path ?? '')
    if (!isOfColumn(change) || column === undefined) return { tables: [table] }
    const exact = table.columns.find(({ name }) => name === column)
    const folded = table.columns.filter(({ name }) => name.toLowerCase() === column.toLowerCase())
    const match = exact ?? (folded.length === 1 ? folded[0] : undefined)
    const { name, rawType: type } = match ?? deps.catalog.findColumn(table, column, 'column')
    return { tables: [table], column: { name, type } }
  } catch (error) {
    if (!hasErrorData(error) || error.data?.code !== 'VALIDATION_ERROR') throw error
    return { problem: error.message }
  }
}

/** By its name as it is written, else in large letters, as engines store names without quotes. */
async function findTable(
  catalog: CatalogApi,
  trx: Transaction,
  source: Source,
  path: string,
): Promise<Table> {
  const find = (name: string) => catalog.findTable(trx, { source }, name)
  return find(path).catch(async (error: unknown) => {
    const upper = formatName((parseName(path) ?? []).map(part => part.toUpperCase()))
    return find(upper).catch(() => {
      throw error
    })
  })
}

/** What a change of tables, or of a column of one, does. */
export async function assessChange(
  deps: ImpactDeps,
  trx: Transaction,
  source: Source,
  change: PlannedChange,
  { tables, column }: ChangeSubject,
  read: ReadHits = { bySubject: new Map() },
): Promise<ChangeImpact> {
  const effect = effectOf(change, column?.type)
  const isRead = effect === 'break' || effect === 'shift'
  const key = JSON.stringify([isRead, effect !== null, tables.map(({ id }) => id), column?.name])
  const findHits = async (): Promise<SubjectHits> => {
    const ids = [...new Set(tables.map(({ id }) => id))]
    const dependents = isRead ? await findDependents(deps, trx, ids, column && [column.name]) : NO_DEPENDENTS
    if (isRead) read.checks ??= await readChecks(deps.checks, trx, source)
    const checks = isRead ? selectChecks(read.checks ?? [], { tables, column: column?.name }) : []
    return {
      ...dependents,
      checks,
      contracts: effect ? await findClauses(deps.contracts, trx, tables, column?.name) : [],
    }
  }
  const hit = read.bySubject.get(key) ?? (await findHits())
  read.bySubject.set(key, hit)
  return {
    ...hit,
    change,
    table: change.change === 'drop_schema' ? null : (tables[0] ?? null),
    oldType: column?.type ?? null,
    level: levelOf(effect, hit),
    sentence: describeImpact(change, effect, hit),
  }
}

type Hit = Pick<ChangeImpact, 'tables' | 'dashboards' | 'checks' | 'contracts'>

function levelOf(effect: Effect | null, { tables, dashboards, checks, contracts }: Hit): Level {
  if (effect === null) return 'none'
  if (effect === 'write') return 'low'
  const isCertain = (some: readonly { certainty: string }[]) =>
    some.some(({ certainty }) => certainty === 'certain')
  const isKnown = tables.length + dashboards.length + checks.length + contracts.length > 0
  if (effect === 'shift') {
    if (isCertain(dashboards) || contracts.length > 0) return 'medium'
    return isKnown ? 'low' : 'none'
  }
  if (isCertain(dashboards)) return 'critical'
  if (isCertain(tables) || dashboards.length > 0 || contracts.length > 0) return 'high'
  return isKnown ? 'medium' : 'none'
}

const SUBJECTS: Record<PlannedChange['change'], (change: PlannedChange) => string> = {
  drop_table: ({ table }) => `Dropping ${table}`,
  rename_table: ({ table, new_name: name }) => `Renaming ${table}${name ? ` to ${name}` : ''}`,
  truncate_table: ({ table }) => `Emptying ${table}`,
  drop_column: ({ table, column }) => `Dropping ${table}.${column}`,
  rename_column: ({ table, column, new_name: name }) =>
    `Renaming ${table}.${column}${name ? ` to ${name}` : ''}`,
  retype_column: ({ table, column, new_type: type }) =>
    `Changing the type of ${table}.${column}${type ? ` to ${type}` : ''}`,
  add_not_null: ({ table, column }) => `Refusing nulls in ${table}.${column}`,
  drop_not_null: ({ table, column }) => `Allowing nulls in ${table}.${column}`,
  drop_schema: ({ schema, new_name: name }) =>
    name ? `Renaming the schema ${schema} to ${name}` : `Dropping the schema ${schema}`,
}

function describeImpact(change: PlannedChange, effect: Effect | null, hit: Hit): string {
  const subject = SUBJECTS[change.change](change)
  if (effect === null) return `${subject} changes nothing: the column has this type`
  if (effect === 'write')
    return `${subject} fails while there are some, and stops what writes them; readers go on`
  const verb = effect === 'break' ? 'breaks' : 'changes what reaches'
  const counted = (certainty: string) =>
    [
      countOf(hit.dashboards.filter(each => each.certainty === certainty).length, 'dashboard'),
      countOf(hit.tables.filter(each => each.certainty === certainty).length, 'table'),
      countOf(hit.checks.filter(each => each.certainty === certainty).length, 'check'),
      ...(certainty === 'certain'
        ? [countOf(new Set(hit.contracts.map(({ contract }) => contract)).size, 'contract')]
        : []),
    ].filter(text => text !== '')
  const [certain, possible] = [counted('certain'), counted('possible')]
  if (certain.length + possible.length === 0) return `${subject}: no known use`
  const may =
    possible.length > 0 ? `may ${effect === 'break' ? 'break' : 'reach'} ${possible.join(', ')}` : ''
  if (certain.length === 0) return `${subject} ${may}`
  return `${subject} ${verb} ${certain.join(', ')}${may === '' ? '' : `, and ${may}`}`
}

function countOf(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`
}

export function presentImpact({
  change,
  table,
  oldType,
  tables,
  dashboards,
  checks,
  isComplete,
  ...impact
}: ChangeImpact) {
  return {
    ...impact,
    change: change.change,
    table: table && { id: table.id, qualified_name: table.qualifiedName },
    schema: change.schema ?? null,
    column: change.column ?? null,
    new_name: change.new_name ?? null,
    old_type: oldType,
    new_type: change.new_type ?? null,
    tables: tables.map(presentDependent),
    dashboards: dashboards.map(presentDependent),
    checks: checks.map(({ tablePath, ...check }) => ({ ...check, table_path: tablePath })),
    is_complete: isComplete,
  }
}
