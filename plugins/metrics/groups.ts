/**
 * Groups that vanish and new ones, which are events of their own. Both are reported for a stable set of
 * groups only: a set whose groups come and go, as dates do, raises no events.
 */
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { AlertEvent } from '../alerts/api.ts'
import type { AlertContext, AlertSubject, MoreAlerts, SeriesSighting } from '../scans/api.ts'
import type { SeriesValues } from '../scans/kit.ts'
import { isSettled, loadGroupLifetimes, rememberedSince, STABLE_CAPTURES } from './group-lifetimes.ts'
import { alertHead, formatGroup } from './alert-texts.ts'
import type { Metric } from './models.ts'

/** A capture of a metric with groups that could run. */
interface CapturedGroups {
  metric: Metric
  sightings: readonly SeriesSighting[]
}

/** A group that the last capture had and this one lacks. */
interface MissingGroup {
  checkId: string
  series: SeriesValues
  /** Captures in a row that had it. */
  run: number
  lastSeenAt: Date
}

/**
 * Which groups vanished and which are new, and the alerts of those that are back. The states of the capture are
 * stored, its results are not yet. Groups that have long been gone are forgotten.
 */
export async function collectGroupEvents(
  trx: Transaction,
  { table, captures, at, subjectOf }: AlertContext<Metric>,
): Promise<MoreAlerts> {
  const sighted = captures.flatMap(({ row: metric, sightings }) =>
    sightings && metric.isActive ? [{ metric, sightings }] : [],
  )
  if (sighted.length === 0) return {}
  const returned = await findReturned(trx, sighted)
  const missing = await endRuns(trx, sighted, at)
  const forgotten = await forgetGroups(trx, sighted, at)
  const changed = await findGroupChanges(trx, sighted, missing, at)
  await markAlerted(
    trx,
    changed.flatMap(({ vanished }) => vanished),
  )
  return {
    over: causesOf(sighted, [...returned, ...forgotten]),
    events: changed.flatMap(({ metric, vanished, came }) => {
      const { title, ruleName, details } = alertHead(metric, table)
      const subject = { title, event: { ...subjectOf(metric), ruleName }, details }
      return [
        ...(vanished.length > 0 ? [vanishedEvent(subject, metric, vanished)] : []),
        ...(came.length > 0 ? [newEvent(subject, metric, came, at)] : []),
      ]
    }),
  }
}

/** The groups of a metric that are worth telling. */
interface GroupChanges {
  metric: Metric
  vanished: MissingGroup[]
  came: SeriesValues[]
}

async function findGroupChanges(
  trx: Transaction,
  sighted: readonly CapturedGroups[],
  missing: readonly MissingGroup[],
  at: Date,
): Promise<GroupChanges[]> {
  const byMetric = Map.groupBy(missing, ({ checkId }) => checkId)
  const changed = sighted.flatMap(({ metric, sightings }) => {
    const all = byMetric.get(metric.id) ?? []
    const gone = all.filter(({ run }) => run >= STABLE_CAPTURES[metric.checkInterval])
    const came = sightings.filter(({ isNew }) => isNew).map(({ series }) => series)
    // A known group that still learns came not long ago.
    const isChanging = sightings.some(({ isNew, isLearning }) => isLearning && !isNew)
    return isChanging || gone.length + came.length === 0 ? [] : [{ metric, gone, came }]
  })
  const lives = await loadGroupLifetimes(
    trx,
    at,
    changed.map(({ metric, gone }) => ({ metric, groups: gone.map(({ series }) => series) })),
  )
  return changed.flatMap(({ metric, gone, came }, index) => {
    const { checkInterval: interval } = metric
    const { missed, arrivals, sinceArrival } = lives[index]!
    if (!isSettled(interval, sinceArrival, arrivals)) return []
    const vanished = gone.filter(({ run }, place) => isSettled(interval, run, missed[place]!))
    return [{ metric, vanished, came }]
  })
}

const idsOf = (sighted: readonly CapturedGroups[]) => sighted.map(({ metric }) => metric.id)

/** Ends the runs of the groups that a capture lacks. */
async function endRuns(trx: Transaction, sighted: readonly CapturedGroups[], at: Date) {
  return rows<MissingGroup>(
    trx,
    `with missing as (
       select check_id, series, run from check_states
       where company_id = :companyId and check_id = any(cast(:checks as bigint[])) and run > 0
         and last_seen_at is distinct from :at
     ), ended as (
       update check_states s set run = 0 from missing
       where s.company_id = :companyId and s.check_id = missing.check_id and s.series = missing.series
       returning s.check_id, s.series, missing.run, s.last_seen_at
     )
     select * from ended order by check_id, series`,
    { companyId: companyOf(trx), checks: idsOf(sighted), at },
  )
}

