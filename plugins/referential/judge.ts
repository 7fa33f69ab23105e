import type { CheckOutcome } from '../../checks/check.ts'
import type { Judgement } from '../checks/api.ts'
import { failedJudgement, NO_BAND } from '../checks/kit.ts'
import type { OrphanDetails, OrphanNumbers, ReferentialCheck } from './models.ts'

/** The limits of a check, null where there is none; beyond them it fails. */
export type ReferentialLimits = Pick<
  ReferentialCheck,
  | 'maxOrphanCount'
  /** The share of the children that are not NULL. */
  | 'maxOrphanPercent'
  /** Children of one parent. */
  | 'minChildCount'
  | 'maxChildCount'
>

/** The limits that hold: without any given, no orphan is allowed. */
export function limitsOf({
  maxOrphanCount,
  maxOrphanPercent,
  minChildCount,
  maxChildCount,
}: ReferentialLimits): ReferentialLimits {
  const limits = { maxOrphanCount, maxOrphanPercent, minChildCount, maxChildCount }
  return Object.values(limits).some(limit => limit !== null) ? limits : { ...limits, maxOrphanCount: 0 }
}

/** What of a check's numbers is beyond its limits: too many orphans, parents with too few or too many children. */
export function findBreaches(
  check: ReferentialLimits,
  numbers: OrphanNumbers,
): ('orphans' | 'below' | 'above')[] {
  const { maxOrphanCount, maxOrphanPercent } = limitsOf(check)
  const isAbove = (value: number | null, limit: number | null) => limit !== null && Number(value) > limit
  const tooMany =
    isAbove(numbers.orphanCount, maxOrphanCount) || isAbove(numbers.orphanPercent, maxOrphanPercent)
  return [
    ...(tooMany ? (['orphans'] as const) : []),
    ...(isAbove(numbers.parentsBelowMin, 0) ? (['below'] as const) : []),
    ...(isAbove(numbers.parentsAboveMax, 0) ? (['above'] as const) : []),
  ]
}

/**
 * Judges a check's outcome: it fails with more orphans, or a greater share of them, than allowed, or with any parent
 * that has too few or too many children. A failed measure is an error, never a pass.
 */
export function judgeOutcome(check: ReferentialLimits, outcome: CheckOutcome): Judgement {
  if (outcome.status !== 'counted') return failedJudgement(outcome, 'The check gave no count', null)
  const { total, measured } = outcome
  const present = measured.present ?? 0
  const orphanCount = measured.orphans ?? 0
  const details: OrphanDetails = {
    orphanPercent: present === 0 ? 0 : (100 * orphanCount) / present,
    parentsBelowMin: measured.below ?? null,
    parentsAboveMax: measured.above ?? null,
  }
  const breaches = findBreaches(check, { orphanCount, totalChildRows: total, ...details })
  const status = breaches.length > 0 ? 'fail' : 'pass'
  const judged = { status, value: orphanCount, totalRows: total, errorMessage: null } as const
  return {
    judged: { ...judged, ...NO_BAND, details: { ...details } },
    state: null,
    detection: null,
    bands: [],
  }
}
