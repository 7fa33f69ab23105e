import { describeCounted, type CheckOutcome } from '../../../checks/check.ts'
import { tablePath, type TableInfo } from '../../../connectors/catalog.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import type { Source, Table } from '../../catalog/api.ts'
import type { ConfiguredCheck } from '../../checks/api.ts'
import type { ContractNode } from '../elements.ts'
import { chooseTable, findColumn, namesIn, type Binding, type Bindings } from '../enforcement/bindings.ts'
import type { Clause, ClauseVerdict } from '../enforcement/clause.ts'
import { listClauses } from '../enforcement/clauses.ts'
import { judgeByCatalog } from '../enforcement/conformity.ts'
import { noClauses, type ClauseCounts } from '../enforcement/contracts.ts'
import { bindClauses } from '../enforcement/plan.ts'
import { wantedCheckOf } from '../enforcement/wanted-check.ts'
import type { ContractsDeps } from '../deps.ts'

/** A clause of a contract that was tested. */
export type TestedClause = Pick<Clause, 'key' | 'kind' | 'path' | 'title' | 'severity'> &
  Pick<ClauseVerdict, 'status' | 'reason'>

/** What a test of a contract found. */
export interface ContractTestResult {
  source: string
  /** `error` if no clause fails, and one could not be judged. */
  status: 'pass' | 'fail' | 'error'
  counts: ClauseCounts
  clauses: TestedClause[]
}

/** A contract that is tested on a source and not stored. */
export interface ContractTest {
  source: Source
  document: ContractNode
  extraColumns: 'allow' | 'fail'
}

/**
 * Judges all clauses of a contract now: reads the catalog of the source, and measures what only the data tells, one scan
 * a table. Stores nothing.
 * @param options.signal ends it between two tables
 * @param options.slotWaitMs milliseconds to wait for the session that reads the catalog
 * @throws 503 `UNAVAILABLE` while all sessions of the source are in use
 */
export async function testContract(
  deps: ContractsDeps,
  { source, document, extraColumns }: ContractTest,
  options: { signal: AbortSignal; slotWaitMs?: number },
): Promise<ContractTestResult> {
  if (!source.isActive) throw deps.catalog.sourceInactive(source)
  const clauses = listClauses(document, extraColumns)
  const bindings = await readTables(deps, source, clauses, options)
  const verdicts = new Map<Clause, ClauseVerdict>()
  const open = new Map<string, Clause[]>()
  for (const clause of clauses) {
    const verdict = judgeByCatalog(clause, bindings)
    if (verdict !== 'measured') verdicts.set(clause, verdict)
    else open.set(clause.table ?? '', [...(open.get(clause.table ?? '') ?? []), clause])
  }
  for (const [name, some] of open) {
    options.signal.throwIfAborted()
    const binding = bindings.get(name)
    if (!binding || 'missing' in binding) continue
    for (const [clause, verdict] of await measureClauses(deps, source, { binding, bindings }, some))
      verdicts.set(clause, verdict)
  }
  const tested = clauses.map((clause): TestedClause => {
    const { key, kind, path, title, severity } = clause
    const { status, reason } = verdicts.get(clause) ?? NOT_JUDGED
    return { key, kind, path, title, severity, status, reason }
  })
  const counts = noClauses()
  for (const { status } of tested) counts[status] += 1
  const status = counts.failing > 0 ? 'fail' : counts.pending > 0 ? 'error' : 'pass'
  return { source: source.name, status, counts, clauses: tested }
}

const NOT_JUDGED: ClauseVerdict = { status: 'pending', reason: 'it could not be judged' }

/** Tables that the last discovery found, as the source has them now. */
async function readTables(
  deps: ContractsDeps,
  source: Source,
  clauses: readonly Clause[],
  { signal, slotWaitMs }: { signal: AbortSignal; slotWaitMs?: number },
): Promise<Bindings> {
  const { catalog } = deps
  const stored = await deps.db.company(source.companyId, trx => bindClauses(deps, trx, source, clauses))
  const discovered = [...stored.values()].flatMap(binding => ('table' in binding ? [binding] : []))
  const areAllKnown = discovered.length === stored.size
  const live = await catalog.withConnection(
    source,
    connection =>
      connection.introspect({
        signal,
        // Tables that no discovery has found are looked for among all.
        ...(areAllKnown && { tables: discovered.map(({ info }) => info) }),
      }),
    { purpose: 'dry_run', timeoutMs: catalog.statementTimeoutMs(source), slotWaitMs },
  )
  const candidates = live.map((info, place) => ({ ...info, id: String(place) }))
  const byPath = new Map(discovered.map(({ table, info }) => [tablePath(info), table]))
  return new Map(
    namesIn(clauses).map((name): [string, Binding] => {
      const info = chooseTable(candidates, name, source)
      if ('missing' in info) return [name, info]
      const table = byPath.get(tablePath(info))
      return [name, { info, table: table ? withColumns(table, info) : undiscovered(info) }]
    }),
  )
}

/** A stored table with the columns that it has now. */
function withColumns(table: Table, { columns, constraints }: TableInfo): Table {
  return Object.assign(table, { columns, constraints })
}

/** A table that is in the source and in no catalog yet: its schema can be judged, and its data cannot. */
function undiscovered({ name }: TableInfo): Table {
  return { id: '', name } as Table
}

/** A table that was found. */
type FoundTable = Extract<Binding, { info: TableInfo }>

