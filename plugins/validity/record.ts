import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database.ts'
import { alert } from './alert.ts'
import { baselines, keep, type Timed } from './baseline.ts'
import { activeAt, judgeRule, type Judgement } from './judge.ts'
import { ValidityResult, type ValidityRule } from './models.ts'

type Feature = Parameters<Server['plugins']['scans']['contribute']>[0]
type Loaded = Parameters<Feature['record']>[1]
/** A rule, locked, with what the scan says of it. */
type Taken = { row: ValidityRule } & Pick<Parameters<Feature['record']>[2][number], 'outcome' | 'slot'>

/** Rules whose states are held at once: one is tens of KB, and thousands of rules may hang on one table. */
const CHUNK = 50

/** Judges outcomes and stores results, what was learned, and alerts. */
export async function record(
  server: Server,
  trx: Transaction,
  loaded: Loaded,
  taken: readonly Taken[],
  at: Date,
): Promise<ValidityResult[]> {
  const stored: ValidityResult[] = []
  for (let from = 0; from < taken.length; from += CHUNK)
    stored.push(...(await recordSome(server, trx, loaded, taken.slice(from, from + CHUNK), at)))
  return stored
}

interface Recorded extends Timed, Judgement {
  wasActive: boolean | null
  slot: Date | null
  /** Milliseconds that measuring took. */
  ms: number
}

async function recordSome(
  server: Server,
  trx: Transaction,
  loaded: Loaded,
  taken: readonly Taken[],
  at: Date,
): Promise<ValidityResult[]> {
  const timed = await withHours(
    server,
    trx,
    taken.map(({ row }) => row),
  )
  const known = await baselines(trx, timed)
  const judged = timed.map((item, index): Recorded => {
    const wasActive = activeAt(item.schedule, at)
    const { outcome, slot } = taken[index]!
    const judgement = judgeRule(item.rule, outcome, { at, wasActive }, known.get(item.rule.id) ?? null)
    return { ...item, ...judgement, wasActive, slot, ms: outcome.durationMs }
  })
  // Before the results, which name the alerts that they raised or counted on.
  const alerts = await alert(server, trx, loaded, judged)
  const stored = await ValidityResult.query(trx).insert(
    judged.map(({ rule, judged: result, wasActive, slot, ms }) => ({
      validityRuleId: rule.id,
      ...result,
      wasActive,
      alertId: alerts.get(rule.id) ?? null,
      executionDurationMs: Math.round(ms),
      scheduledFor: slot,
      checkedAt: at,
    })),
  )
  await keep(
    trx,
    judged.map(({ rule, judged: { status }, state }) => ({ id: rule.id, status, state })),
  )
  return stored
}

/** Rules with the hours that those in mode `schedule` are judged by. */
async function withHours(server: Server, trx: Transaction, rules: readonly ValidityRule[]): Promise<Timed[]> {
  const scheduleOf = (rule: ValidityRule) =>
    rule.operatingPeriodMode === 'schedule' ? rule.operatingScheduleId : null
  const ids = rules.flatMap(rule => scheduleOf(rule) ?? [])
  const hours = await server.plugins.operatingSchedules.hours(trx, ids)
  return rules.map(rule => ({ rule, schedule: hours.get(scheduleOf(rule) ?? '') }))
}
