/**
 * Groups that vanish and new ones, which are events of their own. Both are reported for a stable set of
 * groups only: a set whose groups come and go, as dates do, raises no events.
 */
import { countOf } from '../../checks/explanation.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { AlertEvent } from '../alerts/api.ts'
import type { AlertContext, AlertSubject, MoreAlerts, SeriesSighting } from '../checks/api.ts'
import {
  ALERTED_RUN,
  clearAlerted,
  endRuns,
  findReturned,
  forgetSeries,
  markAlerted,
  seriesInterval,
  type AlertedSeries,
  type MissingSeries,
  type SeriesValues,
} from '../checks/kit.ts'
import { isSettled, loadGroupLifetimes, rememberedSince, STABLE_CAPTURES } from './group-lifetimes.ts'
import { alertHead, formatGroup } from './alert-texts.ts'
import type { Metric } from './models.ts'

/** A capture of a metric with groups that could run. */
interface CapturedGroups {
  metric: Metric
  sightings: readonly SeriesSighting[]
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
  const alerted = sighted.flatMap(({ metric, sightings }) =>
    sightings.flatMap(({ run, lastSeenAt }) =>
      run === ALERTED_RUN && lastSeenAt ? [{ checkId: metric.id, lastSeenAt }] : [],
    ),
  )
  const returned = await findReturned(trx, alerted)
  const ids = sighted.map(({ metric }) => metric.id)
  const missing = await endRuns(trx, ids, at)
  const remembered = sighted.map(({ metric }) => ({
    checkId: metric.id,
    since: rememberedSince(seriesInterval(metric), at),
  }))
  const forgotten = await forgetSeries(trx, remembered)
  const changed = await findGroupChanges(trx, sighted, missing, at)
  await markAlerted(
    trx,
    changed.flatMap(({ vanished }) => vanished),
  )
  return {
    over: causesOf(sighted, [...returned, ...forgotten]),
    events: changed.flatMap(({ metric, vanished, came }) => {
      const { subject, ruleName, details } = alertHead(metric, table)
      const about = { subject, event: { ...subjectOf(metric), ruleName }, details }
      return [
        ...(vanished.length > 0 ? [vanishedEvent(about, metric, vanished)] : []),
        ...(came.length > 0 ? [newEvent(about, metric, came, at)] : []),
      ]
    }),
  }
}

/** The groups of a metric that are worth telling. */
interface GroupChanges {
  metric: Metric
  vanished: MissingSeries[]
  came: SeriesValues[]
}

async function findGroupChanges(
  trx: Transaction,
  sighted: readonly CapturedGroups[],
  missing: readonly MissingSeries[],
  at: Date,
): Promise<GroupChanges[]> {
  const byMetric = Map.groupBy(missing, ({ checkId }) => checkId)
  const changed = sighted.flatMap(({ metric, sightings }) => {
    const all = byMetric.get(metric.id) ?? []
    const gone = all.filter(({ run }) => run >= STABLE_CAPTURES[seriesInterval(metric)])
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
    const interval = seriesInterval(metric)
    const { missed, arrivals, sinceArrival } = lives[index]!
    if (!isSettled(interval, sinceArrival, arrivals)) return []
    const vanished = gone.filter(({ run }, place) => isSettled(interval, run, missed[place]!))
    return [{ metric, vanished, came }]
  })
}

interface EventSubject extends Pick<ReturnType<typeof alertHead>, 'subject' | 'details'> {
  event: AlertSubject & Pick<AlertEvent, 'ruleName'>
}

function vanishedEvent(
  { subject, event, details }: EventSubject,
  metric: Metric,
  vanished: readonly MissingSeries[],
): AlertEvent {
  const groups = vanished.map(({ series }) => series)
  const { lastSeenAt } = vanished[0]!
  const least = Math.min(...vanished.map(({ run }) => run))
  const found =
    groups.length === 1
      ? `no rows with ${listGroups(groups)}`
      : `no rows of ${countOf(groups.length, 'group')}: ${listGroups(groups)}`
  return {
    ...event,
    cause: vanishedCause(metric, lastSeenAt),
    changeType: 'group_vanished',
    severity: metric.severity ?? 'warning',
    title: { ...subject, found },
    details: {
      ...details,
      ...groupDetails(groups),
      last_seen_at: lastSeenAt,
      explanation: `There were rows in each of the last ${least} runs before`,
    },
  }
}

function newEvent(
  { subject, event, details }: EventSubject,
  metric: Metric,
  came: readonly SeriesValues[],
  at: Date,
): AlertEvent {
  const one = came.length === 1
  const found = `${one ? 'first rows with' : `${came.length.toLocaleString('en-US')} new groups:`} ${listGroups(came)}`
  return {
    ...event,
    cause: `m_${metric.uuid}/new/${at.toISOString()}`,
    changeType: 'group_new',
    severity: 'info',
    // There is nothing to recover from.
    isNews: true,
    title: { ...subject, found },
    details: {
      ...details,
      ...groupDetails(came),
      first_seen_at: at,
      explanation: 'The groups were the same for a while before',
    },
  }
}

/** One alert for all groups of a metric that were last seen by the same capture. */
function vanishedCause(metric: Metric, lastSeenAt: Date): string {
  return `m_${metric.uuid}/vanished/${lastSeenAt.toISOString()}`
}

function causesOf(sighted: readonly Pick<CapturedGroups, 'metric'>[], alerted: readonly AlertedSeries[]) {
  const metrics = new Map(sighted.map(({ metric }) => [metric.id, metric]))
  return [
    ...new Set(alerted.map(({ checkId, lastSeenAt }) => vanishedCause(metrics.get(checkId)!, lastSeenAt))),
  ]
}

/**
 * Clears the alerted groups of a metric that is switched off or removed.
 * @returns the causes of their alerts
 */
export async function clearAlertedGroups(trx: Transaction, metric: Metric): Promise<string[]> {
  return causesOf([{ metric }], await clearAlerted(trx, metric.id))
}

/** Groups that an alert names. */
const MAX_ALERT_GROUPS = 20

function groupDetails(groups: readonly SeriesValues[]) {
  return { groups: groups.slice(0, MAX_ALERT_GROUPS), group_count: groups.length }
}

/** Groups that a sentence names. */
const MAX_SENTENCE_GROUPS = 3

function listGroups(groups: readonly SeriesValues[]): string {
  const names = groups.slice(0, MAX_SENTENCE_GROUPS).map(formatGroup)
  const more = groups.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}
