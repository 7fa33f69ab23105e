/** Alerts of checks that contracts rely on name the contracts, which raise none of their own for the same failure. */
import { companyOf, type Transaction } from '../../server/database/database.ts'
import { storableJson } from '../../server/database/storable.ts'
import type { AlertEvent, LookUps } from './api.ts'
import type { BrokenClause } from './look-ups.ts'
import { lockAlerts } from './locks.ts'
import { Alert, IS_ONGOING } from './models.ts'

/** Clauses that one alert names; a check seldom judges more. */
const MAX_CLAUSES = 20

/** The contracts that the details of an event name. */
export function contractsIn(details: object): readonly BrokenClause[] {
  const { contracts } = details as { contracts?: BrokenClause[] }
  return contracts ?? []
}

/** Events whose details name the contracts that rely on their causes. */
export async function nameContracts(
  { contracts }: Partial<LookUps>,
  trx: Transaction,
  events: readonly AlertEvent[],
): Promise<readonly AlertEvent[]> {
  if (!contracts || events.length === 0) return events
  const clauses = await contracts.findClauses(
    trx,
    events.map(({ cause }) => cause),
  )
  if (clauses.size === 0) return events
  return events.map(event => {
    const broken = event.type === contracts.alertKind ? undefined : clauses.get(event.cause)
    return broken
      ? { ...event, details: { ...event.details, contracts: broken.slice(0, MAX_CLAUSES) } }
      : event
  })
}

/** Makes the ongoing alerts of causes name these clauses of contracts, and no others. */
export async function renameContracts(
  trx: Transaction,
  clauses: ReadonlyMap<string, readonly BrokenClause[]>,
): Promise<void> {
  if (clauses.size === 0) return
  const ongoing = await lockAlerts(
    Alert.query(trx)
      .select('id', 'cause')
      .whereRaw(`cause = any(cast(? as text[])) and ${IS_ONGOING}`, [[...clauses.keys()]]),
  )
  if (ongoing.length === 0) return
  const records = ongoing.map(({ id, cause }) => {
    const contracts = clauses.get(cause)?.slice(0, MAX_CLAUSES) ?? []
    return { id, details: contracts.length > 0 ? { contracts } : {} }
  })
  await trx.raw(
    `update alerts a set event = jsonb_set(a.event, '{details}', ((a.event -> 'details') - 'contracts') || r.details)
       from jsonb_to_recordset(cast(:records as jsonb)) as r(id uuid, details jsonb)
      where a.company_id = :companyId and a.id = r.id`,
    { companyId: companyOf(trx), records: storableJson(records) },
  )
}
