import type { Server } from '@hapi/hapi'
import { advance, STATE_VERSION, type DetectorState } from '../../checks/detector.ts'
import { tablePath } from '../../connectors/catalog.ts'
import { companyOf, insertAll, rows, type Transaction } from '../../server/database.ts'
import {
  failedCapture,
  groupsOf,
  judgeValue,
  overall,
  severityOf,
  startState,
  type Captured,
} from './capture.ts'
import { type Metric, MetricState, Snapshot } from './models.ts'

type Feature = Parameters<Server['plugins']['scans']['contribute']>[0]
type Loaded = Parameters<Feature['record']>[1]
/** A metric, locked, with what the scan says of it. */
type Taken = { row: Metric } & Pick<Parameters<Feature['record']>[2][number], 'outcome' | 'slot'>

/** Snapshots of a group that a baseline is rebuilt from. */
const HISTORY = 400

/** What was made of one metric. */
interface Capture {
  metric: Metric
  slot: Date | null
  captured: Captured[]
  states: { groupValues: Record<string, unknown>; state: DetectorState }[]
}

/**
 * Judges captures and stores snapshots, what was learned, and alerts.
 * @returns the snapshots of each metric, one a group
 */
export async function record(
  server: Server,
  trx: Transaction,
  loaded: Loaded,
  taken: readonly Taken[],
  at: Date,
): Promise<Snapshot[][]> {
  const known = await knownStates(trx, taken)
  const captures = taken.map(item => capture(item, at, known))
  const stored = await insertAll(
    captures.flatMap(({ metric, slot, captured }) =>
      captured.map(value => ({ metricId: metric.internalId, ...value, scheduledFor: slot, capturedAt: at })),
    ),
    chunk => Snapshot.query(trx).insert(chunk),
  )
  await learn(trx, captures)
  for (const { metric, captured } of captures) await alert(server, trx, loaded, metric, captured)
  const byMetric = Map.groupBy(stored, ({ metricId }) => metricId)
  return captures.map(({ metric }) => byMetric.get(metric.internalId) ?? [])
}

function capture(
  { row: metric, outcome, slot }: Taken,
  at: Date,
  known: ReadonlyMap<string, DetectorState>,
): Capture {
  if (outcome.status !== 'measured' && outcome.status !== 'grouped')
    return { metric, slot, captured: [failedCapture(outcome)], states: [] }
  const judged = groupsOf(outcome).map(group => {
    const before = known.get(stateKey(metric.internalId, group.group)) ?? startState(metric)
    return { group, ...judgeValue(metric, group, at, before) }
  })
  return {
    metric,
    slot,
    captured: judged.map(({ captured }) => captured),
    states: judged.map(({ group, state }) => ({ groupValues: group.group, state })),
  }
}

/** What was learned of the groups that were measured; rebuilt from their snapshots where it is not stored. */
async function knownStates(trx: Transaction, taken: readonly Taken[]): Promise<Map<string, DetectorState>> {
  const metrics = new Map(taken.map(({ row }) => [row.internalId, row]))
  const states = await MetricState.query(trx).whereIn('metricId', [...metrics.keys()])
  const known = new Map(
    states.flatMap(({ metricId, groupValues, state }) =>
      state.version === STATE_VERSION ? [[stateKey(metricId, groupValues), state] as const] : [],
    ),
  )
  const unknown = taken.flatMap(({ row, outcome }) =>
    groupsOf(outcome)
      .filter(({ group }) => !known.has(stateKey(row.internalId, group)))
      .map(({ group }) => ({ metric_id: row.internalId, group_values: group })),
  )
  if (unknown.length === 0) return known
  for (const past of await history(trx, unknown)) {
    const metric = metrics.get(past.metricId)
    if (!metric) continue
    const key = stateKey(past.metricId, past.groupValues)
    const point = {
      at: past.capturedAt.getTime() / 1_000,
      value: past.value,
      total: past.totalRows === null ? null : Number(past.totalRows),
    }
    known.set(key, advance(known.get(key) ?? startState(metric), point))
  }
  return known
}

type Past = Pick<Snapshot, 'metricId' | 'groupValues' | 'totalRows' | 'capturedAt'> & { value: number }

