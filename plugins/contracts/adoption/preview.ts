/** What storing a contract would do, without doing it. */
import type { ContractsDeps } from '../deps.ts'
import { Contract, ContractClause } from '../models.ts'
import { planChecks, stepsOf, type ChecksPlan, type ClauseStep } from './clause-checks.ts'
import { findBinding, type ContractInput } from '../enforcement/contracts.ts'
import { planContract } from '../enforcement/plan.ts'

/** What would become of checks, each counted once. */
export type CheckCounts = Record<
  'adopted' | 'created' | 'changed' | 'replaced' | 'kept' | 'removed' | 'released',
  number
>

/**
 * Plans a contract as storing it would, and says what becomes of the checks. Stores nothing.
 * @throws 400 for a contract that cannot be bound, 404 `ASSET_NOT_FOUND` for an unknown source
 */
export async function previewContract(deps: ContractsDeps, companyId: string, input: ContractInput) {
  const { source, terms, current } = await findBinding(deps, companyId, input)
  const { clauses } = await planContract(deps, source, terms)
  return deps.db.company(companyId, async trx => {
    const before = current && (await Contract.query(trx).findById(current.id))
    const isMoved = before !== undefined && before.sourceId !== source.id
    const stored = before && !isMoved ? await ContractClause.query(trx).where('contractId', before.id) : []
    const planned = { source, ...(before && { id: before.id }), stored, clauses }
    const plan = await planChecks(deps, trx, planned, input.name)
    const steps = stepsOf(plan, stored, new Map())
    const counts = countChecks(plan, steps)
    return {
      name: input.name,
      source_id: source.id,
      source_name: source.name,
      is_new: before === undefined,
      message: describeCounts(counts),
      checks: counts,
      clauses: clauses.map(({ clause, verdict }) => {
        const step = steps.get(clause.key)
        const { status, reason } = refusalOf(step) ?? (step ? WAITING : (verdict ?? WAITING))
        return {
          key: clause.key,
          kind: clause.kind,
          path: clause.path,
          title: clause.title,
          severity: clause.severity,
          status,
          reason,
          table_name: clause.table,
          column_name: clause.column,
          action: step && step.action !== 'refuse' ? step.action : null,
          check_kind: step?.check?.kind ?? null,
          check_id: step?.check?.id ?? null,
        }
      }),
    }
  })
}

const WAITING = { status: 'pending', reason: null } as const

function refusalOf(step: ClauseStep | undefined) {
  if (step?.action !== 'refuse') return null
  return { status: 'not_enforced', reason: 'the table has a freshness schedule with other terms' } as const
}

function countChecks({ own, adopted, released, handedOver }: ChecksPlan, steps: Map<string, ClauseStep>) {
  const count = (action: ClauseStep['action']) => own.steps.filter(step => step.action === action).length
  const adoptedAnew = [...adopted].filter(([key]) => steps.get(key)?.action === 'adopt')
  const all = new Set([...adopted.values()])
  const anew = new Set(adoptedAnew.map(([, check]) => check))
  return {
    adopted: anew.size,
    created: count('create'),
    changed: count('change'),
    replaced: count('replace'),
    kept: count('keep') + all.size - anew.size,
    removed: own.removed.length,
    released: released.length + handedOver.length,
  } satisfies CheckCounts
}

const VERBS = [
  ['adopted', 'adopts'],
  ['created', 'creates'],
  ['changed', 'changes'],
  ['replaced', 'replaces'],
  ['kept', 'keeps'],
  ['removed', 'removes'],
  ['released', 'releases'],
] as const

/** `adopts 6 checks, creates 1`. */
function describeCounts(counts: CheckCounts): string {
  const said = VERBS.filter(([name]) => counts[name] > 0)
  const parts = said.map(([name, verb], place) =>
    place > 0 ? `${verb} ${counts[name]}` : `${verb} ${counts[name]} check${counts[name] === 1 ? '' : 's'}`,
  )
  return parts.length === 0 ? 'needs no checks' : parts.join(', ')
}
