import type { Connector } from '../connectors/connector.ts'
import { tablePath, type TableInfo } from '../connectors/catalog.ts'
import { join, raw, Sql, sql } from '../connectors/sql.ts'
import {
  isAggregate,
  isRowRule,
  lackingCapability,
  type Check,
  type CheckContext,
  type CheckType,
} from './check.ts'
import type { Counts, Measured } from './check.ts'
import { NotFinite, rowCount } from './measures.ts'
import { readRows, rowMeasures } from './rows.ts'

/** What a plan needs of an engine: how to write its SQL and what it can do. Any connector fits. */
export type Engine = Pick<Connector, 'name' | 'dialect' | 'capabilities'>

/** Why a check cannot run, found without touching the database. */
export interface Refusal {
  id: string
  /** `missing-object`, `unsupported` (the engine lacks a capability) or `invalid-check`. */
  kind: string
  message: string
}

/** A check with its SQL written. */
export interface Planned {
  check: Check
  context: CheckContext
  /** Measures by the name the check gave them. */
  measures: Record<string, Sql>
}

/** Checks that one SELECT measures. */
export interface Part {
  checks: Planned[]
  groupBy: readonly string[]
}

/** The SELECT of a part. */
export interface Statement {
  select: Sql
  /** The output column of a measure, by the measure's `Sql.key`. */
  columns: Map<string, string>
}

/** The most groups of a metric with `group_by`; one more makes it an error. */
export const MAX_GROUPS = 1000

const MAX_GROUP_COLUMNS = 3

/**
 * Looks at every check in the light of the catalog: a column that is gone, a kind it does not apply to, a
 * config the column refuses, a capability the engine lacks. What remains is written as SQL.
 */
export async function plan(
  engine: Engine,
  table: TableInfo,
  checks: readonly Check[],
): Promise<{ planned: Planned[]; refusals: Refusal[] }> {
  const ids = new Set(checks.map(({ id }) => id))
  if (ids.size < checks.length) throw new TypeError('Two checks of a scan have the same id.')
  const planned: Planned[] = []
  const refusals: Refusal[] = []
  for (const check of checks) {
    const refusal = findFault(engine, table, check) ?? (await findConfigFault(table, check))
    const written = refusal ?? write(engine, table, check)
    if ('message' in written) refusals.push({ ...written, id: check.id })
    else planned.push(written)
  }
  return { planned, refusals }
}

/** Whether a check looks at a column, and at which. */
function columnOf(table: TableInfo, { type, column }: Check) {
  if (type.column === 'ignored' || column === undefined) return undefined
  return table.columns.find(({ name }) => name === column)
}

type Fault = Omit<Refusal, 'id'>

function findFault(engine: Engine, table: TableInfo, check: Check): Fault | null {
  const { type, column, groupBy = [] } = check
  const info = columnOf(table, check)
  const names = type.column === 'ignored' || column === undefined ? groupBy : [column, ...groupBy]
  const missing = names.find(name => !table.columns.some(candidate => candidate.name === name))
  const lacking = lackingCapability(type, engine, groupBy.length > 0)
  if (missing !== undefined) return missingColumn(table, missing)
  if (type.column === 'required' && !info) return invalid(`${type.name} needs a column.`)
  if (info && type.kinds && !type.kinds.includes(info.kind)) {
    return invalid(`${type.name} does not apply to the column ${info.name} of type ${info.type}.`)
  }
  if (lacking)
    return { kind: 'unsupported', message: `${type.name} needs ${lacking}, which ${engine.name} lacks.` }
  if (groupBy.length === 0) return null
  if (type.family === 'rule') return invalid('Only metrics can be grouped.')
  return groupBy.length > MAX_GROUP_COLUMNS
    ? invalid(`At most ${MAX_GROUP_COLUMNS} columns can group.`)
    : null
}

function missingColumn(table: TableInfo, name: string): Fault {
  return { kind: 'missing-object', message: `The column ${name} does not exist in ${tablePath(table)}.` }
}

function invalid(message: string): Fault {
  return { kind: 'invalid-check', message }
}

async function findConfigFault(table: TableInfo, check: Check): Promise<Fault | null> {
  try {
    const sentence = await check.type.refuses?.(check.config, columnOf(table, check))
    return sentence ? invalid(sentence) : null
  } catch (thrown) {
    return broken(check.type, thrown)
  }
}

/** A check type that throws is to blame itself; the other checks of the table still run. */
export function broken(type: CheckType, thrown: unknown): Fault {
  if (thrown instanceof NotFinite) return { kind: 'not-finite', message: thrown.message }
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return { kind: 'invalid-check', message: `${type.name} failed: ${reason}` }
}

