import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { leastUuid } from '../../../server/database/months.ts'
import { SEVERITIES } from '../api.ts'
import { Destination, AlertRule, type Alert } from '../models.ts'
import { lockFirstMessages } from '../locks.ts'

/** For clocks that are wrong: ids of deliveries have the time of the process that made them. */
const DAY_MS = 86_400_000

/** A destination that should be notified of an alert, with the rules that ask for it. */
export interface Recipient {
  destination: Destination
  ruleIds: string[]
  /** When the first of the cooldowns ends that hold the message back; null when none does. */
  postponedUntil: Date | null
}

/**
 * The destinations that should be notified that each alert began, in the order of the alerts. Without a rule in the
 * company, every active destination is notified of warnings and critical alerts. A rule in its cooldown for a cause
 * postpones the message, unless the alert is worse than what the rule sent, or replaced a lesser one.
 * @param options `ignoresCooldowns` if nothing is to be postponed
 */
export async function findRecipients(
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
  const asked = alerts.map(alert => ({ alert, rules: rules.filter(rule => matchesRule(rule, alert)) }))
  const endOf = options.ignoresCooldowns ? () => null : await loadCooldownEnds(trx, asked)
  return asked.map(({ alert, rules: matching }) =>
    active.filter(isOther(alert)).flatMap(destination => {
      const asking = matching
        .filter(({ destinationIds }) => destinationIds.includes(destination.id))
        .map(({ id }) => ({ id, end: endOf(alert.id, id) }))
      const free = asking.filter(({ end }) => end === null)
      const [earliest] = asking
        .flatMap(({ end }) => end ?? [])
        .toSorted((one, other) => one.getTime() - other.getTime())
      if (asking.length === 0) return []
      const ruleIds = (free.length > 0 ? free : asking).map(({ id }) => id)
      return [{ destination, ruleIds, postponedUntil: free.length > 0 ? null : (earliest ?? null) }]
    }),
  )
}

/** A destination is not notified of itself: that it was switched off, others should hear. */
function isOther({ kind, cause }: Pick<Alert, 'kind' | 'cause'>): (destination: Destination) => boolean {
  return ({ id }) => kind !== 'destination_disabled' || id !== cause
}

/** Whether a rule asks for an alert: every filter that it has lets the alert through. */
export function matchesRule(
  rule: Pick<
    AlertRule,
    'isActive' | 'eventTypes' | 'severities' | 'assetIds' | 'tagFilterMode' | 'tagFilterTags'
  >,
  alert: Pick<Alert, 'kind' | 'severity' | 'assetId' | 'sourceId'> & { event: { asset: { tags: string[] } } },
): boolean {
  const { eventTypes, severities, assetIds } = rule
  // News of a finished discovery comes with each one: only who names it wants it.
  const wantsType = eventTypes?.length ? eventTypes.includes(alert.kind) : alert.kind !== 'discovery_complete'
  return (
    rule.isActive &&
    wantsType &&
    (!severities?.length || severities.includes(alert.severity)) &&
    // Empty: the assets that it named were removed.
    (!assetIds || assetIds.some(id => id === alert.assetId || id === alert.sourceId)) &&
    matchesTags(rule, alert.event.asset.tags)
  )
}

function matchesTags(
  rule: Pick<AlertRule, 'tagFilterMode' | 'tagFilterTags'>,
  tags: readonly string[],
): boolean {
  const wanted = rule.tagFilterTags
  if (!wanted?.length) return true
  return rule.tagFilterMode === 'all'
    ? wanted.every(tag => tags.includes(tag))
    : wanted.some(tag => tags.includes(tag))
}

/**
 * Until when cooldowns hold alerts back: a rule has sent `alert.triggered` of the same cause, of at least the same
 * severity, less than its cooldown ago. Only other alerts of the cause count, and these were all closed since.
 */
async function loadCooldownEnds(
  trx: Transaction,
  asked: readonly { alert: Alert; rules: readonly AlertRule[] }[],
): Promise<(alertId: string, ruleId: string) => Date | null> {
  const cooled = asked.filter(
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
        -- By which the months before are left alone; with a day for a clock that is wrong.
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

/** Whether a delivery `d` was attempted or will be: it is not postponed, nor was it stopped before its first attempt. */
const IS_SENT = `not (d.fence = 0 and (d.status = 'stopped' or d.status = 'pending' and d.job_id is null))`

/** What a destination was notified of and not yet of its end, or what waits for the end of a cooldown. */
export interface NotifiedDestination {
  /** The alert that was asked for. */
  newestId: string
  /** The alert of the message: the same one, or one that it superseded. */
  alertId: string
  destinationId: string
  ruleIds: string[]
  /** The newest such delivery. */
  deliveryId: string
  /** Whether it waits for the end of a cooldown: the destination has not been notified. */
  isPostponed: boolean
  /** Whether a message that the alert began is on its way. */
  isPending: boolean
}

/**
 * Which destinations were notified that alerts, or those that they superseded, began, and not yet that they ended. Asked
 * under the locks of the alerts, under which messages begin and end.
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
    `select distinct on (newest_id, d.alert_id, d.destination_id) newest_id, d.alert_id, d.destination_id, d.rule_ids,
            d.id as delivery_id, not ${IS_SENT} as is_postponed,
            bool_or(d.status = 'pending') over (partition by newest_id, d.alert_id, d.destination_id) as is_pending
       from unnest(cast(:newestIds as uuid[]), cast(:ids as uuid[])) as chain (newest_id, id)
       join deliveries d on d.company_id = :companyId and d.alert_id = chain.id and d.id >= :since
      where d.event_type = 'alert.triggered' and (${IS_SENT} or d.status = 'pending')
        and not exists (select from deliveries e where e.company_id = :companyId and e.alert_id = d.alert_id and e.id >= :since
                           and e.destination_id = d.destination_id and e.event_type = 'alert.resolved')
      order by newest_id, d.alert_id, d.destination_id, d.id desc`,
    {
      companyId: companyOf(trx),
      newestIds: chain.map(({ newestId }) => newestId),
      ids: chain.map(({ id }) => id),
      since,
    },
  )
}

/** An alert, or one that it superseded, directly or through others. */
interface ChainLink {
  newestId: string
  id: string
  createdAt: Date
}

/** Alerts with those that they superseded. */
async function loadChains(
  trx: Transaction,
  alerts: readonly Pick<Alert, 'id' | 'supersedes' | 'createdAt'>[],
): Promise<ChainLink[]> {
  const newest = alerts.map(({ id, createdAt }) => ({ newestId: id, id, createdAt }))
  const successors = alerts.filter(({ supersedes }) => supersedes !== null)
  if (successors.length === 0) return newest
  const older = await rows<ChainLink>(
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
 * Locks the messages that older alerts of a chain began. Their alerts are not locked, so an attempt could end, or a
 * redelivery begin, that does not see the end of the chain. Messages come after all alerts in the order of locks; the
 * rows of the older alerts do not, since the newest ones are held already.
 */
async function lockTriggeredMessages(
  trx: Transaction,
  chain: readonly ChainLink[],
  since: string,
): Promise<void> {
  const older = chain.filter(({ newestId, id }) => newestId !== id)
  if (older.length === 0) return
  await lockFirstMessages(
    trx,
    older.map(({ id }) => id),
    since,
  )
}
