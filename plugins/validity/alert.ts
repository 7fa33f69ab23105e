import type { Server } from '@hapi/hapi'
import type { SeriesPoint } from '../../checks/detector.ts'
import { comparable, explanation } from '../../checks/explanation.ts'
import { tablePath } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { TableContext } from '../catalog/api.ts'
import { loadPoints, type RuleWithHours } from './baseline.ts'
import { SERIES, type Judgement } from './judge.ts'

/** A rule that was judged. */
type JudgedRule = RuleWithHours & Omit<Judgement, 'state'> & { finding: string | null }

/** Rules whose earlier results are held at once, some hundred of each. */
const CHUNK_RULES = 50

/**
 * Raises the alerts of rules that fail, and resolves those of rules that pass again. Earlier results are read only
 * where there is a learned band to explain.
 * @returns the alert of each rule that fails, by rule
 */
export async function updateAlerts(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  all: readonly JudgedRule[],
): Promise<Map<string, string>> {
  const { alerts } = server.plugins
  // After a pass, and before the first result, no alert is open.
  const recovered = all.filter(
    ({ rule, judged }) =>
      judged.status === 'pass' && rule.latestStatus !== 'pass' && rule.latestStatus !== null,
  )
  const causes = recovered.map(({ rule }) => causeOf(rule))
  await alerts.resolveAll(trx, 'validity_failure', causes)
  // An inactive rule never runs again, so its alert would never be resolved.
  const failing = all.filter(({ rule, judged }) => judged.status === 'fail' && rule.isActive)
  const raised = await alerts.raiseAll(trx, await eventsOf(server, trx, loaded, failing))
  return new Map(failing.map(({ rule }, place) => [rule.id, raised[place]!.alertId]))
}

async function eventsOf(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  failing: readonly JudgedRule[],
) {
  const events = []
  for (let from = 0; from < failing.length; from += CHUNK_RULES) {
    const some = failing.slice(from, from + CHUNK_RULES)
    const pasts = await loadPoints(
      trx,
      some.filter(({ detection }) => detection !== null),
    )
    events.push(...some.map(item => eventOf(server, loaded, item, pasts.get(item.rule.id) ?? [])))
  }
  return events
}

/** What alerts call a rule. */
export function causeOf({ uuid }: { uuid: string }): string {
  return `v_${uuid}`
}

function eventOf(
  server: Server,
  { source, table }: TableContext,
  item: JudgedRule,
  past: readonly SeriesPoint[],
) {
  const { rule, judged } = item
  const tags = server.plugins.catalog.tagsOf(source, table, [rule.columnName])
  const path = tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name })
  return {
    type: 'validity_failure' as const,
    cause: causeOf(rule),
    severity: rule.severity,
    sourceId: source.id,
    asset: { id: table.id, qualifiedName: table.qualifiedName, assetType: table.kind, tags },
    ruleName: rule.name,
    title: rule.errorMessage ?? `${rule.name} on ${path}: ${describeFailure(item)}`,
    details: {
      rule_id: causeOf(rule),
      rule_type: rule.ruleType,
      table_path: path,
      column_name: rule.columnName,
      invalid_count: judged.invalidCount,
      invalid_percent: judged.invalidPercent,
      total_rows: judged.totalRows,
      ...(item.finding !== null && { finding: item.finding }),
      ...limitDetails(item, past),
    },
  }
}

/** What was found, of a learned band with what is usual. */
function describeFailure({ rule, judged, detection, finding }: JudgedRule) {
  if (finding !== null) return finding
  if (detection) return explanation(SERIES, detection.point, detection.verdict, rule.checkInterval)
  return `${judged.invalidCount} of ${judged.totalRows} rows are invalid (${round(judged.invalidPercent ?? 0)} %)`
}

/** What the rate was to stay below: the threshold, or the learned band with what it was learned from. */
function limitDetails(item: JudgedRule, past: readonly SeriesPoint[]): object {
  const { rule, judged, detection } = item
  if (!detection) return { threshold: rule.alertThresholdPercent ?? 0 }
  const { point, verdict } = detection
  // Active results are compared with active ones only.
  const alike = past.filter(({ active }) => active === point.active)
  return {
    band: {
      expected: judged.expectedValue,
      low: judged.expectedRangeLow,
      high: judged.expectedRangeHigh,
    },
    explanation: describeFailure(item),
    history: comparable(alike, verdict.basis, point.at).map(({ at, value, total }) => ({
      checked_at: new Date(1_000 * at),
      value,
      total_rows: total,
    })),
  }
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
