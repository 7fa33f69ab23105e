import type { Transaction } from '../../../server/database/database.ts'
import { invalidField } from '../../../server/http/errors.ts'
import type { LookUps } from '../api.ts'
import type { Alert, AlertRule } from '../models.ts'

/** Whether an alert is of an asset that one of a rule's owners owns. */
export type OwnerMatch = (
  rule: Pick<AlertRule, 'owners'>,
  alert: Pick<Alert, 'assetId' | 'sourceId'>,
) => boolean

/**
 * Loads the owners of the assets of alerts, as they are now, if a rule asks for any. An alert without an asset belongs to
 * its source.
 */
export async function loadOwnerMatch(
  { owners }: Partial<LookUps>,
  trx: Transaction,
  rules: readonly Pick<AlertRule, 'owners'>[],
  alerts: readonly Pick<Alert, 'assetId' | 'sourceId'>[],
): Promise<OwnerMatch> {
  if (!rules.some(rule => rule.owners?.length)) return rule => !rule.owners
  const ids = new Set(alerts.flatMap(alert => assetOf(alert) ?? []))
  const keys = await owners?.loadOwnerKeys(trx, [...ids])
  return (rule, alert) => {
    // An empty list: the owners that the rule named were removed.
    if (!rule.owners) return true
    const own = keys?.get(assetOf(alert) ?? '')
    return rule.owners.some(owner => own?.has(owner) ?? false)
  }
}

function assetOf({ assetId, sourceId }: Pick<Alert, 'assetId' | 'sourceId'>): string | null {
  return assetId ?? sourceId
}

/**
 * What a rule stores of the owners in a body. Those that it has already are not looked up, since a client may send back
 * what it read.
 * @throws 400 for an owner that is not known
 */
export async function resolveRuleOwners<Input extends { owners?: string[] | null }>(
  { owners }: Partial<LookUps>,
  trx: Transaction,
  input: Input,
  rule?: Pick<AlertRule, 'owners'>,
): Promise<Input> {
  if (!input.owners) return input
  if (!owners) throw invalidField('owners', 'needs the feature that knows owners, which this server lacks')
  const former = new Set(rule?.owners)
  const added = input.owners.filter(owner => !former.has(owner))
  const resolved = await owners.resolveOwners(trx, added, 'owners')
  return { ...input, owners: [...new Set([...input.owners.filter(owner => former.has(owner)), ...resolved])] }
}
