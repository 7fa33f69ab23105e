import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { leastUuid } from '../../../server/database/months.ts'
import { SEVERITIES, type AlertKind } from '../api.ts'
import { destinationDisabled, kindOf } from '../kinds.ts'
import { Destination, AlertRule, IS_OPEN, type Alert } from '../models.ts'
import { lockFirstMessages } from '../locks.ts'
import { loadOwnerMatch, type OwnerMatch } from './rule-owners.ts'

/** Tolerates wrong clocks: the id of a delivery holds the time of the process that created it. */
const DAY_MS = 86_400_000

/** A destination that should be notified of an alert, with the rules that match. */
export interface Recipient {
  destination: Destination
  ruleIds: string[]
  /** When the first of the cooldowns that postpone the message ends; null if none does. */
  postponedUntil: Date | null
}

/**
 * The destinations to notify of each alert, in the order of the alerts. If the company has no rule, every active
 * destination is notified of warnings and critical alerts. A rule in its cooldown for a cause postpones the message, unless
 * the alert is worse than what the rule sent, or replaced a lesser one.
 */
export async function findRecipients(
  server: Server,
  trx: Transaction,
  alerts: readonly Alert[],
  options: { ignoresCooldowns?: boolean } = {},
): Promise<Recipient[][]> {
  if (alerts.length === 0) return []
  const active = await Destination.query(trx).where({ isActive: true }).whereNull('deletedAt').orderBy('id')
  if (active.length === 0) return alerts.map(() => [])
  const rules = await AlertRule.query(trx)
  if (rules.length === 0) {
    return alerts.map(alert =>
      alert.severity === 'info'
        ? []
        : active
            .filter(isOther(alert))
            .map(destination => ({ destination, ruleIds: [], postponedUntil: null })),
    )
  }
  const isOwned = await loadOwnerMatch(server, trx, rules, alerts)
  const matched = alerts.map(alert => {
    const kind = kindOf(server, alert.kind)
    return { alert, rules: rules.filter(rule => matchesRule(rule, alert, kind, isOwned)) }
  })
  const endOf = options.ignoresCooldowns ? () => null : await loadCooldownEnds(trx, matched)
  return matched.map(({ alert, rules: matching }) =>
    active.filter(isOther(alert)).flatMap(destination => {
      const cooldowns = matching
        .filter(({ destinationIds }) => destinationIds.includes(destination.id))
        .map(({ id }) => ({ id, end: endOf(alert.id, id) }))
      const free = cooldowns.filter(({ end }) => end === null)
      const [earliest] = cooldowns
        .flatMap(({ end }) => end ?? [])
        .toSorted((one, other) => one.getTime() - other.getTime())
      if (cooldowns.length === 0) return []
      const ruleIds = (free.length > 0 ? free : cooldowns).map(({ id }) => id)
      return [{ destination, ruleIds, postponedUntil: free.length > 0 ? null : (earliest ?? null) }]
    }),
  )
}

/** A destination is not notified that it was itself switched off. */
function isOther({ kind, cause }: Pick<Alert, 'kind' | 'cause'>): (destination: Destination) => boolean {
  return ({ id }) => kind !== destinationDisabled.name || id !== cause
}

/** Whether all filters of a rule match an alert of a kind. @param isOwned defaults to one for rules without owners */
export function matchesRule(
  rule: Pick<
    AlertRule,
    'isActive' | 'eventTypes' | 'severities' | 'assetIds' | 'tagFilterMode' | 'tagFilterTags' | 'owners'
  >,
  alert: Pick<Alert, 'severity' | 'assetId' | 'sourceId'> & { event: { asset: { tags: string[] } } },
  { name, isRoutine }: AlertKind,
  isOwned: OwnerMatch = ({ owners }) => !owners,
): boolean {
  const { eventTypes, severities, assetIds } = rule
  return (
    rule.isActive &&
    (eventTypes?.length ? eventTypes.includes(name) : !isRoutine) &&
    (!severities?.length || severities.includes(alert.severity)) &&
    // An empty list: the assets that the rule named were removed.
    (!assetIds || assetIds.some(id => id === alert.assetId || id === alert.sourceId)) &&
    matchesTags(rule, alert.event.asset.tags) &&
    isOwned(rule, alert)
  )
}

