import type { Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import type { LookUps } from '../api.ts'
import { noSuchDestination } from '../destinations/destinations.ts'
import { Destination, type AlertRule } from '../models.ts'
import { changeRule, findRule } from './rules.ts'

/** Per rule, as in its body. */
const MAX_DESTINATIONS = 100

/** The destinations of a rule, in its order. @throws 404 `NOT_FOUND` */
export async function listRuleDestinations(trx: Transaction, ruleId: string): Promise<Destination[]> {
  const { destinationIds } = await findRule(trx, ruleId)
  const destinations = await Destination.query(trx).findByIds(destinationIds).whereNull('deletedAt')
  return destinationIds.flatMap(id => destinations.find(destination => destination.id === id) ?? [])
}

/**
 * Adds destinations to a rule; those that it has already stay where they are.
 * @throws 404 `NOT_FOUND`, `DESTINATION_NOT_FOUND`, and 400 for more than a rule can have
 * @returns the rule, and how many were added
 */
export async function linkDestinations(
  lookUps: Partial<LookUps>,
  trx: Transaction,
  ruleId: string,
  added: readonly string[],
): Promise<{ rule: AlertRule; linkedCount: number }> {
  const rule = await findRule(trx, ruleId, true)
  const { destinationIds } = rule
  const linked = [...new Set([...destinationIds, ...added])]
  if (linked.length > MAX_DESTINATIONS)
    throw invalidField(
      'destination_ids',
      `must have at most ${MAX_DESTINATIONS} items with those that the rule has, not ${linked.length}`,
    )
  const changed = await changeRule(lookUps, trx, rule, { destination_ids: linked })
  return { rule: changed, linkedCount: linked.length - destinationIds.length }
}

/**
 * Removes a destination from a rule.
 * @throws 404 `NOT_FOUND`, 404 `DESTINATION_NOT_FOUND` if the rule does not name it, and 409 `CONFLICT` if it is the only one
 *   of an active rule
 */
export async function unlinkDestination(
  lookUps: Partial<LookUps>,
  trx: Transaction,
  ruleId: string,
  destinationId: string,
): Promise<AlertRule> {
  const rule = await findRule(trx, ruleId, true)
  const { destinationIds, isActive } = rule
  if (!destinationIds.includes(destinationId)) throw noSuchDestination(destinationId)
  const others = destinationIds.filter(id => id !== destinationId)
  if (isActive && others.length === 0)
    throw apiError(
      'CONFLICT',
      'It is the only destination of an active rule: link another one first, or switch the rule off',
      { rule_id: ruleId, destination_id: destinationId },
    )
  return changeRule(lookUps, trx, rule, { destination_ids: others })
}
