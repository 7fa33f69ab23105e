import { setImmediate as others } from 'node:timers/promises'
import { learnPoint, STATE_VERSION } from '../../checks/detector.ts'
import type { DetectorState, SeriesPoint, Schedule } from '../../checks/detector.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { activeAt, secondsOf, startState } from './judge.ts'
import { ValidityState, type ValidityRule } from './models.ts'

/** Results that a baseline is rebuilt from: the last ones of a rule. */
export const MAX_BASELINE_RESULTS = 400

/** A rule, and the hours of now of the schedule that it is judged by. */
export interface RuleWithHours {
  rule: ValidityRule
  schedule: Schedule | undefined
}

/**
 * What was learned of the rules in auto mode, by rule; rebuilt from their results where it is not stored. At most one
 * statement for what is stored and one for all results.
 */
export async function loadStates(trx: Transaction, timed: readonly RuleWithHours[]) {
  const learning = timed.filter(({ rule }) => rule.detectionMode === 'auto')
  const known = await loadStoredStates(trx, learning)
  const unknown = learning.filter(({ rule }) => !known.has(rule.id))
  const pasts = await loadPoints(trx, unknown)
  for (const { rule } of unknown) {
    const nothing = startState(rule)
    const past = pasts.get(rule.id) ?? []
    if (nothing) known.set(rule.id, past.reduce(learnPoint, nothing))
    // A rebuild takes tens of milliseconds: requests are answered in between.
    await others()
  }
  return known
}

async function loadStoredStates(trx: Transaction, timed: readonly RuleWithHours[]) {
  if (timed.length === 0) return new Map()
  const stored = await ValidityState.query(trx).findByIds(idsOf(timed))
  return new Map(
    stored.flatMap(({ ruleId, state }) =>
      state.version === STATE_VERSION ? [[ruleId, state] as const] : [],
    ),
  )
}

/**
 * The last results of each rule that its baseline rests on, oldest first. They are active or dormant as they were
 * stored; those without a word on it, taken in another mode, by the hours of now.
 */
export async function loadPoints(trx: Transaction, timed: readonly RuleWithHours[]) {
  if (timed.length === 0) return new Map()
  const past = await rows<PastResult>(
    trx,
    `select past.* from validity_rules rule cross join lateral (
       select r.validity_rule_id, r.checked_at, r.invalid_percent, r.total_rows, r.is_confirmed, r.was_active, r.id
       from validity_results r
       where r.company_id = rule.company_id and r.validity_rule_id = rule.id and r.status <> 'error'
         and r.id > rule.baseline_after
       order by r.checked_at desc, r.id desc limit ${MAX_BASELINE_RESULTS}
     ) past
     where rule.company_id = :companyId and rule.id = any(cast(:ids as bigint[]))
     order by past.checked_at, past.id`,
    { companyId: companyOf(trx), ids: idsOf(timed) },
  )
  const byRule = Map.groupBy(past, ({ validityRuleId }) => validityRuleId)
  return new Map(
    timed.map(({ rule, schedule }) => [
      rule.id,
      (byRule.get(rule.id) ?? []).map(result => pointOf(result, schedule)),
    ]),
  )
}

interface PastResult {
  validityRuleId: string
  checkedAt: Date
  invalidPercent: number
  totalRows: string
  isConfirmed: boolean
  wasActive: boolean | null
}

function pointOf(past: PastResult, schedule: Schedule | undefined): SeriesPoint {
  const { checkedAt, wasActive } = past
  return {
    at: secondsOf(checkedAt),
    value: past.invalidPercent,
    total: Number(past.totalRows),
    confirmed: past.isConfirmed,
    active: schedule ? (wasActive ?? activeAt(schedule, checkedAt)) : null,
  }
}

/** Makes the baselines of rules be read again from the results that they rest on. */
export async function relearn(trx: Transaction, rules: readonly Pick<ValidityRule, 'id'>[]): Promise<void> {
  const ids = rules.map(({ id }) => id)
  await ValidityState.query(trx).delete().whereIn('ruleId', ids)
}

function idsOf(timed: readonly RuleWithHours[]): string[] {
  return timed.map(({ rule }) => rule.id)
}

/** Stores how rules did, in one statement. */
export async function saveStatuses(
  trx: Transaction,
  statuses: readonly { id: string; status: string; is_learning: boolean }[],
) {
  await rows(
    trx,
    `update validity_rules r set latest_status = j.status, is_learning = j.is_learning
     from jsonb_to_recordset(cast(:statuses as jsonb)) as j(id bigint, status text, is_learning boolean)
     where r.company_id = :companyId and r.id = j.id`,
    { statuses: JSON.stringify(statuses), companyId: companyOf(trx) },
  )
}

/** Stores what was learned of rules, in one statement. */
export async function saveStates(trx: Transaction, learned: readonly { id: string; state: DetectorState }[]) {
  if (learned.length === 0) return
  await rows(
    trx,
    `insert into validity_states (company_id, rule_id, state)
     select r.company_id, r.id, l.state
     from jsonb_to_recordset(cast(:learned as jsonb)) as l(id bigint, state jsonb)
     join validity_rules r on r.company_id = :companyId and r.id = l.id
     on conflict (rule_id) do update set state = excluded.state`,
    { learned: JSON.stringify(learned), companyId: companyOf(trx) },
  )
}
