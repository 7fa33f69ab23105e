import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { pagination, type Page } from '../../../server/http/page.ts'
import { SEVERITIES, type BrokenClause, type LookUps, type Severity } from '../api.ts'
import type { Deps } from '../deps.ts'
import { Alert, Destination, NOT_DEMO, type AlertRule } from '../models.ts'
import { kindOf } from '../kinds.ts'
import { presentAlert, readSurroundings } from '../present.ts'
import { matchesRule, namesOf } from './recipients.ts'
import { loadOwnerMatch, resolveRuleOwners } from './rule-owners.ts'
import { applyRuleInput, findRule, requireKnownTargets, type RuleInput } from './rules.ts'

/** A stored rule with changes, or a rule that is not stored yet. */
export interface PreviewInput extends Page, RuleInput {
  rule_id?: string
  days_back?: number
  lookback_days?: number
}

type PreviewedRule = Pick<
  AlertRule,
  | 'eventTypes'
  | 'severities'
  | 'assetIds'
  | 'tagFilterMode'
  | 'tagFilterTags'
  | 'owners'
  | 'destinationIds'
  | 'cooldownMinutes'
  | 'isActive'
>

/** Matches every alert. */
const OPEN_RULE: PreviewedRule = {
  eventTypes: null,
  severities: null,
  assetIds: null,
  tagFilterMode: null,
  tagFilterTags: null,
  owners: null,
  destinationIds: [],
  cooldownMinutes: 0,
  isActive: true,
}

/** The fields of a past alert that rules read. */
type PastAlert = Pick<
  Alert,
  'id' | 'kind' | 'cause' | 'severity' | 'assetId' | 'sourceId' | 'createdAt' | 'resolvedAt' | 'supersedes'
> & {
  tags: string[]
  /** Those that its details name. */
  contracts: BrokenClause[] | null
  /** `created_at` in full precision, the cursor of the next chunk. */
  cursor: string
}

/** Sent at once, sent when the cooldown ended, or never, since the alert was over before. */
type PreviewOutcome = 'told' | 'postponed' | 'held_back'

interface PreviewedAlert extends Pick<Alert, 'id' | 'kind' | 'severity'> {
  outcome: PreviewOutcome
}

const CHUNK_ROWS = 5_000
const DEFAULT_DAYS = 7
const HOURS_PER_DAY = 24
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/**
 * Lists which alerts of the past days a rule would have sent, postponed or held back, and to which destinations. The rule
 * counts as active and as the only one; snoozes are ignored.
 * @throws 404 for a rule, a destination or an asset that does not exist, 400 for a tag mode without tags
 */
export async function previewRule(deps: Deps, trx: Transaction, input: PreviewInput) {
  const { rule_id: ruleId, days_back, lookback_days, limit, offset, ...given } = input
  const daysBack = days_back ?? lookback_days ?? DEFAULT_DAYS
  const stored = ruleId === undefined ? undefined : await findRule(trx, ruleId)
  await requireKnownTargets(deps.lookUps, trx, given, stored)
  const fields = await resolveRuleOwners(deps.lookUps, trx, given, stored)
  const rule: PreviewedRule = {
    ...applyRuleInput<PreviewedRule>(stored ?? OPEN_RULE, fields),
    isActive: true,
  }
  const until = new Date()
  const since = new Date(until.getTime() - daysBack * DAY_MS)
  const previewed = await classifyPastAlerts(deps, trx, rule, since)
  const count = (outcome: PreviewOutcome) => previewed.filter(each => each.outcome === outcome).length
  const [told, postponed] = [count('told'), count('postponed')]
  const sent = told + postponed
  const destinations = await Destination.query(trx)
    .findByIds(rule.destinationIds)
    .whereNull('deletedAt')
    .orderBy('id')
  const page = previewed.toReversed().slice(offset, offset + limit)
  const alerts = await loadPreviewed(trx, page)
  const surroundings = await readSurroundings(
    trx,
    alerts.map(({ alert }) => alert),
  )
  return {
    since,
    until,
    lookback_hours: daysBack * HOURS_PER_DAY,
    alerts_would_match: previewed.length,
    alerts_by_type: countBy(previewed, ({ kind }) => kind),
    alerts_by_severity: countBy(previewed, ({ severity }) => severity),
    sample_alerts: alerts.map(({ alert: { id, title, severity, createdAt, event } }) => ({
      id,
      message: title,
      severity,
      triggered_at: createdAt,
      asset_name: event.asset.qualified_name,
    })),
    recommendation: recommend(previewed.length, sent, daysBack),
    matched: previewed.length,
    told,
    postponed,
    held_back: count('held_back'),
    messages: sent * destinations.filter(({ isActive }) => isActive).length,
    destinations: destinations.map(({ id, name, destinationType, isActive }) => ({
      id,
      name,
      destination_type: destinationType,
      is_active: isActive,
      messages: isActive ? sent : 0,
    })),
    alerts: alerts.map(({ alert, outcome }) => ({ ...presentAlert(deps, alert, surroundings), outcome })),
    pagination: pagination(previewed.length, { limit, offset }),
  }
}

