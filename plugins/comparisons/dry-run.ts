import { formatFinding } from '../../checks/explanation.ts'
import type { CheckOutcome } from '../../checks/check.ts'
import { completeWindow, windowColumnsOf } from '../checks/kit.ts'
import { configureComparison, settingsOf, type ComparedPair } from './create.ts'
import type { ComparisonDeps } from './deps.ts'
import type { NewComparison } from './fields.ts'
import { judgeOutcome } from './judge.ts'
import { MAX_SAMPLES, measureComparison } from './measure.ts'
import { detailsOf } from './models.ts'
import { presentNumbers, presentSamples } from './present.ts'
import { describeComparison, sideNames } from './texts.ts'

/** The body of a dry run, validated. */
export type ComparisonDryRun = NewComparison & { asset_id: string }

/** Compares what a comparison of this body would, judges it as that one would, and stores nothing. */
export async function dryRunComparison(deps: ComparisonDeps, companyId: string, body: ComparisonDryRun) {
  const configured = await configureComparison(deps, companyId, body.asset_id, body)
  const { left, right, pairs } = configured
  for (const { source } of [left, right]) if (!source.isActive) throw deps.catalog.sourceInactive(source)
  const comparison = settingsOf(body)
  const window = completeWindow(deps.catalog, left, windowColumnsOf(body), deps.timezone)
  const { outcome } = await measureComparison(
    deps,
    comparison,
    { left, right },
    { purpose: 'dry_run', isScheduled: false, sampleLimit: MAX_SAMPLES, ...(window && { window }) },
  )
  const whole = { id: '', ...outcome } as CheckOutcome
  const newest = whole.status === 'windowed' ? whole.buckets.at(-1)!.outcome : whole
  const { judged } = judgeOutcome(comparison, newest)
  return {
    sql: [],
    status: judged.status,
    message: describeTried(comparison, configured, judged),
    ...presentNumbers(judged),
    samples: presentSamples(comparison, newest),
    warnings: pairs.warnings,
    error_message: judged.errorMessage,
  }
}

/** What its alert would say; null where it could not run. */
function describeTried(
  comparison: Parameters<typeof describeComparison>[0],
  { left, right }: ComparedPair,
  judged: Parameters<typeof detailsOf>[0] & { value: number | null },
): string | null {
  const details = detailsOf(judged)
  if (!details) return null
  const nameOf = ({ source, table }: ComparedPair['left']) => ({ source: source.name, table: table.name })
  const sides = sideNames(nameOf(left), nameOf(right))
  const finding = describeComparison(comparison, { value: judged.value ?? 0, details, sides })
  return `${left.table.name}: ${formatFinding(finding)}`
}