function write(engine: Engine, table: TableInfo, check: Check): Planned | Fault {
  const { dialect } = engine
  const info = columnOf(table, check)
  const context: CheckContext = {
    column: info ? dialect.quote(info.name) : raw(''),
    info,
    table,
    from: dialect.table(table),
    config: check.config,
    dialect,
    nullIsValid: check.nullIsValid ?? false,
  }
  try {
    return { check, context, measures: measuresOf(check.type, context) }
  } catch (thrown) {
    return broken(check.type, thrown)
  }
}

function measuresOf(type: CheckType, context: CheckContext): Record<string, Sql> {
  if (isRowRule(type)) return rowMeasures(context, written('valid', type.valid(context)))
  if (isAggregate(type)) return { value: written('measure', type.measure(context)) }
  const measures = type.measures(context)
  for (const [name, measure] of Object.entries(measures)) written(`measures.${name}`, measure)
  return measures
}

/** A check type in JavaScript may give a text, which would only be noticed where all checks are joined. */
function written(what: string, given: Sql): Sql {
  if (given instanceof Sql) return given
  throw new TypeError(`${what} must give SQL that was written with sql\`…\`, not ${typeof given}`)
}

/** What the numbers of a check mean: counts for a rule, a value for a metric. */
export function interpret(
  { check, context }: Planned,
  measured: Measured,
  total: number,
): Counts | number | null {
  const { type } = check
  if (isRowRule(type)) return readRows(measured, total, context)
  return isAggregate(type) ? (measured.value ?? null) : type.read(measured, total, context)
}

/**
 * Puts checks together that one SELECT can measure: those with the same `group_by`, each of those that stay
 * alone by itself, and no more than the engine takes in output columns and bound values. The users' own SQL
 * comes last, so that it uses up only time that no other check needs.
 */
export function partition(planned: readonly Planned[], { dialect }: Engine): Part[] {
  const groups = new Map<string, Part>()
  for (const item of planned) {
    const groupBy = item.check.groupBy ?? []
    const key = item.check.type.alone ? `alone ${item.check.id}` : JSON.stringify(groupBy)
    const part = groups.get(key) ?? { checks: [], groupBy }
    part.checks.push(item)
    groups.set(key, part)
  }
  const isAlone = (part: Part) => (part.checks.some(({ check }) => check.type.alone) ? 1 : 0)
  const parts = [...groups.values()].toSorted((a, b) => isAlone(a) - isAlone(b))
  return parts.flatMap(part => cut(part, dialect.limits))
}

function cut({ checks, groupBy }: Part, limits: Engine['dialect']['limits']): Part[] {
  const parts: Part[] = []
  let keys = new Set<string>()
  let values = 0
  for (const item of checks) {
    const fresh = () => Object.values(item.measures).filter(measure => !keys.has(measure.key))
    const countValues = () => fresh().reduce((sum, measure) => sum + measure.values.length, 0)
    const columns = 1 + groupBy.length + keys.size + fresh().length
    const isFull = columns > limits.columns || values + countValues() > limits.values
    if (parts.length === 0 || isFull) {
      parts.push({ checks: [], groupBy })
      keys = new Set()
      values = 0
    }
    values += countValues()
    for (const measure of fresh()) keys.add(measure.key)
    parts.at(-1)?.checks.push(item)
  }
  return parts
}

/** The output column of all rows. */
export const TOTAL = 'm0'

/** The output column of the group column at a position. */
export function groupColumn(index: number): string {
  return `g${index}`
}

/**
 * The SELECT of a part: every measure once, however many checks ask for it, and the count of all rows. A
 * grouped one is limited to one group more than is allowed, which is enough to know that there are too many.
 */
export function statementOf(part: Part, table: TableInfo, { dialect }: Engine): Statement {
  const measures = new Map<string, Sql>([[rowCount.key, rowCount]])
  for (const { measures: own } of part.checks) {
    for (const measure of Object.values(own)) measures.set(measure.key, measure)
  }
  const columns = new Map([...measures.keys()].map((key, index) => [key, `m${index}`]))
  const outputs = [...measures].map(
    ([key, measure]) => sql`${measure} as ${dialect.quote(columns.get(key) ?? '')}`,
  )
  const from = dialect.table(table)
  const groups = part.groupBy.map(name => dialect.quote(name))
  if (groups.length === 0) return { select: sql`select ${join(outputs)} from ${from}`, columns }
  const named = groups.map((group, index) => sql`${group} as ${dialect.quote(groupColumn(index))}`)
  const select = sql`select ${join([...named, ...outputs])} from ${from} group by ${join(groups)}`
  return { select: dialect.limit(select, MAX_GROUPS + 1), columns }
}
