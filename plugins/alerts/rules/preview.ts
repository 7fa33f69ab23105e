import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { pagination, type Page } from '../../../server/http/page.ts'
import { SEVERITIES, type Severity } from '../api.ts'
import { NOT_DEMO } from '../demo.ts'
import { Alert, Destination, type AlertRule } from '../models.ts'
import { presentAlert } from '../lifecycle/present.ts'
import { matchesRule } from './recipients.ts'
import { applyRuleInput, findRule, requireKnownTargets, type RuleInput } from './rules.ts'

/** What a rule would have done: a stored one, with what is given changed, or one that is not stored yet. */
export interface PreviewInput extends Page, RuleInput {
  rule_id?: string
  days_back: number
}

/** A rule as far as it decides what is told. */
type PreviewedRule = Pick<
  AlertRule,
  | 'eventTypes'
  | 'severities'
  | 'assetIds'
  | 'tagFilterMode'
  | 'tagFilterTags'
  | 'destinationIds'
  | 'cooldownMinutes'
  | 'isActive'
>

/** A rule that lets everything through. */
const OPEN_RULE: PreviewedRule = {
  eventTypes: null,
  severities: null,
  assetIds: null,
  tagFilterMode: null,
  tagFilterTags: null,
  destinationIds: [],
  cooldownMinutes: 0,
  isActive: true,
}

/** A past alert as far as rules look at it. */
type PastAlert = Pick<
  Alert,
  'id' | 'kind' | 'cause' | 'severity' | 'assetId' | 'sourceId' | 'createdAt' | 'resolvedAt' | 'supersedes'
> & {
  tags: string[]
  /** The time in all its digits, to go on from. */
  place: string
}

/**
 * What would have become of an alert that a rule asks for: sent at once, sent when the cooldown ended, or never, since
 * it was over before.
 */
type PreviewOutcome = 'told' | 'postponed' | 'held_back'

interface PreviewedAlert {
  id: string
  outcome: PreviewOutcome
}

/** Alerts that are read at a time, however many there are. */
const CHUNK_ROWS = 5_000
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/**
 * Which alerts of the past days a rule would have sent, which its cooldown would have postponed or held back, and to
 * which destinations. It is taken as switched on, and as the only rule; snoozes do not count.
 * @throws 404 for a rule, a destination or an asset that does not exist, 400 for a tag mode without tags
 */
export async function previewRule(server: Server, trx: Transaction, input: PreviewInput): Promise<object> {
  const { rule_id: ruleId, days_back: daysBack, limit, offset, ...fields } = input
  const stored = ruleId === undefined ? undefined : await findRule(trx, ruleId)
  await requireKnownTargets(server, trx, fields, stored)
  const rule: PreviewedRule = {
    ...applyRuleInput<PreviewedRule>(stored ?? OPEN_RULE, fields),
    isActive: true,
  }
  const until = new Date()
  const since = new Date(until.getTime() - daysBack * DAY_MS)
  const judged = await classifyPastAlerts(trx, rule, since)
  const count = (outcome: PreviewOutcome) => judged.filter(each => each.outcome === outcome).length
  const [told, postponed] = [count('told'), count('postponed')]
  const destinations = await Destination.query(trx)
    .findByIds(rule.destinationIds)
    .whereNull('deletedAt')
    .orderBy('id')
  const page = judged.toReversed().slice(offset, offset + limit)
  return {
    since,
    until,
    matched: judged.length,
    told,
    postponed,
    held_back: count('held_back'),
    // One for each alert and destination that is switched on.
    messages: (told + postponed) * destinations.filter(({ isActive }) => isActive).length,
    destinations: destinations.map(({ id, name, destinationType, isActive }) => ({
      id,
      name,
      destination_type: destinationType,
      is_active: isActive,
    })),
    alerts: await presentPreviewed(trx, page, server.config.baseUrl),
    pagination: pagination(judged.length, { limit, offset }),
  }
}

/**
 * Goes through past alerts, oldest first, as they would have come. It begins two cooldowns earlier, so that the first
 * ones may be held back by those before them, which may have been postponed themselves.
 */
async function classifyPastAlerts(
  trx: Transaction,
  rule: PreviewedRule,
  since: Date,
): Promise<PreviewedAlert[]> {
  const cooldown = rule.cooldownMinutes * MINUTE_MS
  // When the rule last sent of each cause, by severity.
  const sentAt = new Map<string, Map<Severity, number>>()
  const judged: PreviewedAlert[] = []
  for await (const alert of readPastAlerts(trx, rule, new Date(since.getTime() - 2 * cooldown))) {
    if (!matchesRule(rule, { ...alert, event: { asset: { tags: alert.tags } } })) continue
    const cause = `${alert.kind} ${alert.cause}`
    const sent = sentAt.get(cause) ?? new Map<Severity, number>()
    const at = alert.createdAt.getTime()
    const lasted = alert.resolvedAt?.getTime() ?? Infinity
    const free = alert.supersedes === null ? cooldown + lastSentAt(sent, alert.severity) : at
    const outcome = free <= at ? 'told' : free < lasted ? 'postponed' : 'held_back'
    if (outcome !== 'held_back') sentAt.set(cause, sent.set(alert.severity, Math.max(at, free)))
    if (at >= since.getTime()) judged.push({ id: alert.id, outcome })
  }
  return judged
}

/** When a message of at least a severity was last sent. */
function lastSentAt(sent: ReadonlyMap<Severity, number>, severity: Severity): number {
  const atLeast = SEVERITIES.slice(SEVERITIES.indexOf(severity))
  return Math.max(...atLeast.map(each => sent.get(each) ?? -Infinity))
}

/** Alerts since a moment, oldest first: those of the rule's types and severities, whatever else it asks; no demos. */
async function* readPastAlerts(
  trx: Transaction,
  rule: PreviewedRule,
  since: Date,
): AsyncGenerator<PastAlert> {
  let after = { place: since.toISOString(), id: '00000000-0000-0000-0000-000000000000' }
  for (;;) {
    const chunk = await rows<PastAlert>(
      trx,
      `select id, kind, cause, severity, asset_id, source_id, created_at, resolved_at, supersedes,
              cast(created_at as text) as place,
              array(select jsonb_array_elements_text(event #> '{asset,tags}')) as tags
         from alerts
        where company_id = :companyId and (created_at, id) > (cast(:place as timestamptz), cast(:id as uuid))
          and ${NOT_DEMO}
          and (cast(:kinds as text[]) is null or kind = any(:kinds))
          and (cast(:severities as text[]) is null or severity = any(:severities))
        order by created_at, id limit :most`,
      {
        companyId: companyOf(trx),
        ...after,
        kinds: rule.eventTypes,
        severities: rule.severities,
        most: CHUNK_ROWS,
      },
    )
    yield* chunk
    const last = chunk.at(-1)
    if (!last || chunk.length < CHUNK_ROWS) return
    after = { place: last.place, id: last.id }
  }
}

async function presentPreviewed(
  trx: Transaction,
  page: readonly PreviewedAlert[],
  baseUrl: string,
): Promise<object[]> {
  const alerts = await Alert.query(trx).findByIds(page.map(({ id }) => id))
  return page.flatMap(({ id, outcome }) => {
    const alert = alerts.find(each => each.id === id)
    return alert ? [{ ...presentAlert(alert, baseUrl), outcome }] : []
  })
}
