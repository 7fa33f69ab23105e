import { setImmediate } from 'node:timers/promises'
import { domainOf, type CheckType } from '../../checks/check.ts'
import { learnPoint, STATE_VERSION, type DetectorState, type Domain } from '../../checks/detector.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { Registry } from '../../server/registry.ts'
import { startState } from './capture.ts'
import type { Metric, MetricState } from './models.ts'
import { seriesJson, loadPoints, type MetricSeries } from './points.ts'

/** What is known of a series before a capture. */
export interface SeriesState {
  state: DetectorState
  /** As in `MetricState`; 0 of a series without a state. */
  run: number
  lastSeenAt: Date | null
  /** No snapshot of it is stored that has a value. */
  isNew: boolean
}

/** What the values of a metric can be; any quantity where the extension of its type was removed. */
function domainOfMetric(checks: Registry<CheckType>, { metricType }: Pick<Metric, 'metricType'>): Domain {
  return domainOf(checks.has(metricType) ? checks.get(metricType) : undefined)
}

/**
 * What was learned of each series, in their order; rebuilt from its snapshots where it is not stored. One statement
 * for what is stored and, where it is needed, one for the snapshots.
 */
export async function loadStates(
  trx: Transaction,
  checks: Registry<CheckType>,
  series: readonly MetricSeries[],
): Promise<SeriesState[]> {
  const stored = await loadStoredStates(trx, series)
  const unknown = series.filter((_, place) => stored[place]?.state?.version !== STATE_VERSION)
  const pasts = new Map(zip(unknown, await loadPoints(trx, unknown)))
  const known: SeriesState[] = []
  for (const [item, row] of zip(series, stored)) {
    const past = pasts.get(item)
    const state = past
      ? past.reduce(learnPoint, startState(item.metric, domainOfMetric(checks, item.metric)))
      : row!.state
    known.push({
      state,
      run: row?.run ?? 0,
      lastSeenAt: row?.lastSeenAt ?? null,
      isNew: !row && !past?.length,
    })
    // Reading a past takes tens of milliseconds, and others wait for this process.
    if (past) await setImmediate()
  }
  return known
}

type StoredSeriesState = Pick<MetricState, 'state' | 'run' | 'lastSeenAt'>

async function loadStoredStates(trx: Transaction, series: readonly MetricSeries[]) {
  const found = await rows<StoredSeriesState & { place: number }>(
    trx,
    `select g.place, s.state, s.run, s.last_seen_at
     from jsonb_to_recordset(cast(:series as jsonb)) as g(place integer, metric_id bigint, group_values jsonb)
     join metric_states s on s.metric_id = g.metric_id and s.group_values = g.group_values
     where s.company_id = :companyId`,
    { series: seriesJson(series), companyId: companyOf(trx) },
  )
  const stored: (StoredSeriesState | undefined)[] = series.map(() => undefined)
  for (const row of found) stored[row.place] = row
  return stored
}

function zip<A, B>(left: readonly A[], right: readonly B[]): [A, B][] {
  return left.map((item, index) => [item, right[index]!])
}

/** Stores what was learned of series that a capture has just had, by one statement. */
export async function saveStates(
  trx: Transaction,
  learned: readonly (MetricSeries & { state: DetectorState })[],
  at: Date,
): Promise<void> {
  const states = learned.map(({ metric, group, state }) => ({
    metric_id: metric.internalId,
    group_values: group,
    state,
  }))
  await rows(
    trx,
    `insert into metric_states (company_id, metric_id, group_values, state, run, last_seen_at)
     select m.company_id, l.metric_id, l.group_values, l.state, 1, :at
     from jsonb_to_recordset(cast(:states as jsonb)) as l(metric_id bigint, group_values jsonb, state jsonb)
     join metrics m on m.company_id = :companyId and m.internal_id = l.metric_id
     on conflict (metric_id, group_values) do update
       set state = excluded.state, run = greatest(metric_states.run, 0) + 1, last_seen_at = excluded.last_seen_at`,
    { states: JSON.stringify(states), companyId: companyOf(trx), at },
  )
}

/** A state of no version that is read: it is rebuilt at the next capture, and the group stays known. */
const STALE_STATE = JSON.stringify({ version: 0 })

/** Makes what was learned of a metric be read from its snapshots again. */
export async function relearn(trx: Transaction, metric: Pick<Metric, 'internalId'>): Promise<void> {
  await rows(
    trx,
    `update metric_states set state = cast(:stale as jsonb) where company_id = :companyId and metric_id = :metricId`,
    { stale: STALE_STATE, companyId: companyOf(trx), metricId: metric.internalId },
  )
}

/** Marks the snapshots of an alert as confirmed, and makes what was learned of their groups be read again. */
export async function confirmSnapshots(
  trx: Transaction,
  metric: Pick<Metric, 'internalId'>,
  alertId: string,
): Promise<void> {
  await rows(
    trx,
    `with confirmed as (
       update metric_snapshots set is_confirmed = true
       where company_id = :companyId and metric_id = :metricId and alert_id = :alertId
       returning group_values
     )
     update metric_states s set state = cast(:stale as jsonb)
     where s.company_id = :companyId and s.metric_id = :metricId
       and s.group_values in (select group_values from confirmed)`,
    { stale: STALE_STATE, companyId: companyOf(trx), metricId: metric.internalId, alertId },
  )
}
