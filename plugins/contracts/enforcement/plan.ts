import { createHash } from 'node:crypto'
import type { Transaction } from '../../../server/database/database.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { Source, Table } from '../../catalog/api.ts'
import type { AskEngine, WantedCheck } from '../../checks/api.ts'
import type { ContractNode } from '../elements.ts'
import { bindTables, findColumn, type Bindings } from './bindings.ts'
import type { Clause, ClauseVerdict, Domain } from './clause.ts'
import { listClauses } from './clauses.ts'
import { judgeByCatalog } from './conformity.ts'
import { wantedCheckOf } from './wanted-check.ts'
import type { ContractsDeps } from '../deps.ts'

/** A contract as it is to be enforced. */
export interface ContractTerms {
  name: string
  document: ContractNode
  extraColumns: 'allow' | 'fail'
  /** The parts to enforce; null for all. */
  domains: readonly Domain[] | null
}

/** A clause, with what the catalog says of it, or with the check that tells. */
export interface PlannedClause {
  clause: Clause
  tableId: string | null
  verdict: ClauseVerdict | null
  /** By the key of the clause. */
  check: WantedCheck | null
}

export interface ContractPlan {
  clauses: PlannedClause[]
  /** What the tables were that the plan was made for. */
  catalogState: string
}

/** Finds the tables of clauses as the catalog has them now. */
export function bindClauses(
  deps: ContractsDeps,
  trx: Transaction,
  source: Source,
  clauses: readonly Pick<Clause, 'table'>[],
): Promise<Bindings> {
  const { catalog } = deps
  return bindTables(trx, source, clauses, async ids => {
    const tables = await catalog.loadTables(trx, ids)
    return tables.map(table => ({ table, info: catalog.tableInfo(table) }))
  })
}

/** Equal while a contract would be judged alike by the catalog. */
export function catalogStateOf(source: Source, bindings: Bindings): string {
  const parts = [...bindings].map(([name, binding]) => [
    name,
    ...('missing' in binding ? [binding.missing] : [binding.table.id, binding.table.fingerprint]),
  ])
  const state = [source.lastDiscoveryAt === null, parts]
  return createHash('sha256').update(JSON.stringify(state)).digest('base64url')
}

/** Judges clauses by the catalog; null of those that only a check can judge. */
export function judgeClauses(
  source: Source,
  clauses: readonly Clause[],
  bindings: Bindings,
): (ClauseVerdict | null)[] {
  return clauses.map(clause => {
    const verdict = judgeByCatalog(clause, bindings)
    if (verdict === 'measured') return null
    // Before the first discovery, a table is not missing but unknown.
    if (source.lastDiscoveryAt === null && verdict.status !== 'not_enforced')
      return { status: 'pending', reason: `${source.name} was not discovered yet` }
    return verdict
  })
}

/**
 * Plans how to enforce a contract on a source: what the catalog says of each clause, and the checks that tell of the
 * others. Stores nothing; no transaction is open while the engine is asked about SQL.
 */
export async function planContract(
  deps: ContractsDeps,
  source: Source,
  terms: ContractTerms,
): Promise<ContractPlan> {
  const clauses = listClauses(terms.document, terms.extraColumns, terms.domains)
  const bindings = await deps.db.company(source.companyId, trx => bindClauses(deps, trx, source, clauses))
  const verdicts = judgeClauses(source, clauses, bindings)
  const planned: PlannedClause[] = []
  const pause = makePauses()
  await deps.checks.withSharedSession(source, async ask => {
    for (const [index, clause] of clauses.entries()) {
      await pause()
      const binding = clause.table === null ? undefined : bindings.get(clause.table)
      const table = binding && 'table' in binding ? binding : undefined
      const verdict = verdicts[index] ?? null
      const item = { clause, tableId: table?.table.id ?? null, verdict, check: null }
      if (verdict || !table) planned.push({ ...item, verdict: verdict ?? unknownTable(clause) })
      else planned.push({ ...item, ...(await planCheck(deps, source, clause, { ...table, terms, ask })) })
    }
  })
  return { clauses: withStrictestFreshness(planned), catalogState: catalogStateOf(source, bindings) }
}

function unknownTable({ table }: Clause): ClauseVerdict {
  return { status: 'pending', reason: `there is no table ${table ?? ''}` }
}

async function planCheck(
  deps: ContractsDeps,
  source: Source,
  clause: Clause,
  {
    table,
    info,
    terms,
    ask,
  }: { table: Table; info: Parameters<typeof findColumn>[0]; terms: ContractTerms; ask: AskEngine },
): Promise<Pick<PlannedClause, 'verdict' | 'check'>> {
  const { catalog, checks } = deps
  const column = clause.column === null ? null : (findColumn(info, clause.column)?.name ?? null)
  const { dialect } = catalog.connectorOf(source)
  const clauseCheck = await wantedCheckOf(
    clause,
    { info, dialect, engine: source.sourceType, column },
    terms.name,
  )
  const refused = (reason: string) => ({
    verdict: { status: 'not_enforced', reason } satisfies ClauseVerdict,
    check: null,
  })
  if ('reason' in clauseCheck) return refused(clauseCheck.reason)
  const { kind, body } = clauseCheck
  const context = { source, table }
  try {
    // A contract is about all rows, whatever the default window of the table is.
    const whole = kind === 'validity' ? { window: null, ...body } : body
    const fields = await checks.reconciler.read(kind, context, whole, ask)
    const check = { key: clause.key, kind, table: context, tablePath: clause.table ?? '', fields }
    return { verdict: null, check }
  } catch (error) {
    // What is wrong with the check is wrong with the clause; of other errors the request fails.
    if (!hasErrorData(error) || error.output.statusCode >= 500) throw error
    return refused(`its check was refused: ${error.message}`)
  }
}

/** A table has one freshness schedule: that of its strictest clause. */
function withStrictestFreshness(planned: readonly PlannedClause[]): PlannedClause[] {
  const secondsOf = ({ demand }: Clause) => (demand.of === 'freshness' ? demand.seconds : Number.MAX_VALUE)
  const strictest = new Map<string, PlannedClause>()
  for (const item of planned) {
    if (item.check?.kind !== 'freshness') continue
    const other = strictest.get(item.check.table.table.id)
    if (!other || secondsOf(item.clause) < secondsOf(other.clause))
      strictest.set(item.check.table.table.id, item)
  }
  return planned.map(item => {
    if (item.check?.kind !== 'freshness') return item
    const chosen = strictest.get(item.check.table.table.id)
    if (chosen === item) return item
    const reason = `a table has one freshness schedule, and another clause is stricter: ${chosen?.clause.title ?? ''}`
    return { ...item, check: null, verdict: { status: 'not_enforced', reason } }
  })
}
