import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { leastUuid } from '../../../server/database/months.ts'
import { SEVERITIES, type AlertKind, type LookUps } from '../api.ts'
import type { Deps } from '../deps.ts'
import { contractsIn } from '../named-contracts.ts'
import { destinationDisabled, isGrouped, kindOf } from '../kinds.ts'
import { Destination, AlertRule, type Alert } from '../models.ts'
import { IS_SENT } from '../messages/notified.ts'
import { loadMutes } from '../mute/muted.ts'
import { loadOwnerMatch, type OwnerMatch } from './rule-owners.ts'

/** Tolerates wrong clocks: the id of a delivery holds the time of the process that created it. */
const DAY_MS = 86_400_000

/** A destination that should be notified of an alert, with the rules that match. */
export interface Recipient {
  alert: Alert
  destination: Destination
  ruleIds: string[]
  /** Those of them that notify others if no person takes the alert. */
  escalatingIds: string[]
  /** When the first of the cooldowns that postpone the message ends, or later its mute windows; null if none does. */
  postponedUntil: Date | null
  /** Whether mute windows postpone it. */
  isMuted: boolean
  /** Whether it is notified of the incident of the alert in place of the alert. */
  takesIncident: boolean
}

/** What a message to a recipient is made of. */
export type MessageRecipient = Pick<Recipient, 'alert' | 'destination' | 'ruleIds' | 'postponedUntil'>

/**
 * The destinations to notify of each alert, in the order of the alerts. If the company has no rule, every active
 * destination is notified of warnings and critical alerts. A rule in its cooldown for a cause postpones the message, unless
 * the alert is worse than what the rule sent, or replaced a lesser one. A mute window postpones every message.
 */
export async function findRecipients(
  { kinds, lookUps }: Pick<Deps, 'kinds' | 'lookUps'>,
  trx: Transaction,
  alerts: readonly Alert[],
  options: { ignoresCooldowns?: boolean } = {},
): Promise<Recipient[]> {
  if (alerts.length === 0) return []
  const { active, hasMutes } = await loadActive(trx)
  if (active.length === 0) return []
  const rules = await AlertRule.query(trx)
  const isOwned = await loadOwnerMatch(lookUps, trx, rules, alerts)
  const matched = alerts.map(alert => {
    const kind = kindOf(kinds, alert.kind)
    const matching = { isOwned, names: namesOf(lookUps, kind, alert.event.details) }
    return { alert, rules: rules.filter(rule => matchesRule(rule, alert, kind, matching)) }
  })
  const endOf = options.ignoresCooldowns ? () => null : await loadCooldownEnds(trx, matched)
  const mutedUntil = hasMutes ? await loadMutes(trx) : () => null
  return matched.flatMap(({ alert, rules: matching }) => {
    const muteEnd = mutedUntil(alert)
    return active.filter(isOther(alert)).flatMap(destination => {
      const takesIncident = destination.messages === 'incidents' && isGrouped(kinds, alert)
      const isMuted = muteEnd !== null
      const recipient = { alert, destination, takesIncident, isMuted, postponedUntil: muteEnd }
      const byRules = (ruleIds: string[]) => ({
        ...{ ...recipient, ruleIds },
        escalatingIds: matching.flatMap(({ id, escalation }) =>
          escalation?.length && ruleIds.includes(id) ? [id] : [],
        ),
      })
      if (rules.length === 0) return alert.severity === 'info' ? [] : [byRules([])]
      const cooldowns = matching
        .filter(({ destinationIds }) => destinationIds.includes(destination.id))
        .map(({ id }) => ({ id, end: endOf(alert.id, id) }))
      if (cooldowns.length === 0) return []
      const free = cooldowns.filter(({ end }) => end === null)
      if (free.length > 0) return [byRules(free.map(({ id }) => id))]
      const [earliest = null] = cooldowns
        .flatMap(({ end }) => end ?? [])
        .toSorted((one, other) => one.getTime() - other.getTime())
      const postponedUntil = muteEnd && earliest && muteEnd > earliest ? muteEnd : earliest
      return [{ ...byRules(cooldowns.map(({ id }) => id)), postponedUntil }]
    })
  })
}

/** The active destinations, and whether there is any mute window: most companies have none, and spare a statement. */
async function loadActive(trx: Transaction): Promise<{ active: Destination[]; hasMutes: boolean }> {
  const active = await Destination.query(trx)
    .select('destinations.*', trx.raw(`exists (${ACTIVE_MUTES}) as has_mutes`, [companyOf(trx)]))
    .where({ isActive: true })
    .whereNull('deletedAt')
    .orderBy('id')
    .castTo<(Destination & { hasMutes: boolean })[]>()
  return { active, hasMutes: active.some(({ hasMutes }) => hasMutes) }
}

const ACTIVE_MUTES = 'select from mute_windows where mute_windows.company_id = ? and mute_windows.is_active'

/** A destination is not notified that it was itself switched off. */
function isOther({ kind, cause }: Pick<Alert, 'kind' | 'cause'>): (destination: Destination) => boolean {
  return ({ id }) => kind !== destinationDisabled.name || id !== cause
}

/** The kinds that rules may take an alert for: its own and, where it names a contract that relies on its check, that of contracts. */
export function namesOf(
  { contracts }: Partial<LookUps>,
  { name }: AlertKind,
  details: object,
): readonly string[] {
  return contracts && contractsIn(details).length > 0 ? [name, contracts.alertKind] : [name]
}

/** How rules are matched. */
interface RuleMatching {
  isOwned: OwnerMatch
  /** As `namesOf` gives them. */
  names: readonly string[]
}

/** Whether all filters of a rule match an alert of a kind. */
export function matchesRule(
  rule: Pick<
    AlertRule,
    'isActive' | 'eventTypes' | 'severities' | 'assetIds' | 'tagFilterMode' | 'tagFilterTags' | 'owners'
  >,
  alert: Pick<Alert, 'severity' | 'assetId' | 'sourceId'> & { event: { asset: { tags: string[] } } },
  { isRoutine }: AlertKind,
  { isOwned, names }: RuleMatching,
): boolean {
  const { eventTypes, severities, assetIds } = rule
  return (
    rule.isActive &&
    (eventTypes?.length ? names.some(name => eventTypes.includes(name)) : !isRoutine) &&
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
  const cooldowns = await rows<{ alertId: string; ruleId: string; end: Date }>(trx, COOLDOWN_ENDS, {
    companyId: companyOf(trx),
    order: SEVERITIES,
    alertIds: cooled.map(({ alert }) => alert.id),
    kinds: cooled.map(({ alert }) => alert.kind),
    causes: cooled.map(({ alert }) => alert.cause),
    severities: cooled.map(({ alert }) => alert.severity),
    ruleIds: [...rules].map(({ id }) => id),
    longest,
    since: leastUuid(new Date(Date.now() - longest * 60_000 - DAY_MS)),
  })
  const ends = new Map(cooldowns.map(({ alertId, ruleId, end }) => [`${alertId} ${ruleId}`, end]))
  return (alertId, ruleId) => ends.get(`${alertId} ${ruleId}`) ?? null
}

const COOLDOWN_ENDS = `
  select raised.id as alert_id, r.id as rule_id,
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
 group by raised.id, r.id`
