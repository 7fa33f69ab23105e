/** What kinds of checks are made with: the one part of this feature that others, extensions among them, import to run. */
export { pathOfTable } from './alerts.ts'
export type { CheckDeps } from './deps.ts'
export { resultsOf } from './check-routes.ts'
export { failedJudgement, NO_BAND, publicIdOf, worstStatus } from './kind.ts'
export { lockChecksOfSchedule } from './locks.ts'
export {
  capOfKind,
  CheckResult,
  CheckRow,
  type CheckStatus,
  type SeriesValues,
  type TableNames,
} from './models.ts'
export {
  activeAt,
  inChunks,
  loadPoints,
  MAX_BASELINE_RESULTS,
  secondsOf,
  type SeriesOf,
} from './past/points.ts'
export {
  ALERTED_RUN,
  clearAlerted,
  endRuns,
  findReturned,
  forgetSeries,
  markAlerted,
  type AlertedSeries,
  type MissingSeries,
} from './past/runs.ts'
export { loadStates, relearn } from './past/states.ts'
export { seriesOutcomes } from './run/record.ts'
export { checksWithNames, insertChecks, storePast } from './store.ts'