/** The last snapshots with a value of each group, oldest first. */
function history(trx: Transaction, groups: readonly object[]): Promise<Past[]> {
  return rows<Past>(
    trx,
    `select metric_id, group_values, value, total_rows, captured_at from (
       select s.*, row_number() over (
         partition by s.metric_id, s.group_values order by s.captured_at desc, s.id desc) as age
       from metric_snapshots s
       join jsonb_to_recordset(cast(:groups as jsonb)) as g(metric_id bigint, group_values jsonb)
         on g.metric_id = s.metric_id and g.group_values = s.group_values
       where s.company_id = :companyId and s.value is not null
     ) recent where age <= ${HISTORY} order by captured_at, id`,
    { groups: JSON.stringify(groups), companyId: companyOf(trx) },
  )
}

/** Equal for equal groups: PostgreSQL keeps the keys of a jsonb in its own order. */
function stateKey(metricId: string, group: Record<string, unknown>): string {
  return JSON.stringify([metricId, Object.entries(group).sort(([a], [b]) => (a < b ? -1 : 1))])
}

async function learn(trx: Transaction, captures: readonly Capture[]): Promise<void> {
  const states = captures.flatMap(({ metric, states: learned }) =>
    learned.map(({ groupValues, state }) => ({
      metric_id: metric.internalId,
      group_values: groupValues,
      state,
    })),
  )
  await rows(
    trx,
    `insert into metric_states (company_id, metric_id, group_values, state)
     select m.company_id, l.metric_id, l.group_values, l.state
     from jsonb_to_recordset(cast(:states as jsonb)) as l(metric_id bigint, group_values jsonb, state jsonb)
     join metrics m on m.company_id = :companyId and m.internal_id = l.metric_id
     on conflict (metric_id, group_values) do update set state = excluded.state`,
    { states: JSON.stringify(states), companyId: companyOf(trx) },
  )
  const statuses = captures.map(({ metric, captured }) => ({
    id: metric.internalId,
    status: overall(metric, captured),
  }))
  await rows(
    trx,
    `update metrics m set last_status = l.status
     from jsonb_to_recordset(cast(:statuses as jsonb)) as l(id bigint, status text)
     where m.company_id = :companyId and m.internal_id = l.id`,
    { statuses: JSON.stringify(statuses), companyId: companyOf(trx) },
  )
}

async function alert(
  server: Server,
  trx: Transaction,
  { source, table }: Loaded,
  metric: Metric,
  captured: readonly Captured[],
): Promise<void> {
  const { alerts } = server.plugins
  const cause = `m_${metric.id}`
  const anomalies = captured.filter(({ isAnomaly, isLearning }) => isAnomaly && !isLearning)
  const worst = anomalies.toSorted((a, b) => Math.abs(b.zScore) - Math.abs(a.zScore))[0]
  if (!worst) {
    const isQuiet = captured.every(({ status }) => status === 'PASS')
    if (isQuiet && metric.lastStatus !== 'PASS') await alerts.resolve(trx, 'metric_anomaly', cause)
    return
  }
  const path = tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name })
  const what = [metric.metricType, metric.columnName].filter(Boolean).join(' of ')
  await alerts.raise(trx, {
    type: 'metric_anomaly',
    cause,
    severity: severityOf(worst.zScore),
    sourceId: source.id,
    asset: { id: table.id, qualifiedName: table.qualifiedName, assetType: table.kind, tags: table.tags },
    ruleName: `${what} on ${table.name}`,
    title: `${what} on ${path} is ${short(worst.value)}; expected ${short(worst.expectedValue)} (${short(worst.expectedRangeLow)} to ${short(worst.expectedRangeHigh)})`,
    details: {
      metric_id: cause,
      metric_type: metric.metricType,
      table_path: path,
      column_name: metric.columnName,
      ...(metric.groupByColumns.length > 0 && {
        group_values: worst.groupValues,
        anomalous_groups: anomalies.length,
      }),
      value: worst.value,
      expected_value: worst.expectedValue,
      range: { low: worst.expectedRangeLow, high: worst.expectedRangeHigh },
      z_score: worst.zScore,
    },
  })
}

function short(value: number | null): string {
  return value === null ? 'unknown' : Number(value.toPrecision(6)).toLocaleString('en-US')
}
