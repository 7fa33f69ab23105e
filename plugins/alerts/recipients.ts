import { companyOf, rows, type Transaction } from '../../server/database.ts'
import { leastUuid } from '../../server/months.ts'
import type { MessageType } from './destination.ts'
import { Destination, AlertRule, type Alert } from './models.ts'

/** A destination that should hear of an alert, with the rules that say so. */
export interface Recipient {
  destination: Destination
  ruleIds: string[]
}

/**
 * Whom to tell of each alert, in the order of the alerts. Without a rule in the company, every active destination
 * hears of warnings and critical alerts. A rule in its cooldown for a cause asks for no `alert.triggered` of it;
 * `alert.resolved` it always asks for.
 */
export async function recipients(
  trx: Transaction,
  alerts: readonly Alert[],
  type: MessageType,
): Promise<Recipient[][]> {
  if (alerts.length === 0) return []
  const active = await Destination.query(trx).where({ isActive: true }).whereNull('deletedAt').orderBy('id')
  if (active.length === 0) return []
  const rules = await AlertRule.query(trx)
  if (rules.length === 0) {
    return alerts.map(alert =>
      alert.severity === 'info'
        ? []
        : active.filter(isOther(alert)).map(destination => ({ destination, ruleIds: [] })),
    )
  }
  const asked = alerts.map(alert => ({ alert, rules: rules.filter(rule => matches(rule, alert)) }))
  const isQuiet = type === 'alert.triggered' ? await coolingDown(trx, asked) : () => false
  return asked.map(({ alert, rules: matching }) => {
    const asking = matching.filter(rule => !isQuiet(rule, alert))
    return active
      .filter(isOther(alert))
      .map(destination => ({
        destination,
        ruleIds: asking.filter(rule => rule.destinationIds.includes(destination.id)).map(rule => rule.id),
      }))
      .filter(({ ruleIds }) => ruleIds.length > 0)
  })
}

/** A destination is not told of itself: that it was switched off, others should hear. */
function isOther({ kind, cause }: Pick<Alert, 'kind' | 'cause'>): (destination: Destination) => boolean {
  return ({ id }) => kind !== 'destination_disabled' || id !== cause
}

/** Whether a rule asks for an alert: every filter that it has lets the alert through. */
export function matches(
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
    (!assetIds?.length || assetIds.some(id => id === alert.assetId || id === alert.sourceId)) &&
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
 * Which rules have told of which causes less than their cooldown ago. A first message is stored with its alert, so
 * that an alert older than the longest cooldown need not be looked at.
 */
async function coolingDown(
  trx: Transaction,
  asked: readonly { alert: Alert; rules: readonly AlertRule[] }[],
): Promise<(rule: AlertRule, alert: Alert) => boolean> {
  const cooled = asked.filter(({ rules }) => rules.some(rule => rule.cooldownMinutes > 0))
  if (cooled.length === 0) return () => false
  const key = (ruleId: string, { kind, cause }: Pick<Alert, 'kind' | 'cause'>) => `${ruleId} ${kind} ${cause}`
  const rules = new Set(cooled.flatMap(item => item.rules))
  const longest = Math.max(...[...rules].map(({ cooldownMinutes }) => cooldownMinutes))
  const found = await rows<Pick<Alert, 'kind' | 'cause'> & { ruleId: string }>(
    trx,
    `select distinct r.id as rule_id, a.kind, a.cause
       from unnest(cast(:kinds as text[]), cast(:causes as text[])) as raised (kind, cause)
       join alerts a on a.company_id = :companyId and a.kind = raised.kind and a.cause = raised.cause
       join deliveries d on d.company_id = :companyId and d.alert_id = a.id and d.event_type = 'alert.triggered'
       join alert_rules r on r.company_id = :companyId and r.id = any(d.rule_ids) and r.id = any(cast(:ids as uuid[]))
      where a.created_at > now() - make_interval(mins => :longest)
        and d.created_at > now() - make_interval(mins => r.cooldown_minutes)
        -- By which the months before are left alone; with a day for a clock that is wrong.
        and d.id >= :since`,
    {
      companyId: companyOf(trx),
      kinds: cooled.map(({ alert }) => alert.kind),
      causes: cooled.map(({ alert }) => alert.cause),
      ids: [...rules].map(({ id }) => id),
      longest,
      since: leastUuid(new Date(Date.now() - longest * 60_000 - 86_400_000)),
    },
  )
  const quiet = new Set(found.map(({ ruleId, ...cause }) => key(ruleId, cause)))
  return (rule, alert) => quiet.has(key(rule.id, alert))
}
