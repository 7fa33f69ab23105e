import { learnCadence } from '../../../checks/cadence.ts'
import { formatDuration, parseDuration } from '../../../server/settings/durations.ts'
import type { FreshnessStatus, Schedule, SlaStatus } from '../models.ts'
import { clampToCalendar } from './moments.ts'

/** The SLA of a table. */
export interface Threshold {
  /** Null while unknown. */
  slaSeconds: number | null
  /** When the next update is expected; null while unknown. */
  expectedNext: Date | null
}

/** The verdict on a table. */
export interface FreshnessVerdict extends Threshold {
  status: FreshnessStatus
  /** Null while the status is unknown. */
  slaStatus: SlaStatus | null
  /** Null without data; 0 if the newest timestamp is in the future. */
  ageSeconds: number | null
}

/**
 * Judges how fresh a table is: `warning` from 80 % of the threshold, `violated` and stale from 100 %. Unknown without
 * data or a threshold.
 * @param lastUpdated the newest timestamp of the table, or the engine's modification time
 */
export function judgeAge(lastUpdated: Date | null, now: Date, threshold: Threshold): FreshnessVerdict {
  const { slaSeconds } = threshold
  const ageSeconds = lastUpdated && Math.max(0, (now.getTime() - lastUpdated.getTime()) / 1000)
  if (ageSeconds === null || slaSeconds === null) {
    return { status: 'unknown', slaStatus: null, ageSeconds, ...threshold }
  }
  const slaStatus = slaStatusOf(ageSeconds, slaSeconds)
  return { status: slaStatus === 'violated' ? 'stale' : 'fresh', slaStatus, ageSeconds, ...threshold }
}

function slaStatusOf(ageSeconds: number, slaSeconds: number): SlaStatus {
  if (ageSeconds >= slaSeconds) return 'violated'
  // In integers, because 0.8 × threshold is not exact.
  return ageSeconds * 10 >= slaSeconds * 8 ? 'warning' : 'within_sla'
}

/** Share of the time between the expected update and the end of a learned threshold that passes before a warning. */
const WARNING_SHARE = 0.8

/**
 * Whether the next update is late enough for a warning under a learned threshold: most of the time between its expected
 * time and the end of the threshold has passed. The rule of 80 % does not work here, because a learned threshold is only
 * a little longer than the usual gap, so 80 % of it pass before nearly every update.
 */
export function isLate({ slaStatus, expectedNext, slaSeconds, ageSeconds }: FreshnessVerdict, now: Date) {
  if (slaStatus !== 'warning' || !expectedNext || slaSeconds === null || ageSeconds === null) return false
  const sinceExpected = (now.getTime() - expectedNext.getTime()) / 1000
  const untilEnd = slaSeconds - ageSeconds
  return sinceExpected > 0 && sinceExpected >= WARNING_SHARE * (sinceExpected + untilEnd)
}

/** The severity that the open alert of a schedule should have: none within the SLA, unchanged while unknown. */
export function alertSeverityOf(
  judgement: FreshnessVerdict | null,
  {
    isActive,
    monitoringMode,
    alertSeverity,
  }: Pick<Schedule, 'isActive' | 'monitoringMode' | 'alertSeverity'>,
  now: Date,
): 'warning' | 'critical' | null {
  // A refresh of a paused schedule returns a result and raises no alert.
  if (!isActive) return null
  if (!judgement?.slaStatus) return alertSeverity
  if (judgement.slaStatus === 'within_sla') return null
  if (judgement.slaStatus === 'violated') return 'critical'
  const warning = monitoringMode === 'explicit' || isLate(judgement, now) ? 'warning' : null
  // A violated table stays violated until it is within the SLA.
  return alertSeverity ?? warning
}

/** The threshold of an explicit schedule: the next update is expected at its end. */
export function explicitThreshold(slaSeconds: number, lastUpdated: Date | null): Threshold {
  const expectedNext = lastUpdated && clampToCalendar(new Date(lastUpdated.getTime() + slaSeconds * 1000))
  return { slaSeconds, expectedNext }
}

/** The threshold of a schedule: its own, or the one learned last. */
export function knownThreshold(
  schedule: Pick<Schedule, 'monitoringMode' | 'slaThreshold' | 'learnedSlaSeconds' | 'expectedNext'>,
  lastUpdated: Date | null,
): Threshold {
  if (schedule.monitoringMode === 'auto_learn')
    return { slaSeconds: schedule.learnedSlaSeconds, expectedNext: schedule.expectedNext }
  return explicitThreshold(parseDuration(schedule.slaThreshold ?? '') ?? 0, lastUpdated)
}

/** The largest whole minute that an integer column can hold. */
const MAX_SLA_SECONDS = 2_147_483_640

/**
 * Learns the threshold from update times, oldest first: from the last update until the absence of the next one is
 * unusual, rounded up to minutes. Unknown with fewer than 7 updates.
 * @param lagSeconds how long after its time an update is found, for columns whose values are not times of loading
 */
export function learnThreshold(updates: readonly Date[], lagSeconds = 0): Threshold {
  const times = updates.map(at => at.getTime() / 1000)
  const cadence = learnCadence(times)
  if (!cadence) return { slaSeconds: null, expectedNext: null }
  const last = times[times.length - 1]!
  return {
    slaSeconds: Math.min(MAX_SLA_SECONDS, Math.ceil((cadence.deadline - last + lagSeconds) / 60) * 60),
    expectedNext: new Date((cadence.expectedNext + lagSeconds) * 1000),
  }
}

/** The threshold as shown in replies: the schedule's own, or the learned one; null while there is none. */
export function shownThreshold(schedule: {
  monitoringMode: 'explicit' | 'auto_learn'
  slaThreshold: string | null
  learnedSlaSeconds: number | null
}): string | null {
  if (schedule.monitoringMode === 'explicit') return schedule.slaThreshold
  return schedule.learnedSlaSeconds === null ? null : formatDuration(schedule.learnedSlaSeconds)
}
