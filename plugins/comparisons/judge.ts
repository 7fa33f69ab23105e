import type { CheckOutcome } from '../../checks/check.ts'
import type { AggregateDifferences, RowDifferences } from '../../checks/comparison.ts'
import type { Judgement } from '../checks/api.ts'
import { failedJudgement, NO_BAND } from '../checks/kit.ts'
import type { Comparison, ComparisonDetails } from './models.ts'

/** What judging goes by, of a comparison that need not exist. */
export type ComparisonLimits = Pick<Comparison, 'level' | 'maxDifferingRows' | 'maxDifferingPercent'>

/** Aggregates that a result keeps. */
const MAX_KEPT_AGGREGATES = 100

/** The limits that hold: without any given, nothing may differ. */
export function limitsOf({ maxDifferingRows, maxDifferingPercent }: ComparisonLimits) {
  const hasNone = maxDifferingRows === null && maxDifferingPercent === null
  return { maxDifferingRows: hasNone ? 0 : maxDifferingRows, maxDifferingPercent }
}

/**
 * Judges what a comparison found: it fails with more rows that differ, or a greater share of them, than allowed; by aggregates,
 * with any that differs. A failed measure is an error, never a pass.
 */
export function judgeOutcome(comparison: ComparisonLimits, outcome: CheckOutcome): Judgement {
  if (outcome.status !== 'compared') return failedJudgement(outcome, 'The comparison gave no numbers', null)
  const { found } = outcome
  const { value, details } = found.by === 'rows' ? ofRows(found) : ofAggregates(comparison, found)
  const { maxDifferingRows, maxDifferingPercent } = limitsOf(comparison)
  const isAbove = (number: number, limit: number | null) => limit !== null && number > limit
  const isFailed = isAbove(value, maxDifferingRows) || isAbove(details.differingPercent, maxDifferingPercent)
  const judged = {
    status: isFailed ? ('fail' as const) : ('pass' as const),
    value,
    totalRows: Math.max(details.rowsLeft, details.rowsRight),
    errorMessage: null,
    details: { ...details },
    ...NO_BAND,
  }
  return { judged, state: null, detection: null, bands: [] }
}

interface Numbers {
  value: number
  details: ComparisonDetails
}

function ofRows(found: RowDifferences): Numbers {
  const { rowsLeft, rowsRight, onlyLeft, onlyRight, differing, byColumn, segments, rowsFetched } = found
  const value = onlyLeft + onlyRight + differing
  const details: ComparisonDetails = {
    rowsLeft,
    rowsRight,
    onlyLeft,
    onlyRight,
    differing,
    // The rows of both sides, each that both have once.
    differingPercent: percentOf(value, rowsLeft + onlyRight),
    byColumn: Object.fromEntries(Object.entries(byColumn).filter(([, count]) => count > 0)),
    aggregates: [],
    segments,
    rowsFetched,
  }
  return { value, details }
}

function ofAggregates({ level }: ComparisonLimits, found: AggregateDifferences): Numbers {
  const { rowsLeft, rowsRight, compared, differing } = found
  const aggregates = differing.slice(0, MAX_KEPT_AGGREGATES)
  const isCounts = level === 'counts'
  const value = isCounts
    ? differing.reduce((sum, { left, right }) => sum + Math.abs(Number(left) - Number(right)), 0)
    : differing.length
  const details: ComparisonDetails = {
    rowsLeft,
    rowsRight,
    onlyLeft: null,
    onlyRight: null,
    differing: null,
    differingPercent: percentOf(value, isCounts ? Math.max(rowsLeft, rowsRight) : compared),
    byColumn: {},
    aggregates,
    segments: 0,
    rowsFetched: 0,
  }
  return { value, details }
}

function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(100, (100 * part) / whole)
}
