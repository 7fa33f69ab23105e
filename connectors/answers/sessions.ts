/** Checks the other answers of connectors, which may be written in JavaScript and return anything. */
import type {
  Connection,
  CostEstimate,
  HiddenParts,
  Partition,
  Row,
  Stage,
  TablePart,
  ViewDefinition,
} from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { Sql } from '../sql.ts'
import { STAGE_NAMES } from '../stages.ts'
import { findTableRefProblem, malformedError } from './tables.ts'

const STATUSES: ReadonlySet<unknown> = new Set(['passed', 'failed', 'skipped'])

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const METHODS = ['introspect', 'query', 'close'] as const
const OPTIONAL_METHODS = [
  'findHiddenTables',
  'findHiddenParts',
  'findPartitions',
  'viewDefinitions',
  'lastModified',
  'estimates',
  'estimateCost',
  'listParts',
] as const

/** @throws ConnectorError if what `connect` returned lacks a method of a connection */
export function assertConnection(engine: string, answer: unknown): Connection {
  if (!isObject(answer)) throw malformedError(engine, 'connect', 'a connection is required')
  const lacking = METHODS.find(name => typeof answer[name] !== 'function')
  if (lacking !== undefined) throw malformedError(engine, 'connect', `${lacking} must be a function`)
  const wrong = OPTIONAL_METHODS.find(
    name => answer[name] !== undefined && typeof answer[name] !== 'function',
  )
  if (wrong !== undefined) throw malformedError(engine, 'connect', `${wrong} must be a function, or left out`)
  return answer as unknown as Connection
}

/**
 * @returns the stages of a connection test, in their order
 * @throws ConnectorError if some are missing: a test that tried nothing has not passed
 */
export function assertStages(engine: string, answer: unknown): Stage[] {
  const refuse = (problem: string) => malformedError(engine, 'test', problem)
  if (!Array.isArray(answer)) throw refuse('an array of stages is required')
  const stages = answer as unknown[]
  for (const [index, stage] of stages.entries()) {
    const problem = findStageProblem(stage)
    if (problem !== null) throw refuse(`[${index}]${problem}`)
  }
  const found = STAGE_NAMES.map(name => {
    const [stage, second] = (stages as Stage[]).filter(each => each.name === name)
    if (!stage) throw refuse(`the stage ${name} is missing`)
    if (second) throw refuse(`the stage ${name} is there twice`)
    return stage
  })
  const hasFailed = found.some(({ status }) => status === 'failed')
  if (!hasFailed && found.at(-1)?.status !== 'passed')
    throw refuse('the stage read_catalog must have passed where none has failed')
  return found
}

function findStageProblem(stage: unknown): string | null {
  if (!isObject(stage)) return ' must be an object'
  if (!STAGE_NAMES.includes(stage.name as Stage['name']))
    return `.name must be one of ${STAGE_NAMES.join(', ')}`
  if (!STATUSES.has(stage.status)) return `.status must be one of ${[...STATUSES].join(', ')}`
  if (!(Number.isFinite(stage.latencyMs) && (stage.latencyMs as number) >= 0))
    return '.latencyMs must be a number, not below 0'
  if (typeof stage.message !== 'string') return '.message must be a string'
  if (stage.error !== undefined && !(stage.error instanceof ConnectorError))
    return '.error must be a ConnectorError, or left out'
  return null
}

/** What a value of a row cannot be: it could be neither compared nor written as JSON. */
const VALUE_PROBLEMS: Readonly<Record<string, string>> = {
  bigint: 'a bigint: give integers beyond 2^53 as strings',
  function: 'a function',
  symbol: 'a symbol',
}

/** @throws ConnectorError unless it is an array of rows with values */
export function assertRows(engine: string, answer: unknown): Row[] {
  const refuse = (problem: string) => malformedError(engine, 'query', problem)
  if (!Array.isArray(answer)) throw refuse('an array of rows is required')
  for (let index = 0; index < answer.length; index++) {
    const row: unknown = answer[index]
    if (!isObject(row) || Array.isArray(row)) throw refuse(`rows[${index}] must be an object by column`)
    for (const name in row) {
      const problem = VALUE_PROBLEMS[typeof row[name]]
      if (problem !== undefined) throw refuse(`rows[${index}].${name} must not be ${problem}`)
    }
  }
  return answer as Row[]
}

