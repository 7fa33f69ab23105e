import type { DryRunMeasurement } from '../checks/api.ts'
import { columnsOf } from '../../server/http/fields.ts'
import { configureRule } from './create.ts'
import type { ValidityDeps } from './deps.ts'
import { ruleFields, type NewRule } from './fields.ts'
import { judgeRule, type RuleSettings } from './judge.ts'
import type { ValidityRule } from './models.ts'
import { presentCounts, presentWarnings } from './present.ts'
import {
  replayResults,
  loadStoredPast,
  type PastOutcome,
  type ReplayedResult,
  type ReplayedResults,
} from './replay.ts'
import { periodsOf, scheduleOf } from './rules.ts'
import { activeAt, presentCost, withGaps, withWindow } from '../checks/kit.ts'

/** The body of a dry run, validated. */
export type RuleDryRun = NewRule & { asset_id: string; lookback_days: number }

/**
 * Measures what a rule of this body would, judges it as that rule would, and stores nothing. Its past is computed from the
 * table's timestamps; where it cannot be, it is the results of a rule that measures the same.
 * @param options.hasCost whether it is estimated what the rule would read
 */
export async function dryRunRule(
  deps: ValidityDeps,
  companyId: string,
  body: RuleDryRun,
  { hasCost = false }: { hasCost?: boolean } = {},
) {
  const configured = await configureRule(deps, companyId, body.asset_id, body)
  const { schedule, stored } = await deps.db.company(companyId, async trx => ({
    schedule: await scheduleOf(deps, trx, periodsOf(body)),
    stored: await loadStoredPast(trx, configured, body, body.lookback_days),
  }))
  const {
    statements,
    outcome,
    at,
    history: past,
    cost,
  } = await deps.checks.dryRun(
    configured,
    { days: body.lookback_days, interval: body.check_interval },
    hasCost ? body.check_interval : undefined,
  )
  const settings = columnsOf<ValidityRule>(ruleFields, withWindow(body, configured.window)) as RuleSettings
  const known = knownPast(stored, past)
  const replayed = replayResults(settings, known.points, schedule)
  const moment = { at, wasActive: activeAt(schedule, at), hasBands: true }
  const { judged, bands } = judgeRule(settings, outcome, moment, replayed.state)
  return {
    sql: statements,
    status: judged.status,
    ...presentCounts(judged),
    expected_value: judged.expected,
    expected_range_low: judged.low,
    expected_range_high: judged.high,
    bands,
    learning: judged.isLearning,
    error_message: judged.errorMessage,
    ...presentWarnings(configured.warnings),
    history: presentHistory(body, known, replayed),
    ...(hasCost && { cost: presentCost(cost) }),
  }
}

/** A past, where it comes from, or why there is none. */
interface KnownPast {
  source: 'results' | 'timestamps' | null
  /** Of a past by timestamps. */
  column: string | null
  points: readonly PastOutcome[]
  /** Moments without rows. */
  gaps: readonly Date[]
  /** Why there is none. */
  message?: string
}

function knownPast(stored: readonly PastOutcome[], past: DryRunMeasurement['history']): KnownPast {
  if (past && 'points' in past)
    return { source: 'timestamps', column: past.column, points: past.points, gaps: past.gaps }
  if (stored.length > 0) return { source: 'results', column: null, points: stored, gaps: [] }
  return {
    source: null,
    column: null,
    points: [],
    gaps: [],
    message: past?.message ?? 'it was not asked for',
  }
}

function presentHistory(
  { lookback_days: days, check_interval: interval }: RuleDryRun,
  { source, column, gaps, message }: KnownPast,
  { points, failing, alerts, bySensitivity, series }: ReplayedResults,
) {
  return {
    lookback_days: days,
    source,
    timestamp_column: column,
    points,
    failing,
    alerts,
    ...(bySensitivity && { by_sensitivity: bySensitivity }),
    series: withGaps(series.map(presentPastResult), gaps),
    message:
      message === undefined
        ? `Of ${points} ${interval} checks in the last ${days} days, ${failing} would have failed and raised ${alerts} ${alerts === 1 ? 'alert' : 'alerts'}`
        : `Its past is not known: ${message}`,
  }
}

function presentPastResult({ at, judged, bands }: ReplayedResult) {
  return {
    at,
    value: judged.value,
    expected_value: judged.expected,
    z_score: judged.zScore,
    learning: judged.isLearning,
    bands,
  }
}
