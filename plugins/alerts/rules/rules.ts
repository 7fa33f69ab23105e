import { raw } from 'objection'
import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import { fromApiNames, toApiNames } from '../../../server/http/fields.ts'
import { SEVERITIES, type LookUps, type Severity } from '../api.ts'
import { noSuchDestination } from '../destinations/destinations.ts'
import { AlertRule, Destination, type EscalationStep } from '../models.ts'
import { reviewPostponed } from '../delivery/postponed.ts'
import { LOCK_RULES, lockRule } from '../locks.ts'
import { resolveRuleOwners } from './rule-owners.ts'

export interface RuleInput {
  name?: string
  description?: string | null
  event_types?: string[] | null
  severities?: Severity[] | null
  asset_ids?: string[] | null
  tag_filter_mode?: 'any' | 'all' | null
  tag_filter_tags?: string[] | null
  owners?: string[] | null
  destination_ids?: string[]
  cooldown_minutes?: number
  escalation?: EscalationStep[] | null
  is_active?: boolean
  enabled?: boolean
  code_author_min_confidence?: number | null
  // Without effect of their own.
  is_notify_code_authors?: false
  rule_type?: string
  severity?: Severity
}

/** @throws 404 for a destination or an asset that does not exist, 400 for a tag mode without tags or an unknown owner */
export async function createRule(
  lookUps: Partial<LookUps>,
  trx: Transaction,
  given: RuleInput,
): Promise<AlertRule> {
  await requireKnownTargets(lookUps, trx, given)
  const input = await resolveRuleOwners(lookUps, trx, given)
  return AlertRule.query(trx)
    .insert({ id: v7(), ...withTagMode(ruleColumns(input), input) })
    .returning('*')
}

/** @throws 404 `NOT_FOUND` */
export async function findRule(trx: Transaction, id: string, lock = false): Promise<AlertRule> {
  const rule = await (lock ? lockRule(trx, id) : AlertRule.query(trx).findById(id))
  if (rule) return rule
  const message = 'There is no alert rule of this id: GET /api/v1/sdk/alerts/rules lists them'
  throw apiError('NOT_FOUND', message, { rule_id: id })
}

/**
 * Changes the given fields of a rule that the caller has locked; null removes a filter.
 * @throws as `createRule`, and 400 for an active rule without a destination, or whose assets or owners were
 *   all removed
 */
export async function changeRule(
  lookUps: Partial<LookUps>,
  trx: Transaction,
  rule: AlertRule,
  given: RuleInput,
): Promise<AlertRule> {
  const { id } = rule
  await requireKnownTargets(lookUps, trx, given, rule)
  const input = await resolveRuleOwners(lookUps, trx, given, rule)
  const { tagFilterMode, isActive, destinationIds, assetIds, owners } = applyRuleInput(rule, input)
  if (isActive && destinationIds.length === 0)
    throw invalidField('destination_ids', 'is empty: name a destination, or send is_active false')
  if (isActive && assetIds?.length === 0) {
    const problem = 'is empty since its assets were removed: name others, or send null for all assets'
    throw invalidField('asset_ids', problem)
  }
  if (isActive && owners?.length === 0)
    throw invalidField('owners', 'is empty since its owners were removed: name others, or send null for all')
  const [changed] = await AlertRule.query(trx)
    .where({ id })
    .patch({ ...ruleColumns(input), tagFilterMode, updatedAt: raw('now()') })
    .returning('*')
  // Without a cooldown it postponed nothing.
  if (rule.cooldownMinutes > 0) await reviewPostponed(trx, id)
  return changed ?? rule
}

/** The rule after a change; nothing is written. @throws 400 for a tag mode without tags */
export function applyRuleInput<Fields extends Partial<AlertRule>>(rule: Fields, input: RuleInput): Fields {
  return withTagMode({ ...rule, ...ruleColumns(input) }, input)
}

/** @returns the deleted rule. @throws 404 `NOT_FOUND` */
export async function deleteRule(trx: Transaction, id: string): Promise<AlertRule> {
  const rule = await findRule(trx, id, true)
  await AlertRule.query(trx).where({ id }).delete()
  if (rule.cooldownMinutes > 0) await reviewPostponed(trx, id)
  return rule
}

