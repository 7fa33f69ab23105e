import { rows, type Transaction } from '../../server/database.ts'
import { Destination, AlertRule, type Alert, type MessageType } from './models.ts'

/** A destination that should hear of an alert, with the rules that say so. */
export interface Recipient {
  destination: Destination
  ruleIds: string[]
}

/**
 * Whom to tell. Without a rule in the company, every active destination hears of warnings and critical alerts.
 * A rule in its cooldown for this cause asks for no `alert.triggered`; `alert.resolved` it always asks for.
 */
export async function recipients(trx: Transaction, alert: Alert, type: MessageType): Promise<Recipient[]> {
  const active = await Destination.query(trx).where({ isActive: true }).whereNull('deletedAt').orderBy('id')
  if (active.length === 0) return []
  const rules = await AlertRule.query(trx)
  if (rules.length === 0) {
    return alert.severity === 'info' ? [] : active.map(destination => ({ destination, ruleIds: [] }))
  }
  const matching = rules.filter(rule => matches(rule, alert))
  const quiet = type === 'alert.triggered' ? await coolingDown(trx, matching, alert) : new Set<string>()
  const asking = matching.filter(rule => !quiet.has(rule.id))
  return active
    .map(destination => ({
      destination,
      ruleIds: asking.filter(rule => rule.destinationIds.includes(destination.id)).map(rule => rule.id),
    }))
    .filter(({ ruleIds }) => ruleIds.length > 0)
}

/** Whether a rule asks for an alert: every filter that it has lets the alert through. */
export function matches(
  rule: Pick<
    AlertRule,
    'isActive' | 'eventTypes' | 'severities' | 'assetIds' | 'tagFilterMode' | 'tagFilterTags'
  >,
  alert: Pick<Alert, 'kind' | 'severity' | 'assetId' | 'sourceId' | 'event'>,
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

async function coolingDown(trx: Transaction, rules: AlertRule[], alert: Alert): Promise<Set<string>> {
  const cooled = rules.filter(rule => rule.cooldownMinutes > 0)
  if (cooled.length === 0) return new Set()
  const found = await rows<{ id: string }>(
    trx,
    `select r.id from alert_rules r
      where r.company_id = :companyId and r.id = any(:ids) and exists (
        select 1 from deliveries d join alerts a on a.id = d.alert_id
         where a.company_id = r.company_id and a.kind = :kind and a.cause = :cause
           and d.event_type = 'alert.triggered' and r.id = any(d.rule_ids)
           and d.created_at > now() - make_interval(mins => r.cooldown_minutes))`,
    { companyId: alert.companyId, ids: cooled.map(rule => rule.id), kind: alert.kind, cause: alert.cause },
  )
  return new Set(found.map(({ id }) => id))
}
