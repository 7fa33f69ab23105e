import type { Server } from '@hapi/hapi'
import { companyOf, insertAll, rows, type Transaction } from '../../server/database/database.ts'
import type { TableContext } from '../catalog/api.ts'
import type { MeasuredRow } from '../scans/api.ts'
import { anomalyEvents, recoveredCauses } from './alert.ts'
import { failedCapture, groupValuesOf, judgeValue, overallStatus, type JudgedValue } from './capture.ts'
import { collectGroupEvents, type GroupSighting } from './groups.ts'
import { type Metric, Snapshot } from './models.ts'
import { inChunks } from './points.ts'
import { saveStates, loadStates } from './states.ts'

/** What was made of one metric. */
export interface MetricCapture {
  metric: Metric
  slot: Date | null
  /** One a group; the one error of a capture that failed. */
  judged: JudgedValue[]
  /** The groups that were there; null of a metric without groups, and of a capture that failed. */
  sightings: GroupSighting[] | null
}

/**
 * Judges captures and stores what was learned, alerts, and snapshots, which name the alerts that they raised or
 * counted on.
 * @returns the snapshots of each metric, one a group
 */
export async function recordCaptures(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  taken: readonly MeasuredRow<Metric>[],
  at: Date,
): Promise<Snapshot[][]> {
  const captures = await judgeCaptures(server, trx, taken, at)
  for (const { metric, judged } of captures)
    for (const { captured } of judged)
      server.telemetry.verdict(
        'metric',
        metric.metricType,
        captured.isLearning ? 'learning' : captured.status,
      )
  const raised = await updateAlerts(server, trx, loaded, { captures, at })
  const storing = insertAll(
    captures.flatMap(({ metric, slot, judged }) =>
      judged.map(item => ({
        metricId: metric.internalId,
        ...item.captured,
        alertId: raised.get(item) ?? null,
        scheduledFor: slot,
        capturedAt: at,
      })),
    ),
    chunk => Snapshot.query(trx).insert(chunk),
  )
  const [stored] = await Promise.all([storing, saveStatuses(trx, captures)])
  const byMetric = Map.groupBy(stored, ({ metricId }) => metricId)
  return captures.map(({ metric }) => byMetric.get(metric.internalId) ?? [])
}

/**
 * Raises the alerts of metrics with anomalies, and of groups that came or went, and resolves those of metrics whose
 * groups all pass again, and of groups that are back.
 * @returns the alert of each anomaly
 */
async function updateAlerts(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  { captures, at }: { captures: readonly MetricCapture[]; at: Date },
): Promise<Map<JudgedValue, string>> {
  const { alerts } = server.plugins
  const anomalies = await anomalyEvents(server, trx, loaded, captures)
  const sighted = captures.flatMap(({ metric, sightings }) =>
    sightings && metric.isActive ? [{ metric, sightings }] : [],
  )
  const groups = await collectGroupEvents(server, trx, loaded, { sighted, at })
  await alerts.resolveAll(trx, 'metric_anomaly', [...recoveredCauses(captures), ...groups.over])
  const raised = await alerts.raiseAll(trx, [...anomalies.map(({ event }) => event), ...groups.events])
  return new Map(
    anomalies.flatMap(({ anomalies: those }, place) =>
      those.map(item => [item, raised[place]!.alertId] as const),
    ),
  )
}

/** Judges every group by what is known of it, and stores what was learned, some groups at a time. */
async function judgeCaptures(
  { checks }: Pick<Server, 'checks'>,
  trx: Transaction,
  taken: readonly MeasuredRow<Metric>[],
  at: Date,
) {
  const captures = taken.map(({ row: metric, outcome, slot }): MetricCapture => {
    const hasRun = outcome.status === 'measured' || outcome.status === 'grouped'
    const judged = hasRun ? [] : [failedCapture(outcome)]
    return { metric, slot, judged, sightings: outcome.status === 'grouped' ? [] : null }
  })
  const values = taken.flatMap(({ row: metric, outcome }, index) =>
    groupValuesOf(outcome).map(value => ({ metric, group: value.group, value, capture: captures[index]! })),
  )
  for (const chunk of inChunks(values)) {
    const known = await loadStates(trx, checks, chunk)
    const learned = chunk.map(({ metric, group, value, capture }, place) => {
      const { state: before, ...sighting } = known[place]!
      const { state, ...judged } = judgeValue(metric, value, at, before)
      capture.judged.push(judged)
      capture.sightings?.push({ group, ...sighting, isLearning: judged.captured.isLearning })
      return { metric, group, state }
    })
    await saveStates(trx, learned, at)
  }
  return captures
}

async function saveStatuses(trx: Transaction, captures: readonly MetricCapture[]): Promise<void> {
  const statuses = captures.map(({ metric, judged }) => ({
    id: metric.internalId,
    status: overallStatus(metric, judged),
    is_learning: judged.every(({ captured }) => captured.isLearning),
  }))
  await rows(
    trx,
    `update metrics m set last_status = l.status, is_learning = l.is_learning
     from jsonb_to_recordset(cast(:statuses as jsonb)) as l(id bigint, status text, is_learning boolean)
     where m.company_id = :companyId and m.internal_id = l.id`,
    { statuses: JSON.stringify(statuses), companyId: companyOf(trx) },
  )
}
