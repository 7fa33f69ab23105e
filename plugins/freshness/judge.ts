import { learnCadence } from '../../checks/cadence.ts'
import { formatDuration, parseDuration } from '../../server/settings/durations.ts'
import type { Schedule } from './models.ts'
import { withinCalendar } from './moments.ts'

export type Status = 'fresh' | 'stale' | 'unknown'
export type SlaStatus = 'within_sla' | 'warning' | 'violated'

/** What a table is held to. */
export interface Threshold {
  /** Null while none is known. */
  slaSeconds: number | null
  /** When the next update usually comes; null while that is not known. */
  expectedNext: Date | null
}

/** What a look at a table says about it. */
export interface Judgement extends Threshold {
  status: Status
  /** Null while the status is unknown. */
  slaStatus: SlaStatus | null
  /** Null without any data; 0 for a newest timestamp in the future. */
  ageSeconds: number | null
}

/**
 * Judges how fresh a table is: `warning` from 80 % of the threshold, `violated` and stale from 100 %. Without
 * data or a threshold it is unknown.
 * @param lastUpdated the newest timestamp of the table, or when its engine saw it change last
 */
export function judge(lastUpdated: Date | null, now: Date, threshold: Threshold): Judgement {
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
  // Whole numbers: 0.8 times a threshold may lie a little beside 80 % of it.
  return ageSeconds * 10 >= slaSeconds * 8 ? 'warning' : 'within_sla'
}

/** The share of a learned threshold's own doubt that may pass before somebody is warned. */
const WARNED_SHARE = 0.8

/**
 * Whether the next update is so late that a warning is due, by what was learned: when most of the time has passed that
 * lies between the update's usual time and the end of the threshold. 80 % of a learned threshold pass before nearly
 * every update, since it lies but little beyond the usual gap.
 */
export function isLate({ slaStatus, expectedNext, slaSeconds, ageSeconds }: Judgement, now: Date): boolean {
  if (slaStatus !== 'warning' || !expectedNext || slaSeconds === null || ageSeconds === null) return false
  const sinceExpected = (now.getTime() - expectedNext.getTime()) / 1000
  const untilEnd = slaSeconds - ageSeconds
  return sinceExpected > 0 && sinceExpected >= WARNED_SHARE * (sinceExpected + untilEnd)
}

/** What the open alert of a schedule is to be: none for a table in time, as it was while nothing is known. */
export function alertOf(
  judgement: Judgement | null,
  {
    isActive,
    monitoringMode,
    alertSeverity,
  }: Pick<Schedule, 'isActive' | 'monitoringMode' | 'alertSeverity'>,
  now: Date,
): 'warning' | 'critical' | null {
  // Whoever asks about a paused schedule is answered, and nobody is told.
  if (!isActive) return null
  if (!judgement?.slaStatus) return alertSeverity
  if (judgement.slaStatus === 'within_sla') return null
  if (judgement.slaStatus === 'violated') return 'critical'
  const warning = monitoringMode === 'explicit' || isLate(judgement, now) ? 'warning' : null
  // And a table that was violated is not well again before it is in time.
  return alertSeverity ?? warning
}

/** The threshold that a schedule names: the next update is due when it has passed. */
export function namedThreshold(slaSeconds: number, lastUpdated: Date | null): Threshold {
  const expectedNext = lastUpdated && withinCalendar(new Date(lastUpdated.getTime() + slaSeconds * 1000))
  return { slaSeconds, expectedNext }
}

/** The threshold of a schedule by what is known of it: its own, or the one that was learned last. */
export function knownThreshold(
  schedule: Pick<Schedule, 'monitoringMode' | 'slaThreshold' | 'learnedSlaSeconds' | 'expectedNext'>,
  lastUpdated: Date | null,
): Threshold {
  if (schedule.monitoringMode === 'auto_learn')
    return { slaSeconds: schedule.learnedSlaSeconds, expectedNext: schedule.expectedNext }
  return namedThreshold(parseDuration(schedule.slaThreshold ?? '') ?? 0, lastUpdated)
}

/** What a column of integers holds, in whole minutes of seconds. */
const LONGEST_SECONDS = 2_147_483_640

/**
 * The threshold learned from the times of updates, oldest first: from the last one until its successor's
 * absence is unusual, in whole minutes. None of fewer than 7 updates.
 */
export function learnThreshold(updates: readonly Date[]): Threshold {
  const times = updates.map(at => at.getTime() / 1000)
  const cadence = learnCadence(times)
  if (!cadence) return { slaSeconds: null, expectedNext: null }
  const last = times[times.length - 1]!
  return {
    slaSeconds: Math.min(LONGEST_SECONDS, Math.ceil((cadence.deadline - last) / 60) * 60),
    expectedNext: new Date(cadence.expectedNext * 1000),
  }
}

/** The threshold that a schedule shows: its own, or the one learned; null while there is none. */
export function shownThreshold(schedule: {
  monitoringMode: 'explicit' | 'auto_learn'
  slaThreshold: string | null
  learnedSlaSeconds: number | null
}): string | null {
  if (schedule.monitoringMode === 'explicit') return schedule.slaThreshold
  return schedule.learnedSlaSeconds === null ? null : formatDuration(schedule.learnedSlaSeconds)
}
