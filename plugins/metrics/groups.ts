/**
 * Groups that vanish and new ones, which are events of their own. Both are told of a set of groups that has been
 * stable; one whose groups come and go, as by date, tells nothing.
 */
import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../server/database.ts'
import { causeOf, nameOf, subjectOf } from './alert.ts'
import type { Group } from './capture.ts'
import { isSettled, lifeOf, rememberedSince, STABLE } from './lives.ts'
import type { Metric } from './models.ts'

type Feature = Parameters<Server['plugins']['scans']['contribute']>[0]
type Loaded = Parameters<Feature['record']>[1]

/** A group that a capture had, with what was known of it before. */
export interface Sighting {
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
interface Sighted {
  metric: Metric
  sightings: readonly Sighting[]
  at: Date
}

/** A group that the last capture had and this one lacks. */
interface Missing {
  groupValues: Group
  /** Captures in a row that had it. */
  run: number
  lastSeenAt: Date
}

/**
 * Tells which groups vanished and which are new, and resolves what was told of those that are back. The states of the
 * capture are stored, its snapshots are not yet. Groups that have long been gone are forgotten.
 */
export async function tellGroups(
  server: Server,
  trx: Transaction,
  loaded: Loaded,
  sighted: Sighted,
): Promise<void> {
  const { metric, sightings, at } = sighted
  await resolveReturned(server, trx, metric, sightings)
  const missing = await noteMissing(trx, metric, at)
  await forget(server, trx, metric, at)
  const gone = missing.filter(({ run }) => run >= STABLE[metric.checkInterval])
  const came = sightings.filter(({ isNew }) => isNew).map(({ group }) => group)
  // A known group that still learns came not long ago.
  const isChanging = sightings.some(({ isNew, isLearning }) => isLearning && !isNew)
  if (isChanging || gone.length + came.length === 0) return
  const { missed, arrivals, sinceArrival } = await lifeOf(
    trx,
    metric,
    at,
    gone.map(({ groupValues }) => groupValues),
  )
  if (!isSettled(metric.checkInterval, sinceArrival, arrivals)) return
  const vanished = gone.filter(({ run }, place) => isSettled(metric.checkInterval, run, missed[place]!))
  if (vanished.length > 0) await tellVanished(server, trx, loaded, metric, vanished)
  if (came.length > 0) await tellNew(server, trx, loaded, { metric, came, at })
}

/** Ends the runs of the groups that a capture lacks. */
async function noteMissing(trx: Transaction, metric: Metric, at: Date): Promise<Missing[]> {
  return rows<Missing>(
    trx,
    `with missing as (
       select group_values, run from metric_states
       where company_id = :companyId and metric_id = :metricId and run > 0 and last_seen_at is distinct from :at
     ), ended as (
       update metric_states s set run = 0 from missing
       where s.company_id = :companyId and s.metric_id = :metricId and s.group_values = missing.group_values
       returning s.group_values, missing.run, s.last_seen_at
     )
     select * from ended order by group_values`,
    { companyId: companyOf(trx), metricId: metric.internalId, at },
  )
}

async function tellVanished(
  server: Server,
  trx: Transaction,
  loaded: Loaded,
  metric: Metric,
  vanished: readonly Missing[],
): Promise<void> {
  const groups = vanished.map(({ groupValues }) => groupValues)
  await rows(
    trx,
    `update metric_states set run = ${TOLD} where company_id = :companyId and metric_id = :metricId
       and group_values in (select jsonb_array_elements(cast(:groups as jsonb)))`,
    { companyId: companyOf(trx), metricId: metric.internalId, groups: JSON.stringify(groups) },
  )
  const { lastSeenAt } = vanished[0]!
  const least = Math.min(...vanished.map(({ run }) => run))
  const { title, event, details } = subjectOf(server, loaded, metric)
  const sentence =
    groups.length === 1
      ? `the group ${listed(groups)} is missing; it was there in the last ${least} captures`
      : `${groups.length} groups are missing, ${listed(groups)}; they were there in at least the last ${least} captures`
  await server.plugins.alerts.raise(trx, {
    ...event,
    cause: vanishedCause(metric, lastSeenAt),
    changeType: 'group_vanished',
    severity: 'warning',
    title: `${title}: ${sentence}`,
    details: { ...details, ...detailsOf(groups), last_seen_at: lastSeenAt, explanation: sentence },
  })
}

async function tellNew(
  server: Server,
  trx: Transaction,
  loaded: Loaded,
  { metric, came, at }: { metric: Metric; came: readonly Group[]; at: Date },
): Promise<void> {
  const { title, event, details } = subjectOf(server, loaded, metric)
  const one = came.length === 1
  const sentence = `${one ? 'a group is new' : `${came.length} groups are new`}: ${listed(came)}`
  await server.plugins.alerts.raise(trx, {
    ...event,
    cause: `${causeOf(metric)}/new/${at.toISOString()}`,
    changeType: 'group_new',
    severity: 'info',
    // There is nothing to recover from.
    isNews: true,
    title: `${title}: ${sentence}`,
    details: { ...details, ...detailsOf(came), first_seen_at: at, explanation: sentence },
  })
}

/** `run` of a group that is missing and that an open alert may tell of. */
const TOLD = -1

/** One alert for all groups of a metric that were last seen by the same capture. */
function vanishedCause(metric: Metric, lastSeenAt: Date): string {
  return `${causeOf(metric)}/vanished/${lastSeenAt.toISOString()}`
}

/** Resolves what was told of groups once all of them are back. */
async function resolveReturned(
  server: Server,
  trx: Transaction,
  metric: Metric,
  sightings: readonly Sighting[],
): Promise<void> {
  const returned = sightings.filter(({ run }) => run === TOLD)
  for (const lastSeenAt of momentsOf(returned)) {
    const left = await rows(
      trx,
      `select 1 from metric_states where company_id = :companyId and metric_id = :metricId
         and run = ${TOLD} and last_seen_at = :lastSeenAt limit 1`,
      { companyId: companyOf(trx), metricId: metric.internalId, lastSeenAt },
    )
    if (left.length === 0)
      await server.plugins.alerts.resolve(trx, 'metric_anomaly', vanishedCause(metric, lastSeenAt))
  }
}

/** Removes what was learned of groups that have long been gone; that they are is no longer news either. */
async function forget(server: Server, trx: Transaction, metric: Metric, at: Date): Promise<void> {
  const forgotten = await rows<Pick<Missing, 'run' | 'lastSeenAt'>>(
    trx,
    `delete from metric_states where company_id = :companyId and metric_id = :metricId and run <= 0
       and coalesce(last_seen_at, '-infinity') < :since returning run, last_seen_at`,
    {
      companyId: companyOf(trx),
      metricId: metric.internalId,
      since: rememberedSince(metric.checkInterval, at),
    },
  )
  await resolveAll(server, trx, metric, forgotten)
}

/** Resolves what was told of a metric's groups: it is switched off, or removed. */
export async function closeGroups(server: Server, trx: Transaction, metric: Metric): Promise<void> {
  const told = await rows<Pick<Missing, 'run' | 'lastSeenAt'>>(
    trx,
    `with told as (
       select group_values, run from metric_states
       where company_id = :companyId and metric_id = :metricId and run = ${TOLD}
     )
     update metric_states s set run = 0 from told
     where s.company_id = :companyId and s.metric_id = :metricId and s.group_values = told.group_values
     returning told.run, s.last_seen_at`,
    { companyId: companyOf(trx), metricId: metric.internalId },
  )
  await resolveAll(server, trx, metric, told)
}

async function resolveAll(
  server: Server,
  trx: Transaction,
  metric: Metric,
  groups: readonly Pick<Missing, 'run' | 'lastSeenAt'>[],
): Promise<void> {
  for (const lastSeenAt of momentsOf(groups.filter(({ run }) => run === TOLD)))
    await server.plugins.alerts.resolve(trx, 'metric_anomaly', vanishedCause(metric, lastSeenAt))
}

function momentsOf(groups: readonly { lastSeenAt: Date | null }[]): Date[] {
  const moments = groups.flatMap(({ lastSeenAt }) => lastSeenAt?.getTime() ?? [])
  return [...new Set(moments)].map(moment => new Date(moment))
}

/** Groups that an alert names. */
const NAMED = 20

function detailsOf(groups: readonly Group[]): object {
  return { groups: groups.slice(0, NAMED), group_count: groups.length }
}

/** Groups that a sentence names. */
const SAID = 3

function listed(groups: readonly Group[]): string {
  const names = groups.slice(0, SAID).map(nameOf)
  const more = groups.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}
