/**
 * Groups that vanish and new ones, which are events of their own. Both are reported for a stable set of
 * groups only: a set whose groups come and go, as dates do, raises no events.
 */
import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { AlertEvent } from '../alerts/api.ts'
import type { TableContext } from '../catalog/api.ts'
import { causeOf, formatGroup, eventSubject } from './alert.ts'
import type { Group } from './capture.ts'
import { isSettled, loadGroupLifetimes, rememberedSince, STABLE_CAPTURES } from './group-lifetimes.ts'
import type { Metric } from './models.ts'

/** A group that a capture had, with what was known of it before. */
export interface GroupSighting {
  group: Group
  /** As in `MetricState`. */
  run: number
  lastSeenAt: Date | null
  /** No capture has had it before. */
  isNew: boolean
  /** It has too little history to be judged. */
  isLearning: boolean
}

/** A capture of a metric with groups that could run. */
interface CapturedGroups {
  metric: Metric
  sightings: readonly GroupSighting[]
}

/** A group that the last capture had and this one lacks. */
interface MissingGroup {
  metricId: string
  groupValues: Group
  /** Captures in a row that had it. */
  run: number
  lastSeenAt: Date
}

/** The events of the groups of one capture. */
interface GroupEvents {
  /** The causes of earlier alerts that are over. */
  over: string[]
  events: AlertEvent[]
}

/**
 * Which groups vanished and which are new, and the alerts of those that are back. The states of the capture are
 * stored, its snapshots are not yet. Groups that have long been gone are forgotten.
 */
export async function collectGroupEvents(
  server: Server,
  trx: Transaction,
  loaded: TableContext,
  { sighted, at }: { sighted: readonly CapturedGroups[]; at: Date },
): Promise<GroupEvents> {
  if (sighted.length === 0) return { over: [], events: [] }
  const returned = await findReturned(trx, sighted)
  const missing = await endRuns(trx, sighted, at)
  const forgotten = await forgetGroups(trx, sighted, at)
  const changed = (await findGroupChanges(trx, sighted, missing, at)).map(change => ({
    ...change,
    subject: eventSubject(server, loaded, change.metric),
  }))
  await markAlerted(
    trx,
    changed.flatMap(({ vanished }) => vanished),
  )
  return {
    over: causesOf(sighted, [...returned, ...forgotten]),
    events: changed.flatMap(({ subject, metric, vanished, came }) => [
      ...(vanished.length > 0 ? [vanishedEvent(subject, metric, vanished)] : []),
      ...(came.length > 0 ? [newEvent(subject, metric, came, at)] : []),
    ]),
  }
}

/** The groups of a metric that are worth telling. */
interface GroupChanges {
  metric: Metric
  vanished: MissingGroup[]
  came: Group[]
}

async function findGroupChanges(
  trx: Transaction,
  sighted: readonly CapturedGroups[],
  missing: readonly MissingGroup[],
  at: Date,
): Promise<GroupChanges[]> {
  const byMetric = Map.groupBy(missing, ({ metricId }) => metricId)
  const changed = sighted.flatMap(({ metric, sightings }) => {
    const all = byMetric.get(metric.internalId) ?? []
    const gone = all.filter(({ run }) => run >= STABLE_CAPTURES[metric.checkInterval])
    const came = sightings.filter(({ isNew }) => isNew).map(({ group }) => group)
    // A known group that still learns came not long ago.
    const isChanging = sightings.some(({ isNew, isLearning }) => isLearning && !isNew)
    return isChanging || gone.length + came.length === 0 ? [] : [{ metric, gone, came }]
  })
  const lives = await loadGroupLifetimes(
    trx,
    at,
    changed.map(({ metric, gone }) => ({ metric, groups: gone.map(({ groupValues }) => groupValues) })),
  )
  return changed.flatMap(({ metric, gone, came }, index) => {
    const { checkInterval: interval } = metric
    const { missed, arrivals, sinceArrival } = lives[index]!
    if (!isSettled(interval, sinceArrival, arrivals)) return []
    const vanished = gone.filter(({ run }, place) => isSettled(interval, run, missed[place]!))
    return [{ metric, vanished, came }]
  })
}

const idsOf = (sighted: readonly CapturedGroups[]) => sighted.map(({ metric }) => metric.internalId)

/** Ends the runs of the groups that a capture lacks. */
async function endRuns(trx: Transaction, sighted: readonly CapturedGroups[], at: Date) {
  return rows<MissingGroup>(
    trx,
    `with missing as (
       select metric_id, group_values, run from metric_states
       where company_id = :companyId and metric_id = any(cast(:metrics as bigint[])) and run > 0
         and last_seen_at is distinct from :at
     ), ended as (
       update metric_states s set run = 0 from missing
       where s.company_id = :companyId and s.metric_id = missing.metric_id and s.group_values = missing.group_values
       returning s.metric_id, s.group_values, missing.run, s.last_seen_at
     )
     select * from ended order by metric_id, group_values`,
    { companyId: companyOf(trx), metrics: idsOf(sighted), at },
  )
}

/** Marks missing groups as alerted. */
async function markAlerted(trx: Transaction, vanished: readonly MissingGroup[]): Promise<void> {
  if (vanished.length === 0) return
  const groups = vanished.map(({ metricId, groupValues }) => ({
    metric_id: metricId,
    group_values: groupValues,
  }))
  await rows(
    trx,
    `update metric_states s set run = ${ALERTED_RUN}
     from jsonb_to_recordset(cast(:groups as jsonb)) as g(metric_id bigint, group_values jsonb)
     where s.company_id = :companyId and s.metric_id = g.metric_id and s.group_values = g.group_values`,
    { companyId: companyOf(trx), groups: JSON.stringify(groups) },
  )
}

