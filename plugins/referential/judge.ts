import type { CheckOutcome } from '../../checks/check.ts'
import type { ReferentialCheck, ReferentialResult } from './models.ts'

/** What is judged of a check's outcome; the fields are those of a stored result. */
export type JudgedOrphans = Pick<
  ReferentialResult,
  | 'status'
  | 'orphanCount'
  | 'orphanPercent'
  | 'totalChildRows'
  | 'parentsBelowMin'
  | 'parentsAboveMax'
  | 'errorMessage'
>

/** The limits of a check, null where there is none; beyond them it fails. */
export interface ReferentialLimits {
  maxOrphanCount: number | null
  /** The share of the children that are not NULL. */
  maxOrphanPercent: number | null
  /** Children of one parent. */
  minChildCount: number | null
  maxChildCount: number | null
}

type StoredLimits = Pick<ReferentialCheck, keyof ReferentialLimits>

/** The limits that hold: without any given, no orphan is allowed. */
export function limitsOf(check: StoredLimits): ReferentialLimits {
  const number = (value: string | number | null) => (value === null ? null : Number(value))
  const limits = {
    maxOrphanCount: number(check.maxOrphanCount),
    maxOrphanPercent: number(check.maxOrphanPercent),
    minChildCount: number(check.minChildCount),
    maxChildCount: number(check.maxChildCount),
  }
  return Object.values(limits).some(limit => limit !== null) ? limits : { ...limits, maxOrphanCount: 0 }
}

/** What of a check's numbers is beyond its limits: too many orphans, parents with too few or too many children. */
export function findBreaches(
  check: StoredLimits,
  judged: Omit<JudgedOrphans, 'status'>,
): ('orphans' | 'below' | 'above')[] {
  const { maxOrphanCount, maxOrphanPercent } = limitsOf(check)
  const isAbove = (value: string | number | null, limit: number | null) =>
    limit !== null && Number(value) > limit
  const tooMany =
    isAbove(judged.orphanCount, maxOrphanCount) || isAbove(judged.orphanPercent, maxOrphanPercent)
  return [
    ...(tooMany ? (['orphans'] as const) : []),
    ...(isAbove(judged.parentsBelowMin, 0) ? (['below'] as const) : []),
    ...(isAbove(judged.parentsAboveMax, 0) ? (['above'] as const) : []),
  ]
}

/**
 * Judges a check's outcome: it fails with more orphans, or a greater share of them, than allowed, or with any parent
 * that has too few or too many children. A failed measure is an error, never a pass.
 */
export function judgeOutcome(check: StoredLimits, outcome: CheckOutcome): JudgedOrphans {
  if (outcome.status !== 'counted') {
    return {
      status: 'error',
      orphanCount: null,
      orphanPercent: null,
      totalChildRows: null,
      parentsBelowMin: null,
      parentsAboveMax: null,
      errorMessage: outcome.status === 'error' ? outcome.message : 'The check gave no count',
    }
  }
  const { total, measured } = outcome
  const present = measured.present ?? 0
  const orphanCount = measured.orphans ?? 0
  const numbers = {
    orphanCount,
    orphanPercent: present === 0 ? 0 : (100 * orphanCount) / present,
    totalChildRows: total,
    parentsBelowMin: measured.below ?? null,
    parentsAboveMax: measured.above ?? null,
    errorMessage: null,
  }
  return { status: findBreaches(check, numbers).length > 0 ? 'fail' : 'pass', ...numbers }
}
