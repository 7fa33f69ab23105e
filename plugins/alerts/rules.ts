import { raw } from 'objection'
import { v7 } from 'uuid'
import type { Transaction } from '../../server/database.ts'
import { apiError, invalidField } from '../../server/errors.ts'
import type { EventType, Severity } from './api.ts'
import { AlertRule, Destination } from './models.ts'

/** The fields of a rule as a request gives them. */
export interface RuleInput {
  name?: string
  description?: string | null
  event_types?: EventType[] | null
  severities?: Severity[] | null
  asset_ids?: string[] | null
  tag_filter_mode?: 'any' | 'all' | null
  tag_filter_tags?: string[] | null
  destination_ids?: string[]
  cooldown_minutes?: number
  is_active?: boolean
}

/** Makes a rule. @throws 400 for a destination that does not exist */
export async function createRule(trx: Transaction, input: RuleInput): Promise<AlertRule> {
  await refuseUnknown(trx, input.destination_ids)
  const tagged =
    input.tag_filter_tags?.length && !input.tag_filter_mode ? { tagFilterMode: 'any' as const } : {}
  return AlertRule.query(trx)
    .insert({ id: v7(), ...columns(input), ...tagged })
    .returning('*')
}

/** @throws 404 `NOT_FOUND` */
export async function findRule(trx: Transaction, id: string): Promise<AlertRule> {
  const rule = await AlertRule.query(trx).findById(id)
  if (rule) return rule
  throw apiError('NOT_FOUND', 'There is no alert rule of this id: GET /api/v1/sdk/alerts/rules lists them', {
    rule_id: id,
  })
}

/** Changes what is given; null takes a filter away. */
export async function changeRule(trx: Transaction, id: string, input: RuleInput): Promise<AlertRule> {
  const rule = await findRule(trx, id)
  await refuseUnknown(trx, input.destination_ids)
  const [changed] = await AlertRule.query(trx)
    .where({ id })
    .patch({ ...columns(input), updatedAt: raw('now()') })
    .returning('*')
  return changed ?? rule
}

/** Deletes a rule. @returns it as it was. @throws 404 `NOT_FOUND` */
export async function deleteRule(trx: Transaction, id: string): Promise<AlertRule> {
  const rule = await findRule(trx, id)
  await AlertRule.query(trx).where({ id }).delete()
  return rule
}

function columns(input: RuleInput): Partial<AlertRule> {
  const named = {
    name: input.name,
    description: input.description,
    eventTypes: input.event_types,
    severities: input.severities,
    assetIds: input.asset_ids,
    tagFilterMode: input.tag_filter_mode,
    tagFilterTags: input.tag_filter_tags,
    destinationIds: input.destination_ids,
    cooldownMinutes: input.cooldown_minutes,
    isActive: input.is_active,
  }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
}

async function refuseUnknown(trx: Transaction, ids: readonly string[] | undefined): Promise<void> {
  if (!ids) return
  const found = await Destination.query(trx)
    .select('id')
    .whereIn('id', [...ids])
    .whereNull('deletedAt')
  const missing = ids.find(id => !found.some(destination => destination.id === id))
  if (missing) throw invalidField('destination_ids', `there is no destination ${missing}`)
}