function matchesTags(rule: Pick<AlertRule, 'tagFilterMode' | 'tagFilterTags'>, tags: readonly string[]) {
  const wanted = rule.tagFilterTags
  if (!wanted?.length) return true
  return rule.tagFilterMode === 'all'
    ? wanted.every(tag => tags.includes(tag))
    : wanted.some(tag => tags.includes(tag))
}

/**
 * Until when cooldowns postpone alerts: a rule has sent `alert.triggered` of the same cause and at least the same severity
 * less than its cooldown ago. Only other alerts of the cause count, and all of these are closed.
 */
async function loadCooldownEnds(
  trx: Transaction,
  matched: readonly { alert: Alert; rules: readonly AlertRule[] }[],
): Promise<(alertId: string, ruleId: string) => Date | null> {
  const cooled = matched.filter(
    ({ alert, rules }) => alert.supersedes === null && rules.some(rule => rule.cooldownMinutes > 0),
  )
  if (cooled.length === 0) return () => null
  const rules = new Set(cooled.flatMap(item => item.rules))
  const longest = Math.max(...[...rules].map(({ cooldownMinutes }) => cooldownMinutes))
  const found = await rows<{ alertId: string; ruleId: string; end: Date }>(
    trx,
    `select raised.id as alert_id, r.id as rule_id,
            max(d.created_at) + make_interval(mins => r.cooldown_minutes) as end
       from unnest(cast(:alertIds as uuid[]), cast(:kinds as text[]), cast(:causes as text[]), cast(:severities as text[]))
         as raised (id, kind, cause, severity)
       join alerts a on a.company_id = :companyId and a.kind = raised.kind and a.cause = raised.cause and a.id <> raised.id
        and array_position(cast(:order as text[]), a.severity) >= array_position(cast(:order as text[]), raised.severity)
        and a.resolved_at > now() - make_interval(mins => :longest)
       join deliveries d on d.company_id = :companyId and d.alert_id = a.id and d.event_type = 'alert.triggered'
       join alert_rules r on r.company_id = :companyId and r.id = any(d.rule_ids) and r.id = any(cast(:ruleIds as uuid[]))
      where d.created_at > now() - make_interval(mins => r.cooldown_minutes) and ${IS_SENT}
        -- Prunes the partitions of earlier months, with a day for wrong clocks.
        and d.id >= :since
      group by raised.id, r.id`,
    {
      companyId: companyOf(trx),
      order: SEVERITIES,
      alertIds: cooled.map(({ alert }) => alert.id),
      kinds: cooled.map(({ alert }) => alert.kind),
      causes: cooled.map(({ alert }) => alert.cause),
      severities: cooled.map(({ alert }) => alert.severity),
      ruleIds: [...rules].map(({ id }) => id),
      longest,
      since: leastUuid(new Date(Date.now() - longest * 60_000 - DAY_MS)),
    },
  )
  const ends = new Map(found.map(({ alertId, ruleId, end }) => [`${alertId} ${ruleId}`, end]))
  return (alertId, ruleId) => ends.get(`${alertId} ${ruleId}`) ?? null
}

/** Condition in SQL: a delivery `d` is neither postponed nor was it stopped before its first attempt. */
export const IS_SENT = `not (d.fence = 0 and (d.status = 'stopped' or d.status = 'pending' and d.job_id is null))`

/** A destination that was notified of an alert but not yet of its end, or whose message is postponed. */
export interface NotifiedDestination {
  /** The alert that the caller gave. */
  newestId: string
  /** The alert of the message: `newestId`, or one that it superseded. */
  alertId: string
  destinationId: string
  ruleIds: string[]
  /** The newest such delivery. */
  deliveryId: string
  /** Whether a cooldown postpones it: the destination has not been notified. */
  isPostponed: boolean
  /** Whether an `alert.triggered` is on its way. */
  isPending: boolean
}

/** The alerts of the same failure that have messages of their own, by the ids of alerts. */
export type AlertTwins = ReadonlyMap<string, { type: string; cause: string }>

/**
 * The destinations that were notified of the open twins of alerts, or are being notified, as `<alert> <destination>`. A
 * message that a cooldown postpones, or that failed, does not count.
 */