/** Marks missing groups as alerted. */
async function markAlerted(trx: Transaction, vanished: readonly MissingGroup[]): Promise<void> {
  if (vanished.length === 0) return
  const groups = vanished.map(({ checkId, series }) => ({ check_id: checkId, series }))
  await rows(
    trx,
    `update check_states s set run = ${ALERTED_RUN}
     from jsonb_to_recordset(cast(:groups as jsonb)) as g(check_id bigint, series jsonb)
     where s.company_id = :companyId and s.check_id = g.check_id and s.series = g.series`,
    { companyId: companyOf(trx), groups: JSON.stringify(groups) },
  )
}

interface EventSubject extends Pick<ReturnType<typeof alertHead>, 'title' | 'details'> {
  event: AlertSubject & Pick<AlertEvent, 'ruleName'>
}

function vanishedEvent(
  { title, event, details }: EventSubject,
  metric: Metric,
  vanished: readonly MissingGroup[],
): AlertEvent {
  const groups = vanished.map(({ series }) => series)
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
  came: readonly SeriesValues[],
  at: Date,
): AlertEvent {
  const one = came.length === 1
  const sentence = `${one ? 'a group is new' : `${came.length} groups are new`}: ${listGroups(came)}`
  return {
    ...event,
    cause: `m_${metric.uuid}/new/${at.toISOString()}`,
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
  checkId: string
  lastSeenAt: Date
}

/** One alert for all groups of a metric that were last seen by the same capture. */
function vanishedCause(metric: Metric, lastSeenAt: Date): string {
  return `m_${metric.uuid}/vanished/${lastSeenAt.toISOString()}`
}

function causesOf(sighted: readonly Pick<CapturedGroups, 'metric'>[], alerted: readonly AlertedGroup[]) {
  const metrics = new Map(sighted.map(({ metric }) => [metric.id, metric]))
  return [
    ...new Set(alerted.map(({ checkId, lastSeenAt }) => vanishedCause(metrics.get(checkId)!, lastSeenAt))),
  ]
}

/** The alerted groups of captures whose groups are all back. */
async function findReturned(trx: Transaction, sighted: readonly CapturedGroups[]): Promise<AlertedGroup[]> {
  const returned = sighted.flatMap(({ metric, sightings }) =>
    sightings.flatMap(({ run, lastSeenAt }) =>
      run === ALERTED_RUN && lastSeenAt ? [{ check_id: metric.id, last_seen_at: lastSeenAt }] : [],
    ),
  )
  if (returned.length === 0) return []
  return rows<AlertedGroup>(
    trx,
    `select distinct check_id, last_seen_at
     from jsonb_to_recordset(cast(:returned as jsonb)) as r(check_id bigint, last_seen_at timestamptz)
     where not exists (
       select from check_states s
       where s.company_id = :companyId and s.check_id = r.check_id and s.run = ${ALERTED_RUN}
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
    check_id: metric.id,
    since: rememberedSince(metric.checkInterval, at),
  }))
  const forgotten = await rows<AlertedGroup & { run: number }>(
    trx,
    `delete from check_states s
     using jsonb_to_recordset(cast(:remembered as jsonb)) as m(check_id bigint, since timestamptz)
     where s.company_id = :companyId and s.check_id = m.check_id and s.run <= 0
       and coalesce(s.last_seen_at, '-infinity') < m.since
     returning s.check_id, s.run, s.last_seen_at`,
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
    `update check_states set run = 0
     where company_id = :companyId and check_id = :checkId and run = ${ALERTED_RUN} and last_seen_at is not null
     returning check_id, last_seen_at`,
    { companyId: companyOf(trx), checkId: metric.id },
  )
  return causesOf([{ metric }], alerted)
}

/** Groups that an alert names. */
const MAX_ALERT_GROUPS = 20

function groupDetails(groups: readonly SeriesValues[]): object {
  return { groups: groups.slice(0, MAX_ALERT_GROUPS), group_count: groups.length }
}

/** Groups that a sentence names. */
const MAX_SENTENCE_GROUPS = 3

function listGroups(groups: readonly SeriesValues[]): string {
  const names = groups.slice(0, MAX_SENTENCE_GROUPS).map(formatGroup)
  const more = groups.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}