/** Measures clauses of one table. @param tables it, and those that its columns may refer to */
async function measureClauses(
  deps: ContractsDeps,
  source: Source,
  tables: { binding: FoundTable; bindings: Bindings },
  clauses: readonly Clause[],
): Promise<Map<Clause, ClauseVerdict>> {
  const { table, info } = tables.binding
  const verdicts = new Map<Clause, ClauseVerdict>()
  const pending = (clause: Clause, reason: string) => verdicts.set(clause, { status: 'pending', reason })
  if (table.id === '') {
    for (const clause of clauses) pending(clause, 'its table was not discovered yet: run a discovery')
    return verdicts
  }
  const { catalog, freshness, checks } = deps
  const { dialect } = catalog.connectorOf(source)
  const measured: ({ clause: Clause } & JudgedCheck)[] = []
  for (const clause of clauses) {
    if (clause.demand.of === 'reference') {
      const { demand, column } = clause
      verdicts.set(clause, await measureReference(deps, source, tables, { ...demand, column: column ?? '' }))
      continue
    }
    const column = clause.column === null ? null : (findColumn(info, clause.column)?.name ?? null)
    const wanted = await wantedCheckOf(clause, { info, dialect, engine: source.sourceType, column }, 'test')
    if ('reason' in wanted) {
      verdicts.set(clause, { status: 'not_enforced', reason: wanted.reason })
      continue
    }
    const { body } = wanted
    if (wanted.kind === 'freshness') {
      const terms = { timestampColumn: column, slaThreshold: String(body.sla_threshold) }
      const judged = await freshness.judgeOnce({ source, table }, terms)
      const status = ({ fresh: 'passing', stale: 'failing', unknown: 'pending' } as const)[judged.status]
      verdicts.set(clause, { status, reason: judged.reason })
      continue
    }
    const configure = wanted.kind === 'metric' ? configureMetric : configureRule
    const check = await configure(deps, { source, table }, body).catch(refusalOf)
    if (typeof check === 'string')
      verdicts.set(clause, { status: 'not_enforced', reason: `its check was refused: ${check}` })
    else measured.push({ clause, ...check })
  }
  if (measured.length === 0) return verdicts
  const outcomes = await checks.measureOnce(
    { source, table },
    measured.map(({ check }) => check),
  )
  measured.forEach(({ clause, findFailure }, place) =>
    verdicts.set(clause, verdictOf(outcomes[place]!, findFailure)),
  )
  return verdicts
}

async function measureReference(
  deps: ContractsDeps,
  source: Source,
  { binding, bindings }: { binding: FoundTable; bindings: Bindings },
  { column, parentTable, parentColumn }: { column: string; parentTable: string; parentColumn: string },
): Promise<ClauseVerdict> {
  const parent = bindings.get(parentTable)
  if (!parent || 'missing' in parent)
    return { status: 'not_enforced', reason: `there is no table ${parentTable}` }
  const trial = {
    sourceId: source.id,
    child: binding.info,
    parent: parent.info,
    childColumn: findColumn(binding.info, column)?.name ?? '',
    parentColumn: findColumn(parent.info, parentColumn)?.name ?? parentColumn,
  }
  const tried = await deps.referential.dryRun(source.companyId, trial).catch(refusalOf)
  if (typeof tried === 'string') return { status: 'not_enforced', reason: `its check was refused: ${tried}` }
  if (tried.status === 'error')
    return { status: 'pending', reason: `its check could not run: ${tried.error_message}` }
  return tried.status === 'pass'
    ? { status: 'passing', reason: null }
    : { status: 'failing', reason: `${tried.orphan_count} of ${tried.total_child_rows} rows without a match` }
}

/** A check, and how what it finds is judged. */
interface JudgedCheck {
  check: ConfiguredCheck['check']
  /** Why an outcome that is no error fails; null if it passes. */
  findFailure(outcome: CheckOutcome): string | null
}

async function configureMetric(
  { metrics }: ContractsDeps,
  table: { source: Source; table: Table },
  body: Record<string, unknown>,
): Promise<JudgedCheck> {
  const { check, describeBreach } = await metrics.configureOnce(table, body)
  return { check, findFailure: describeBreach }
}

async function configureRule(
  deps: ContractsDeps,
  context: { source: Source; table: Table },
  body: Record<string, unknown>,
): Promise<JudgedCheck> {
  const request = {
    family: 'rule' as const,
    type: String(body.rule_type),
    typeField: 'rule_type' as const,
    column: body.column_name as string | undefined,
    config: (body.rule_config ?? {}) as Record<string, unknown>,
    configField: 'rule_config',
    nullIsValid: body.treat_null_as_valid === true,
  }
  const { check } = await deps.checks.configureTable(context, request, true)
  const limit = Number(body.alert_threshold_percent ?? 0)
  return { check, findFailure: outcome => findRuleFailure(outcome, check, limit) }
}

/** What is wrong with a check is wrong with its clause. */
function refusalOf(error: unknown): string {
  if (error instanceof ConnectorError) return error.message
  if (!hasErrorData(error) || error.output.statusCode >= 500) throw error
  return error.message
}

function verdictOf(outcome: CheckOutcome, findFailure: JudgedCheck['findFailure']): ClauseVerdict {
  if (outcome.status === 'error')
    return { status: 'pending', reason: `its check could not run: ${outcome.message}` }
  if (outcome.status !== 'counted' && outcome.status !== 'measured') return NOT_JUDGED
  const reason = findFailure(outcome)
  return { status: reason === null ? 'passing' : 'failing', reason }
}

function findRuleFailure(
  outcome: CheckOutcome,
  { type, config }: ConfiguredCheck['check'],
  limit: number,
): string | null {
  if (outcome.status !== 'counted') return null
  const { total, invalid } = outcome
  const percent = invalid === 0 ? 0 : Math.min(100, (100 * invalid) / total)
  if (percent <= limit) return null
  return describeCounted(type, outcome, config) ?? `${invalid} of ${total} rows are invalid`
}
