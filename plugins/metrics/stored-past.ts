import { setImmediate } from 'node:timers/promises'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { domainOf, type GroupValue } from '../../checks/check.ts'
import type { ConfiguredCheck } from '../checks/api.ts'
import type { Judgement } from '../checks/api.ts'
import { inChunks, loadPoints, loadStates, MAX_BASELINE_RESULTS, type SeriesValues } from '../checks/kit.ts'
import type { MetricDeps } from './deps.ts'
import { judgeValue, startState } from './judge.ts'
import { Metric } from './models.ts'
import { replayPoints, type ReplayedPoint } from './replay.ts'
import { countCompared, type MetricSettings } from './thresholds.ts'

/** The snapshots of a metric that was made with the same definition. */
export interface StoredPast {
  metric: Metric
  replayed: ReplayedPoint[]
  /** Groups that were replayed, and all that have snapshots. */
  groups: { replayed: number; all: number }
}

/** Values that one request learns, those before the moment included: a second or two of computing. */
const MAX_LEARNED_VALUES = 20_000

/**
 * Replays the snapshots since a moment of a metric of this definition, with what it had learned before; null where
 * there is none. Of very many groups, those with the most rows.
 */
export async function replayStoredPast(
  { db }: Pick<MetricDeps, 'db'>,
  companyId: string,
  configured: ConfiguredCheck,
  { settings, since }: { settings: MetricSettings; since: Date },
): Promise<StoredPast | null> {
  const found = await db.company(companyId, async trx => {
    const metric = await findEqualMetric(trx, configured, settings.checkInterval, since)
    return metric && { metric, groups: await loadGroupsSince(trx, metric, since) }
  })
  if (!found) return null
  const { metric, groups } = found
  const domain = domainOf(configured.check.type)
  const replayed: ReplayedPoint[] = []
  // Charts show one series, not those of groups.
  const chosen = metric.groupByColumns.length > 0 ? undefined : settings.sensitivity
  const from = since.getTime() / 1_000
  let count = 0
  let learned = 0
  for (const chunk of inChunks(groups)) {
    if (learned >= MAX_LEARNED_VALUES) break
    const most = MAX_BASELINE_RESULTS + Math.max(...chunk.map(({ points }) => points))
    const series = chunk.map(group => ({ row: metric, series: group.series }))
    const pasts = await db.company(companyId, trx => loadPoints(trx, series, most))
    for (const past of pasts) {
      replayed.push(...replayPoints(startState(metric, domain), past, { from, chosen, settings }).replayed)
      learned += past.length
      // Others wait for this process.
      await setImmediate()
    }
    count += chunk.length
  }
  return { metric, replayed, groups: { replayed: count, all: groups.length } }
}

/** A value of one group, judged. */
export interface MeasuredGroup extends Pick<Judgement, 'judged' | 'bands'> {
  group: SeriesValues
}

/** Judges a value of one group. */
export function judgeGroup(
  settings: MetricSettings,
  { group, value, total }: GroupValue,
  moment: Parameters<typeof judgeValue>[2],
  state: Parameters<typeof judgeValue>[3],
): MeasuredGroup {
  const outcome = { id: '', durationMs: 0, status: 'measured' as const, value, total }
  return { group, ...judgeValue(settings, outcome, moment, state) }
}

/** Judges values of now as a metric would that has learned what this one has. */
export async function judgeByMetric(
  { db, kind }: Pick<MetricDeps, 'db' | 'kind'>,
  { companyId, metric, settings }: { companyId: string; metric: Metric; settings: MetricSettings },
  values: readonly GroupValue[],
  at: Date,
): Promise<MeasuredGroup[]> {
  const judged: MeasuredGroup[] = []
  for (const chunk of inChunks(values)) {
    const series = chunk.map(({ group }) => ({ row: metric, series: group }))
    const count = countCompared(settings)
    const { states, pasts } = await db.company(companyId, async trx => ({
      states: await loadStates(trx, kind, series),
      pasts: count === 0 ? [] : await loadPoints(trx, series, count),
    }))
    for (const [place, value] of chunk.entries()) {
      const moment = { at, hasBands: values.length === 1, past: pasts[place] ?? [] }
      judged.push(judgeGroup(settings, value, moment, states[place]!.state))
    }
  }
  return judged
}

/** The oldest metric of the same table, type, column, config, groups and interval with a value since a moment. */
async function findEqualMetric(
  trx: Transaction,
  { table, check, window }: ConfiguredCheck,
  interval: Metric['checkInterval'],
  since: Date,
): Promise<Metric | undefined> {
  const columns = [...(check.groupBy ?? [])]
  return Metric.query(trx)
    .where({
      tableId: table.id,
      type: check.type.name,
      columnName: check.column ?? null,
      filter: check.filter ?? null,
      timeColumn: window?.timeColumn ?? null,
      windowSize: window?.windowSize ?? null,
      checkInterval: interval,
    })
    .whereRaw('config = cast(? as jsonb)', [JSON.stringify(check.config)])
    .whereRaw(
      'group_by_columns @> cast(:columns as text[]) and group_by_columns <@ cast(:columns as text[])',
      { columns },
    )
    .whereRaw(
      `exists (select 1 from check_results r where r.company_id = checks.company_id
         and r.check_id = checks.id and r.value is not null and r.at >= ?)`,
      [since],
    )
    .orderBy('checks.id')
    .first()
}

async function loadGroupsSince(
  trx: Transaction,
  metric: Metric,
  since: Date,
): Promise<{ series: SeriesValues; points: number }[]> {
  return rows(
    trx,
    `select series, count(*)::int as points from check_results
     where company_id = :companyId and check_id = :checkId and value is not null and at >= :since
     group by series order by max(total_rows) desc nulls last, series`,
    { companyId: companyOf(trx), checkId: metric.id, since },
  )
}