/** Takes removed assets out of rules, and of mute windows: one of which all are gone mutes nothing. */
export async function forgetAssets(trx: Transaction, assetIds: readonly string[]): Promise<void> {
  await forgetNamed(trx, 'asset_ids', 'uuid', assetIds)
  await rows(
    trx,
    `update mute_windows
        set asset_ids = array(select unnest(asset_ids) except select unnest(cast(:removed as uuid[])))
      where company_id = :companyId and asset_ids && cast(:removed as uuid[])`,
    { companyId: companyOf(trx), removed: [...assetIds] },
  )
}

export const forgetOwners = (trx: Transaction, owners: readonly string[]) =>
  forgetNamed(trx, 'owners', 'text', owners)

/** Takes what was removed out of a list of rules. A rule whose list is empty then is switched off. */
async function forgetNamed(
  trx: Transaction,
  column: 'asset_ids' | 'owners',
  type: 'uuid' | 'text',
  removed: readonly string[],
): Promise<void> {
  await rows(
    trx,
    `with naming as (
       select id, array(select unnest(${column}) except select unnest(cast(:removed as ${type}[]))) as others
         from alert_rules
        where company_id = :companyId and ${column} && cast(:removed as ${type}[])
        ${LOCK_RULES})
     update alert_rules r
        set ${column} = others, is_active = r.is_active and cardinality(others) > 0, updated_at = now()
       from naming n where r.company_id = :companyId and r.id = n.id`,
    { companyId: companyOf(trx), removed: [...removed] },
  )
}

/** The columns that a body sets. */
function ruleColumns(input: RuleInput): Partial<AlertRule> {
  const {
    enabled,
    is_notify_code_authors: _authors,
    rule_type: _type,
    severity: _severity,
    ...fields
  } = input
  return fromApiNames({ ...(enabled !== undefined && { is_active: enabled }), ...fields })
}

/** Sets the mode of tags, which defaults to `any`; without tags it is null. @throws 400 for a given mode without tags */
function withTagMode<Fields extends Partial<AlertRule>>(fields: Fields, input: RuleInput): Fields {
  if (fields.tagFilterTags?.length) return { ...fields, tagFilterMode: fields.tagFilterMode ?? 'any' }
  if (input.tag_filter_mode) {
    const problem = 'has no effect without tags: give tag_filter_tags too'
    throw invalidField('tag_filter_mode', problem)
  }
  return { ...fields, tagFilterMode: null }
}

/**
 * Checks added destinations and assets only: those that the rule names already may have been deleted, and a client may
 * send back what it read.
 * @throws 404 `DESTINATION_NOT_FOUND`, `ASSET_NOT_FOUND`
 */
export async function requireKnownTargets(
  lookUps: Partial<LookUps>,
  trx: Transaction,
  input: Pick<RuleInput, 'destination_ids' | 'asset_ids' | 'escalation'>,
  rule?: Pick<AlertRule, 'destinationIds' | 'assetIds'> & { escalation?: EscalationStep[] | null },
): Promise<void> {
  const added = (given: readonly string[] | null | undefined, former: readonly string[] | null | undefined) =>
    (given ?? []).filter(id => !former?.includes(id))
  const stepIds = (steps: EscalationStep[] | null | undefined) =>
    (steps ?? []).flatMap(({ destination_ids: ids }) => ids)
  const former = [...(rule?.destinationIds ?? []), ...stepIds(rule?.escalation)]
  const destinationIds = added([...(input.destination_ids ?? []), ...stepIds(input.escalation)], former)
  const destinations = await Destination.query(trx)
    .select('id')
    .whereIn('id', destinationIds)
    .whereNull('deletedAt')
  const noDestination = destinationIds.find(id => !destinations.some(destination => destination.id === id))
  if (noDestination) throw noSuchDestination(noDestination)
  const assetIds = added(input.asset_ids, rule?.assetIds)
  const assets = new Set(await lookUps.assets?.filterKnown(trx, assetIds))
  const noAsset = assetIds.find(id => !assets.has(id))
  const message = 'There is no asset of this id in your company: GET /api/v1/assets lists them'
  if (noAsset) throw apiError('ASSET_NOT_FOUND', message, { asset_id: noAsset })
}

export function presentRule({ companyId: _companyId, ...rule }: AlertRule) {
  const { eventTypes, severities } = rule
  const [eventType, ...others] = eventTypes ?? []
  return {
    ...toApiNames(rule),
    enabled: rule.isActive,
    rule_type: eventType === undefined ? 'all' : others.length === 0 ? eventType : 'several',
    severity: SEVERITIES.find(severity => severities?.includes(severity) ?? true) ?? SEVERITIES[0],
    is_notify_code_authors: false,
  }
}
