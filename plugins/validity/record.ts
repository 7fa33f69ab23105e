import type { Server } from '@hapi/hapi'
import { describeCounted } from '../../checks/check.ts'
import type { DetectorState } from '../../checks/detector.ts'
import { insertAll, type Transaction } from '../../server/database/database.ts'
import type { TableContext } from '../catalog/api.ts'
import type { MeasuredRow } from '../scans/api.ts'
import { updateAlerts } from './alert.ts'
import { loadStates, saveStates, saveStatuses, type RuleWithHours } from './baseline.ts'
import { activeAt, judgeRule, type Judgement } from './judge.ts'
import { ValidityResult, type ValidityRule } from './models.ts'

/** Rules whose states are held at once: one is tens of KB, and thousands of rules may hang on one table. */
const CHUNK_RULES = 50

/** Judges outcomes and stores what was learned, alerts, and results, which name the alerts that they counted on. */
export async function recordResults(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  taken: readonly MeasuredRow<ValidityRule>[],
  at: Date,
): Promise<ValidityResult[]> {
  const timed = await withHours(
    server,
    trx,
    taken.map(({ row }) => row),
  )
  const judged: RecordedResult[] = []
  for (let from = 0; from < taken.length; from += CHUNK_RULES) {
    const to = from + CHUNK_RULES
    judged.push(...(await judgeChunk(server, trx, timed.slice(from, to), taken.slice(from, to), at)))
  }
  for (const { rule, judged: result } of judged)
    server.telemetry.verdict('rule', rule.ruleType, result.isLearning ? 'learning' : result.status)
  const alerts = await updateAlerts(server, trx, loaded, judged)
  const storing = insertAll(
    judged.map(({ rule, judged: result, wasActive, slot, ms }) => ({
      validityRuleId: rule.id,
      ...result,
      wasActive,
      alertId: alerts.get(rule.id) ?? null,
      executionDurationMs: Math.round(ms),
      scheduledFor: slot,
      checkedAt: at,
    })),
    chunk => ValidityResult.query(trx).insert(chunk),
  )
  const statuses = judged.map(({ rule, judged: { status, isLearning } }) => ({
    id: rule.id,
    status,
    is_learning: isLearning,
  }))
  const [stored] = await Promise.all([storing, saveStatuses(trx, statuses)])
  return stored.map((result, place) => Object.assign(result, { finding: judged[place]!.finding }))
}

interface RecordedResult extends RuleWithHours, Omit<Judgement, 'state'> {
  /** What was found in words, where the number of invalid rows does not say it. */
  finding: string | null
  wasActive: boolean | null
  slot: Date | null
  /** Milliseconds that measuring took. */
  ms: number
}

/** Judges rules by what is known of them, and stores what was learned. */
async function judgeChunk(
  server: Server,
  trx: Transaction,
  timed: readonly RuleWithHours[],
  taken: readonly MeasuredRow<ValidityRule>[],
  at: Date,
): Promise<RecordedResult[]> {
  const known = await loadStates(trx, timed)
  const learned: { id: string; state: DetectorState }[] = []
  const judged = timed.map((item, index): RecordedResult => {
    const { id } = item.rule
    const wasActive = activeAt(item.schedule, at)
    const { outcome, slot } = taken[index]!
    const { state, ...judgement } = judgeRule(item.rule, outcome, { at, wasActive }, known.get(id) ?? null)
    if (state) learned.push({ id, state })
    const { ruleType, ruleConfig } = item.rule
    const finding = server.checks.has(ruleType)
      ? describeCounted(server.checks.get(ruleType), outcome, ruleConfig ?? {})
      : null
    return { ...item, ...judgement, finding, wasActive, slot, ms: outcome.durationMs }
  })
  await saveStates(trx, learned)
  return judged
}

/** Rules with the hours that those in mode `schedule` are judged by. */
async function withHours(server: Server, trx: Transaction, rules: readonly ValidityRule[]) {
  const scheduleOf = (rule: ValidityRule) =>
    rule.operatingPeriodMode === 'schedule' ? rule.operatingScheduleId : null
  const ids = rules.flatMap(rule => scheduleOf(rule) ?? [])
  const hours = await server.plugins.operatingSchedules.loadHours(trx, ids)
  return rules.map(rule => ({ rule, schedule: hours.get(scheduleOf(rule) ?? '') }))
}
