import { setImmediate } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { domainOf, type GroupValue } from '../../checks/check.ts'
import type { ConfiguredCheck } from '../scans/api.ts'
import { judgeValue, startState, type Group, type JudgedValue } from './capture.ts'
import { Metric } from './models.ts'
import { MAX_BASELINE_SNAPSHOTS, inChunks, loadPoints } from './points.ts'
import { replayPoints, type ReplayedPoint } from './replay.ts'
import { loadStates } from './states.ts'

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
  server: Server,
  companyId: string,
  configured: ConfiguredCheck,
  { interval, since, sensitivity }: { interval: Metric['checkInterval']; since: Date; sensitivity: number },
): Promise<StoredPast | null> {
  const found = await server.db.company(companyId, async trx => {
    const metric = await findEqualMetric(trx, configured, interval, since)
    return metric && { metric, groups: await loadGroupsSince(trx, metric, since) }
  })
  if (!found) return null
  const { metric, groups } = found
  const domain = domainOf(configured.check.type)
  const replayed: ReplayedPoint[] = []
  // Charts show one series, not those of groups.
  const chosen = metric.groupByColumns.length > 0 ? undefined : sensitivity
  const from = since.getTime() / 1_000
  let count = 0
  let learned = 0
  for (const chunk of inChunks(groups)) {
    if (learned >= MAX_LEARNED_VALUES) break
    const most = MAX_BASELINE_SNAPSHOTS + Math.max(...chunk.map(({ points }) => points))
    const series = chunk.map(({ groupValues: group }) => ({ metric, group }))
    const pasts = await server.db.company(companyId, trx => loadPoints(trx, series, most))
    for (const past of pasts) {
      replayed.push(...replayPoints(startState(metric, domain), past, { from, chosen }).replayed)
      learned += past.length
      // Others wait for this process.
      await setImmediate()
    }
    count += chunk.length
  }
  return { metric, replayed, groups: { replayed: count, all: groups.length } }
}

/** Judges values of now as a metric would that has learned what this one has. */
export async function judgeByMetric(
  server: Server,
  { companyId, metric, sensitivity }: { companyId: string; metric: Metric; sensitivity: number },
  values: readonly GroupValue[],
  at: Date,
): Promise<JudgedValue[]> {
  const judged: JudgedValue[] = []
  for (const chunk of inChunks(values)) {
    const series = chunk.map(({ group }) => ({ metric, group }))
    const known = await server.db.company(companyId, trx => loadStates(trx, server.checks, series))
    for (const [place, value] of chunk.entries())
      judged.push(
        judgeValue({ sensitivity }, value, at, known[place]!.state, { hasBands: values.length === 1 }),
      )
  }
  return judged
}

/** The oldest metric of the same table, type, column, config, groups and interval with a value since a moment. */
async function findEqualMetric(
  trx: Transaction,
  { table, check }: ConfiguredCheck,
  interval: Metric['checkInterval'],
  since: Date,
): Promise<Metric | undefined> {
  const columns = [...(check.groupBy ?? [])]
  return Metric.query(trx)
    .where({
      tableId: table.id,
      metricType: check.type.name,
      columnName: check.column ?? null,
      checkInterval: interval,
    })
    .whereRaw('config = cast(? as jsonb)', [JSON.stringify(check.config)])
    .whereRaw(
      'group_by_columns @> cast(:columns as text[]) and group_by_columns <@ cast(:columns as text[])',
      { columns },
    )
    .whereRaw(
      `exists (select 1 from metric_snapshots s where s.company_id = metrics.company_id
         and s.metric_id = metrics.internal_id and s.value is not null and s.captured_at >= ?)`,
      [since],
    )
    .orderBy('internalId')
    .first()
}

async function loadGroupsSince(
  trx: Transaction,
  metric: Metric,
  since: Date,
): Promise<{ groupValues: Group; points: number }[]> {
  return rows(
    trx,
    `select group_values, count(*)::int as points from metric_snapshots
     where company_id = :companyId and metric_id = :metricId and value is not null and captured_at >= :since
     group by group_values order by max(total_rows) desc nulls last, group_values`,
    { companyId: companyOf(trx), metricId: metric.internalId, since },
  )
}