export async function findNotifiedOfTwins(trx: Transaction, twins: AlertTwins): Promise<Set<string>> {
  if (twins.size === 0) return new Set()
  const entries = [...twins]
  const notified = await rows<{ id: string; destinationId: string }>(
    trx,
    `select distinct twin.id, d.destination_id
     from unnest(cast(:ids as uuid[]), cast(:types as text[]), cast(:causes as text[])) as twin (id, kind, cause)
     join alerts a on a.company_id = :companyId and a.kind = twin.kind and a.cause = twin.cause and a.${IS_OPEN}
     join deliveries d on d.company_id = :companyId and d.alert_id = a.id
      and d.event_type = 'alert.triggered' and d.status in ('pending', 'delivered') and ${IS_SENT}`,
    {
      companyId: companyOf(trx),
      ids: entries.map(([id]) => id),
      types: entries.map(([, { type }]) => type),
      causes: entries.map(([, { cause }]) => cause),
    },
  )
  return new Set(notified.map(({ id, destinationId }) => `${id} ${destinationId}`))
}

/**
 * The destinations that were notified of alerts, or of those that they superseded, but not yet of their ends. The caller
 * holds the locks of the alerts, under which messages are created and end.
 */
export async function findNotified(
  trx: Transaction,
  alerts: readonly Pick<Alert, 'id' | 'supersedes' | 'createdAt'>[],
): Promise<NotifiedDestination[]> {
  if (alerts.length === 0) return []
  const chain = await loadChains(trx, alerts)
  const oldest = chain.reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), Infinity)
  const since = leastUuid(new Date(oldest - DAY_MS))
  await lockTriggeredMessages(trx, chain, since)
  return rows<NotifiedDestination>(
    trx,
    // Reads messages once, by the index on alerts. Without statistics, as in the minute after thousands were created,
    // PostgreSQL plans a second look for the ends as a loop over all of them.
    `select distinct on (newest_id, alert_id, destination_id) newest_id, alert_id, destination_id, rule_ids,
            id as delivery_id, is_postponed, is_pending
       from (select newest_id, d.alert_id, d.destination_id, d.rule_ids, d.id, d.event_type, d.status,
                    not ${IS_SENT} as is_postponed,
                    bool_or(d.event_type = 'alert.triggered' and d.status = 'pending') over message as is_pending,
                    bool_or(d.event_type = 'alert.resolved') over message as has_end
               from unnest(cast(:newestIds as uuid[]), cast(:ids as uuid[])) as chain (newest_id, id)
               join deliveries d on d.company_id = :companyId and d.alert_id = chain.id and d.id >= :since
                -- Messages about incidents end with these.
                and d.incident_id is null
             window message as (partition by newest_id, d.alert_id, d.destination_id)) d
      where event_type = 'alert.triggered' and not has_end and (not is_postponed or status = 'pending')
      order by newest_id, alert_id, destination_id, id desc`,
    {
      companyId: companyOf(trx),
      newestIds: chain.map(({ newestId }) => newestId),
      ids: chain.map(({ id }) => id),
      since,
    },
  )
}

/** An alert, or one that it superseded, directly or indirectly. */
interface SupersessionLink {
  newestId: string
  id: string
  createdAt: Date
}

async function loadChains(
  trx: Transaction,
  alerts: readonly Pick<Alert, 'id' | 'supersedes' | 'createdAt'>[],
): Promise<SupersessionLink[]> {
  const newest = alerts.map(({ id, createdAt }) => ({ newestId: id, id, createdAt }))
  const successors = alerts.filter(({ supersedes }) => supersedes !== null)
  if (successors.length === 0) return newest
  const older = await rows<SupersessionLink>(
    trx,
    `with recursive chain as (
       select newest_id, id as supersedes, null::uuid as id, null::timestamptz as created_at
         from unnest(cast(:newestIds as uuid[]), cast(:ids as uuid[])) as successors (newest_id, id)
       union
       select newest_id, a.supersedes, a.id, a.created_at from chain
         join alerts a on a.company_id = :companyId and a.id = chain.supersedes)
     select newest_id, id, created_at from chain where id is not null`,
    {
      companyId: companyOf(trx),
      newestIds: successors.map(({ id }) => id),
      ids: successors.map(({ supersedes }) => supersedes),
    },
  )
  return [...newest, ...older]
}

/**
 * Locks the `alert.triggered` messages of the older alerts of a chain. Those alerts are not locked, so an attempt could end,
 * or a redelivery begin, without seeing the end of the chain. Lock order: messages come after all alerts, while the older
 * alerts would have come before the newest ones, which are locked already.
 */
async function lockTriggeredMessages(trx: Transaction, chain: readonly SupersessionLink[], since: string) {
  const older = chain.filter(({ newestId, id }) => newestId !== id).map(({ id }) => id)
  if (older.length > 0) await lockFirstMessages(trx, older, since)
}