/**
 * Replays past alerts, oldest first. It starts two cooldowns earlier, since the first alerts may be postponed by earlier
 * ones, which may have been postponed themselves.
 */
async function classifyPastAlerts(deps: Deps, trx: Transaction, rule: PreviewedRule, since: Date) {
  const cooldownMs = rule.cooldownMinutes * MINUTE_MS
  // When the rule last sent a message of each cause, by severity.
  const sentAt = new Map<string, Map<Severity, number>>()
  const previewed: PreviewedAlert[] = []
  for await (const alert of readPastAlerts(
    deps.lookUps,
    trx,
    rule,
    new Date(since.getTime() - 2 * cooldownMs),
  )) {
    const matched = { ...alert, event: { asset: { tags: alert.tags } } }
    const kind = kindOf(deps.kinds, alert.kind)
    const names = namesOf(deps.lookUps, kind, { contracts: alert.contracts })
    if (!matchesRule({ ...rule, owners: null }, matched, kind, { isOwned: () => true, names })) continue
    const cause = `${alert.kind} ${alert.cause}`
    const sent = sentAt.get(cause) ?? new Map<Severity, number>()
    const at = alert.createdAt.getTime()
    const resolvedAt = alert.resolvedAt?.getTime() ?? Infinity
    const sendAt = alert.supersedes === null ? cooldownMs + lastSentAt(sent, alert.severity) : at
    const outcome = sendAt <= at ? 'told' : sendAt < resolvedAt ? 'postponed' : 'held_back'
    if (outcome !== 'held_back') sentAt.set(cause, sent.set(alert.severity, Math.max(at, sendAt)))
    if (at >= since.getTime())
      previewed.push({ id: alert.id, kind: alert.kind, severity: alert.severity, outcome })
  }
  return previewed
}

/** When a message of at least this severity was last sent; -Infinity if never. */
function lastSentAt(sent: ReadonlyMap<Severity, number>, severity: Severity): number {
  const atLeast = SEVERITIES.slice(SEVERITIES.indexOf(severity))
  return Math.max(...atLeast.map(each => sent.get(each) ?? -Infinity))
}

/** The alerts of the rule's types, severities and owners since a time, oldest first, without demo alerts. */
async function* readPastAlerts(
  lookUps: Partial<LookUps>,
  trx: Transaction,
  rule: PreviewedRule,
  since: Date,
) {
  let after = { cursor: since.toISOString(), id: '00000000-0000-0000-0000-000000000000' }
  for (;;) {
    const chunk = await rows<PastAlert>(trx, PAST_ALERTS, {
      companyId: companyOf(trx),
      ...after,
      kinds: rule.eventTypes,
      contractKind: lookUps.contracts?.alertKind ?? null,
      severities: rule.severities,
      most: CHUNK_ROWS,
    })
    const isOwned = await loadOwnerMatch(lookUps, trx, [rule], chunk)
    yield* chunk.filter(alert => isOwned(rule, alert))
    const last = chunk.at(-1)
    if (!last || chunk.length < CHUNK_ROWS) return
    after = { cursor: last.cursor, id: last.id }
  }
}

const PAST_ALERTS = `
  select id, kind, cause, severity, asset_id, source_id, created_at, resolved_at, supersedes,
         cast(created_at as text) as cursor,
         array(select jsonb_array_elements_text(event #> '{asset,tags}')) as tags,
         event #> '{details,contracts}' as contracts
    from alerts
   where company_id = :companyId and (created_at, id) > (cast(:cursor as timestamptz), cast(:id as uuid))
     and ${NOT_DEMO}
     and (cast(:kinds as text[]) is null or kind = any(:kinds)
       or :contractKind = any(:kinds) and event #> '{details,contracts}' is not null)
     and (cast(:severities as text[]) is null or severity = any(:severities))
   order by created_at, id limit :most`

function countBy(previewed: readonly PreviewedAlert[], keyOf: (each: PreviewedAlert) => string) {
  const groups = Map.groupBy(previewed, keyOf)
  return Object.fromEntries([...groups].map(([key, alerts]) => [key, alerts.length]))
}

/** More messages a day than this are too many to read. */
const MAX_DAILY_MESSAGES = 20

function recommend(matched: number, sent: number, days: number): string {
  if (matched === 0)
    return 'No alert of this time matches: widen the filters, or look further back, to see what the rule selects'
  const perDay = Number((sent / days).toPrecision(2))
  const rate = `${sent} of ${matched} alerts would have been sent, ${perDay} a day`
  return perDay > MAX_DAILY_MESSAGES
    ? `${rate}: narrow the filters or give the rule a longer cooldown_minutes`
    : rate
}

async function loadPreviewed(trx: Transaction, page: readonly PreviewedAlert[]) {
  const alerts = await Alert.query(trx).findByIds(page.map(({ id }) => id))
  return page.flatMap(({ id, outcome }) => {
    const alert = alerts.find(each => each.id === id)
    return alert ? [{ alert, outcome }] : []
  })
}
