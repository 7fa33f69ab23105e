import type { Server } from '@hapi/hapi'
import type { Outcome } from '../../checks/check.ts'
import { advance, STATE_VERSION, type DetectorState } from '../../checks/detector.ts'
import { tablePath } from '../../connectors/catalog.ts'
import { insertAll, rows, type Transaction } from '../../server/database.ts'
import { isSameSlot } from '../../server/due.ts'
import {
  failedCapture,
  groupsOf,
  judgeValue,
  overall,
  severityOf,
  startState,
  type Captured,
} from './capture.ts'
import { Metric, MetricState, Snapshot } from './models.ts'

type Loaded = NonNullable<Awaited<ReturnType<Server['plugins']['catalog']['load']>>>

/** Snapshots of a group that a baseline is rebuilt from. */
const HISTORY = 400

/** A batch of metrics for the scan, and what becomes of their outcomes. */
export function batchOf(server: Server, loaded: Loaded, metrics: readonly Metric[], claimed: boolean) {
  const isKnown = (metric: Metric) => server.checks.has(metric.metricType)
  // A check type whose extension was taken away; its checks cannot be measured, and the others can.
  const unknown = metrics
    .filter(metric => !isKnown(metric))
    .map((metric): Outcome => ({
      id: `m_${metric.id}`,
      status: 'error',
      kind: 'unsupported',
      message: `No extension provides the check type ${metric.metricType}: add it to EXTENSIONS`,
      durationMs: 0,
    }))
  return {
    checks: metrics.filter(isKnown).map(metric => ({
      id: `m_${metric.id}`,
      type: server.checks.get(metric.metricType),
      config: metric.config,
      ...(metric.columnName !== null && { column: metric.columnName }),
      ...(metric.groupByColumns.length > 0 && { groupBy: metric.groupByColumns }),
    })),
    record: (trx: Transaction, outcomes: readonly Outcome[], at: Date) =>
      record(server, trx, { loaded, metrics, outcomes: [...outcomes, ...unknown], at, claimed }),
  }
}

interface Recording {
  loaded: Loaded
  metrics: readonly Metric[]
  outcomes: readonly Outcome[]
  at: Date
  /** Whether the sweep's slots are being recorded; a capture by hand belongs to no slot. */
  claimed: boolean
}

interface Taken {
  metric: Metric
  captured: Captured[]
  states: { groupValues: Record<string, unknown>; state: DetectorState }[]
}

/**
 * Judges captures and stores snapshots, what was learned, and alerts. The metrics are locked first, so that
 * two captures of one metric learn one after the other.
 */
async function record(server: Server, trx: Transaction, recording: Recording): Promise<Snapshot[]> {
  const { loaded, metrics, outcomes, at, claimed } = recording
  if (metrics.length === 0) return []
  const ids = metrics.map(({ internalId }) => internalId)
  const current = await Metric.query(trx).whereIn('internalId', ids).orderBy('internalId').forUpdate()
  const byCheck = new Map(current.map(metric => [`m_${metric.id}`, metric]))
  const loadedById = new Map(metrics.map(metric => [metric.internalId, metric]))
  const known = await knownStates(trx, ids)
  const taken: Taken[] = []
  for (const outcome of outcomes) {
    const metric = byCheck.get(outcome.id)
    if (!metric || (claimed && !isSameSlot(metric, loadedById.get(metric.internalId)))) continue
    taken.push(await take(trx, metric, outcome, at, known))
  }
  if (taken.length === 0) return []
  const stored = await insertAll(
    taken.flatMap(({ metric, captured }) =>
      captured.map(value => ({
        metricId: metric.internalId,
        ...value,
        scheduledFor: claimed ? metric.runningSlot : null,
        capturedAt: at,
      })),
    ),
    chunk => Snapshot.query(trx).insert(chunk),
  )
  await learn(trx, taken, claimed)
  for (const { metric, captured } of taken) await alert(server, trx, loaded, metric, captured)
  return stored
}

async function take(
  trx: Transaction,
  metric: Metric,
  outcome: Outcome,
  at: Date,
  known: ReadonlyMap<string, DetectorState>,
): Promise<Taken> {
  const groups = groupsOf(outcome)
  if (outcome.status !== 'measured' && outcome.status !== 'grouped') {
    return { metric, captured: [failedCapture(outcome)], states: [] }
  }
  const captured: Captured[] = []
  const states: Taken['states'] = []
  for (const group of groups) {
    const before =
      known.get(stateKey(metric.internalId, group.group)) ?? (await rebuild(trx, metric, group.group))
    const judged = judgeValue(metric, group, at, before)
    captured.push(judged.captured)
    states.push({ groupValues: group.group, state: judged.state })
  }
  return { metric, captured, states }
}

async function knownStates(
  trx: Transaction,
  metricIds: readonly string[],
): Promise<Map<string, DetectorState>> {
  const states = await MetricState.query(trx).whereIn('metricId', [...metricIds])
  return new Map(
    states.flatMap(({ metricId, groupValues, state }) =>
      state.version === STATE_VERSION ? [[stateKey(metricId, groupValues), state] as const] : [],
    ),
  )
}

/** Equal for equal groups: PostgreSQL keeps the keys of a jsonb in its own order. */
function stateKey(metricId: string, group: Record<string, unknown>): string {
  return JSON.stringify([metricId, Object.entries(group).sort(([a], [b]) => (a < b ? -1 : 1))])
}

async function rebuild(
  trx: Transaction,
  metric: Metric,
  group: Record<string, unknown>,
): Promise<DetectorState> {
  const history = await Snapshot.query(trx)
    .where('metricId', metric.internalId)
    .whereRaw('group_values = cast(? as jsonb)', [JSON.stringify(group)])
    .whereNotNull('value')
    .orderBy([
      { column: 'capturedAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(HISTORY)
  return history.toReversed().reduce(
    (state, { capturedAt, value, totalRows }) =>
      advance(state, {
        at: capturedAt.getTime() / 1_000,
        value: value ?? 0,
        total: totalRows === null ? null : Number(totalRows),
      }),
    startState(metric),
  )
}

async function learn(trx: Transaction, taken: readonly Taken[], claimed: boolean): Promise<void> {
  const states = taken.flatMap(({ metric, states: learned }) =>
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
     from jsonb_to_recordset(cast(? as jsonb)) as l(metric_id bigint, group_values jsonb, state jsonb)
     join metrics m on m.internal_id = l.metric_id
     on conflict (metric_id, group_values) do update set state = excluded.state`,
    [JSON.stringify(states)],
  )
  const statuses = taken.map(({ metric, captured }) => ({
    id: metric.internalId,
    status: overall(metric, captured),
  }))
  await rows(
    trx,
    `update metrics m set last_status = l.status, running_slot = case when :claimed then null else m.running_slot end
     from jsonb_to_recordset(cast(:statuses as jsonb)) as l(id bigint, status text) where m.internal_id = l.id`,
    { claimed, statuses: JSON.stringify(statuses) },
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
