/** What kinds of checks are made with: the one part of this feature that others, extensions among them, import to run. */
export {
  describeFilter,
  describeWindow,
  filterDetails,
  pathOfTable,
  shortenSql,
  subjectOfCheck,
} from './alerts.ts'
export { costReply, presentCost } from './costs/present-cost.ts'
export { refusalMessage } from './create/configure.ts'
export { namingField } from './create/name-field.ts'
export type { CheckDeps } from './deps.ts'
export { resultsOf } from './check-routes.ts'
export { failingRunOf } from './failing-runs.ts'
export { failedJudgement, NO_BAND, publicIdOf, worstStatus, type StoredKind } from './kind.ts'
export { withGaps } from './past/gaps.ts'
export { lockCheck, lockChecks, lockChecksOfSchedule } from './locks.ts'
export {
  capOfKind,
  CheckResult,
  CheckRow,
  withoutValues,
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
export { tableRefusal } from './run/measure.ts'
export { totalsReply } from './list/resource-defaults.ts'
export { causesWithoutSecondTable, loadSecondTables } from './second-tables.ts'
export { findTheSame } from './reconcile/same-check.ts'
export { storeFindings, storePastFindings, type PastFinding, type SourceFinding } from './run/findings.ts'
export { seriesOutcomes } from './run/record.ts'
export { SOURCE_JOB_SECONDS, SOURCE_JOBS_PER_COMPANY } from './source-jobs.ts'
export {
  checksWithNames,
  insertChecks,
  removeCheck,
  restartBaseline,
  setOwners,
  storeOneEach,
  storePast,
} from './store.ts'
export { assertWindow, requestedWindow, windowColumnsOf, withWindow } from './windows/requested-window.ts'
export { completeWindow, recentWindow, seriesInterval, windowPlace, zoneOf } from './windows/windows.ts'