type EventSubject = ReturnType<typeof eventSubject>

function vanishedEvent(
  { title, event, details }: EventSubject,
  metric: Metric,
  vanished: readonly MissingGroup[],
): AlertEvent {
  const groups = vanished.map(({ groupValues }) => groupValues)
  const { lastSeenAt } = vanished[0]!
  const least = Math.min(...vanished.map(({ run }) => run))
  const sentence =
    groups.length === 1
      ? `the group ${listGroups(groups)} is missing; it was there in the last ${least} captures`
      : `${groups.length} groups are missing, ${listGroups(groups)}; they were there in at least the last ${least} captures`
  return {
    ...event,
    cause: vanishedCause(metric, lastSeenAt),
    changeType: 'group_vanished',
    severity: 'warning',
    title: `${title}: ${sentence}`,
    details: { ...details, ...groupDetails(groups), last_seen_at: lastSeenAt, explanation: sentence },
  }
}

function newEvent(
  { title, event, details }: EventSubject,
  metric: Metric,
  came: readonly Group[],
  at: Date,
): AlertEvent {
  const one = came.length === 1
  const sentence = `${one ? 'a group is new' : `${came.length} groups are new`}: ${listGroups(came)}`
  return {
    ...event,
    cause: `${causeOf(metric)}/new/${at.toISOString()}`,
    changeType: 'group_new',
    severity: 'info',
    // There is nothing to recover from.
    isNews: true,
    title: `${title}: ${sentence}`,
    details: { ...details, ...groupDetails(came), first_seen_at: at, explanation: sentence },
  }
}

/** `run` of a group that is missing and that an open alert may name. */
const ALERTED_RUN = -1

/** When the groups that an alert names were last seen. */
interface AlertedGroup {
  metricId: string
  lastSeenAt: Date
}

/** One alert for all groups of a metric that were last seen by the same capture. */
function vanishedCause(metric: Metric, lastSeenAt: Date): string {
  return `${causeOf(metric)}/vanished/${lastSeenAt.toISOString()}`
}

function causesOf(sighted: readonly Pick<CapturedGroups, 'metric'>[], alerted: readonly AlertedGroup[]) {
  const metrics = new Map(sighted.map(({ metric }) => [metric.internalId, metric]))
  return [
    ...new Set(alerted.map(({ metricId, lastSeenAt }) => vanishedCause(metrics.get(metricId)!, lastSeenAt))),
  ]
}

/** The alerted groups of captures whose groups are all back. */
async function findReturned(trx: Transaction, sighted: readonly CapturedGroups[]): Promise<AlertedGroup[]> {
  const returned = sighted.flatMap(({ metric, sightings }) =>
    sightings.flatMap(({ run, lastSeenAt }) =>
      run === ALERTED_RUN && lastSeenAt ? [{ metric_id: metric.internalId, last_seen_at: lastSeenAt }] : [],
    ),
  )
  if (returned.length === 0) return []
  return rows<AlertedGroup>(
    trx,
    `select distinct metric_id, last_seen_at
     from jsonb_to_recordset(cast(:returned as jsonb)) as r(metric_id bigint, last_seen_at timestamptz)
     where not exists (
       select from metric_states s
       where s.company_id = :companyId and s.metric_id = r.metric_id and s.run = ${ALERTED_RUN}
         and s.last_seen_at = r.last_seen_at)`,
    { companyId: companyOf(trx), returned: JSON.stringify(returned) },
  )
}

/**
 * Removes what was learned of groups that have long been gone.
 * @returns those that were alerted: their alerts are over
 */
async function forgetGroups(trx: Transaction, sighted: readonly CapturedGroups[], at: Date) {
  const remembered = sighted.map(({ metric }) => ({
    metric_id: metric.internalId,
    since: rememberedSince(metric.checkInterval, at),
  }))
  const forgotten = await rows<AlertedGroup & { run: number }>(
    trx,
    `delete from metric_states s
     using jsonb_to_recordset(cast(:remembered as jsonb)) as m(metric_id bigint, since timestamptz)
     where s.company_id = :companyId and s.metric_id = m.metric_id and s.run <= 0
       and coalesce(s.last_seen_at, '-infinity') < m.since
     returning s.metric_id, s.run, s.last_seen_at`,
    { companyId: companyOf(trx), remembered: JSON.stringify(remembered) },
  )
  return forgotten.filter(({ run }) => run === ALERTED_RUN)
}

/**
 * Clears the alerted groups of a metric that is switched off or removed.
 * @returns the causes of their alerts
 */
export async function clearAlertedGroups(trx: Transaction, metric: Metric): Promise<string[]> {
  const alerted = await rows<AlertedGroup>(
    trx,
    `update metric_states set run = 0
     where company_id = :companyId and metric_id = :metricId and run = ${ALERTED_RUN} and last_seen_at is not null
     returning metric_id, last_seen_at`,
    { companyId: companyOf(trx), metricId: metric.internalId },
  )
  return causesOf([{ metric }], alerted)
}

/** Groups that an alert names. */
const MAX_ALERT_GROUPS = 20

function groupDetails(groups: readonly Group[]): object {
  return { groups: groups.slice(0, MAX_ALERT_GROUPS), group_count: groups.length }
}

/** Groups that a sentence names. */
const MAX_SENTENCE_GROUPS = 3

function listGroups(groups: readonly Group[]): string {
  const names = groups.slice(0, MAX_SENTENCE_GROUPS).map(formatGroup)
  const more = groups.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}