type FindProblem = (value: unknown) => string | null

/** Answers by `tablePath`: what is wrong with a value of each, or null. */
const MAP_VALUES = {
  lastModified: value =>
    value instanceof Date && !Number.isNaN(value.getTime()) ? null : 'must be a valid Date',
  estimates: value =>
    Number.isFinite(value) && (value as number) >= 0 ? null : 'must be a number, not below 0',
  findHiddenTables: value => (value instanceof ConnectorError ? null : 'must be a ConnectorError'),
  findHiddenParts(value) {
    if (!isObject(value)) return 'must be an object'
    const { columns, reason } = value as Partial<HiddenParts>
    if (!Array.isArray(columns) || !columns.every(name => typeof name === 'string'))
      return 'columns must be an array of names'
    return reason instanceof ConnectorError ? null : 'reason must be a ConnectorError'
  },
  findPartitions(value) {
    if (!isObject(value)) return 'must be an object'
    const { parent, identity } = value as Partial<Partition>
    const problem = findTableRefProblem(parent)
    if (problem !== null) return `parent ${problem}`
    return identity === undefined || typeof identity === 'string'
      ? null
      : 'identity must be a string, or left out'
  },
} satisfies Record<string, FindProblem>

/** @throws ConnectorError unless it is a Map from texts to such values as the call gives */
export function assertMap<Value>(
  engine: string,
  call: keyof typeof MAP_VALUES,
  answer: Map<string, Value>,
): Map<string, Value> {
  const findProblem: FindProblem = MAP_VALUES[call]
  if (!((answer as unknown) instanceof Map))
    throw malformedError(engine, call, 'a Map by the path of the table is required')
  for (const [path, value] of answer) {
    if (typeof path !== 'string') throw malformedError(engine, call, 'each key must be the path of a table')
    const problem = findProblem(value)
    if (problem !== null) throw malformedError(engine, call, `table ${path}: ${problem}`)
  }
  return answer
}

/** @throws ConnectorError unless it is an array of views with their definitions */
export function assertViews(engine: string, answer: unknown): ViewDefinition[] {
  const refuse = (problem: string) => malformedError(engine, 'viewDefinitions', problem)
  if (!Array.isArray(answer)) throw refuse('an array of views is required')
  for (const [index, view] of (answer as unknown[]).entries()) {
    const problem = findTableRefProblem(view)
    if (problem !== null) throw refuse(`view ${index}: ${problem}`)
    const { definition } = view as Partial<ViewDefinition>
    if (definition !== null && typeof definition !== 'string')
      throw refuse(`view ${index}: definition must be a string or null`)
  }
  return answer as ViewDefinition[]
}

/** @throws ConnectorError unless its rows and bytes are numbers or null */
export function assertCost(engine: string, answer: unknown): CostEstimate {
  const refuse = (problem: string) => malformedError(engine, 'estimateCost', problem)
  if (!isObject(answer)) throw refuse('an object with rows and bytes is required')
  for (const name of ['rows', 'bytes']) {
    const number = answer[name]
    if (number !== null && !(Number.isFinite(number) && (number as number) >= 0))
      throw refuse(`${name} must be a number, not below 0, or null`)
  }
  return { rows: answer.rows as number | null, bytes: answer.bytes as number | null }
}

/** @throws ConnectorError unless it is null or an array of parts with names of their own */
export function assertParts(engine: string, answer: unknown): TablePart[] | null {
  const refuse = (problem: string) => malformedError(engine, 'listParts', problem)
  if (answer === null) return null
  if (!Array.isArray(answer)) throw refuse('null or an array of parts is required')
  for (const [index, part] of (answer as unknown[]).entries()) {
    if (!isObject(part)) throw refuse(`part ${index} must be an object`)
    const { name, version, from } = part as Partial<TablePart>
    if (typeof name !== 'string' || typeof version !== 'string' || version === '')
      throw refuse(`part ${index}: name and version must be strings`)
    if (!(from instanceof Sql)) throw refuse(`part ${index}: from must be SQL`)
  }
  const parts = answer as TablePart[]
  if (new Set(parts.map(({ name }) => name)).size < parts.length) throw refuse('two parts have one name')
  return parts
}
