import type { CheckOutcome } from '../../checks/check.ts'
import { DIRECTIONS, isAnomalous, SENSITIVITIES } from '../../checks/detector.ts'
import type { DetectorState, Schedule, SensitivityBand } from '../../checks/detector.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { MAX_PAST_POINTS } from '../../server/http/check-schemas.ts'
import type { ConfiguredCheck, JudgedValue } from '../checks/api.ts'
import type { NewRule } from './fields.ts'
import { judgeRule, startState, type RuleSettings } from './judge.ts'
import { consecutiveOf, directionOf } from './models.ts'
import { activeAt, MAX_BASELINE_RESULTS } from '../checks/kit.ts'

/** What was found of a rule at a moment of the past. */
export interface PastOutcome {
  at: Date
  outcome: CheckOutcome
  /** A user dismissed it as expected. */
  isConfirmed?: boolean
  /** It lies before what is asked about: it is learned, and not counted. */
  isBefore?: boolean
}

/** What would have come of a past: checks that fail, and alerts, of which failures in a row are one. */
export interface FailureCounts {
  failing: number
  alerts: number
}

/** An outcome of the past with its verdict. */
export interface ReplayedResult {
  at: Date
  judged: JudgedValue
  /** At each sensitivity; empty in manual mode, while nothing is expected, and for all but the newest. */
  bands: SensitivityBand[]
}

/** A past that was judged from its beginning. */
export interface ReplayedResults extends FailureCounts {
  /** Outcomes that were judged. */
  points: number
  /** Those that a chart shows, oldest first. */
  series: ReplayedResult[]
  /** Of auto mode: the same at each sensitivity. */
  bySensitivity: ({ sensitivity: number } & FailureCounts)[] | null
  /** With all of the past learned; null in manual mode. */
  state: DetectorState | null
}

/**
 * Judges a past as a rule would have that was there from its first outcome on. One replay serves all sensitivities: what
 * is learned does not depend on them, and a check fails exactly when its score is beyond.
 * @param past oldest first
 * @param schedule the hours of mode `schedule`, those that are asked about: trying them out is what this is for
 */
export function replayResults(
  settings: RuleSettings,
  past: readonly PastOutcome[],
  schedule: Schedule | undefined,
): ReplayedResults {
  let state = startState(settings)
  const replayed = past.flatMap(({ at, outcome, isConfirmed = false, isBefore = false }, index) => {
    const hasBands = !isBefore && index >= past.length - MAX_PAST_POINTS
    const moment = { at, wasActive: activeAt(schedule, at), isConfirmed, hasBands }
    const { judged, bands, state: next } = judgeRule(settings, outcome, moment, state)
    state = next
    return isBefore ? [] : [{ at, judged, bands }]
  })
  const judged = replayed.map(result => result.judged)
  const direction = DIRECTIONS[directionOf(settings) ?? 'rise']
  const consecutive = consecutiveOf(settings)
  const at = (sensitivity: number) =>
    countFailures(
      judged.map(({ isLearning, zScore }) => !isLearning && isAnomalous(zScore ?? 0, sensitivity, direction)),
      consecutive,
    )
  return {
    points: judged.length,
    series: replayed.slice(-MAX_PAST_POINTS),
    ...countFailures(
      judged.map(({ status }) => status === 'fail'),
      consecutive,
    ),
    bySensitivity: state && SENSITIVITIES.map(sensitivity => ({ sensitivity, ...at(sensitivity) })),
    state,
  }
}

/** @param consecutive failures in a row that open an alert */
function countFailures(fails: readonly boolean[], consecutive: number): FailureCounts {
  let run = 0
  let alerts = 0
  for (const isFailing of fails) {
    run = isFailing ? run + 1 : 0
    if (run === consecutive) alerts += 1
  }
  return { failing: fails.filter(Boolean).length, alerts }
}

/** Results that are judged at most: hourly ones of 90 days. */
const MAX_REPLAYED_RESULTS = 2_160

/**
 * The results of the last days that a rule has which measures the same at the same interval, oldest first, with those
 * before that its baseline rested on; of several such rules the one with the most. None when there is no such rule.
 */
export async function loadStoredPast(
  trx: Transaction,
  { table, check, window }: ConfiguredCheck,
  { check_interval: interval, treat_null_as_valid: nullIsValid }: NewRule,
  days: number,
): Promise<PastOutcome[]> {
  const results = await rows<StoredResult>(
    trx,
    `with asked as (select now() - make_interval(days => :days) as since),
     twin as (
       select rule.company_id, rule.id, rule.baseline_after
       from checks rule cross join asked join check_results r
         on r.company_id = rule.company_id and r.check_id = rule.id and r.status <> 'error'
           and r.at > asked.since and r.id > rule.baseline_after
       where rule.company_id = :companyId and rule.table_id = :tableId and rule.kind = 'validity' and rule.type = :type
         and rule.column_name is not distinct from :column
         and rule.filter is not distinct from :filter
         and rule.time_column is not distinct from :timeColumn
         and rule.window_size is not distinct from :windowSize
         and rule.config = cast(:config as jsonb)
         and (:ignoresNullPolicy or cast(rule.settings ->> 'treatNullAsValid' as boolean) = :nullIsValid)
         and rule.check_interval = :interval
       group by rule.id order by count(*) desc, rule.id desc limit 1
     ), past as (
       select r.at, r.total_rows, cast(r.details ->> 'invalidCount' as float8) as invalid, r.is_confirmed, r.id,
         r.at <= asked.since as is_before,
         row_number() over (partition by r.at <= asked.since order by r.at desc, r.id desc) as age
       from twin cross join asked join check_results r
         on r.company_id = twin.company_id and r.check_id = twin.id and r.status <> 'error'
           and r.id > twin.baseline_after
     )
     select * from past where age <= case when is_before then ${MAX_BASELINE_RESULTS} else ${MAX_REPLAYED_RESULTS} end
     order by at, id`,
    {
      companyId: companyOf(trx),
      tableId: table.id,
      type: check.type.name,
      column: check.column ?? null,
      filter: check.filter ?? null,
      timeColumn: window?.timeColumn ?? null,
      windowSize: window?.windowSize ?? null,
      config: JSON.stringify(check.config),
      nullIsValid,
      ignoresNullPolicy: check.type.ignoresNullPolicy ?? false,
      interval,
      days,
    },
  )
  return results.map(({ at, totalRows, invalid, isConfirmed, isBefore }) => ({
    at,
    outcome: {
      id: '',
      durationMs: 0,
      status: 'counted',
      total: Number(totalRows),
      invalid,
      samples: [],
      measured: {},
    },
    isConfirmed,
    isBefore,
  }))
}

interface StoredResult {
  at: Date
  totalRows: string
  invalid: number
  isConfirmed: boolean
  isBefore: boolean
}
