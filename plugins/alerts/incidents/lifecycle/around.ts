import type { Transaction } from '../../../../server/database/database.ts'
import type { LookUps } from '../../api.ts'

/** What is known beside the alerts of an incident. */
export interface Around {
  /** Who owns the tables with alerts. */
  owners: { asset_id: string; name: string; email: string | null }[]
  /** Tables, dashboards and the like that are made from them. */
  downstream_count: number
}

/** Reads who owns the tables of incidents and what is made from these: for a page in one statement and one walk. */
export async function readAround(
  { owners, lineage }: Partial<LookUps>,
  trx: Transaction,
  incidents: readonly { assetIds: string[] }[],
): Promise<Around[]> {
  const sets = incidents.map(({ assetIds }) => assetIds)
  const byAsset = (await owners?.ownersOf(trx, [...new Set(sets.flat())])) ?? new Map<string, never[]>()
  const counts = (await lineage?.countDownstream(trx, sets)) ?? []
  return sets.map((set, n) => ({
    owners: set.flatMap(id =>
      (byAsset.get(id) ?? []).map(({ name, email }) => ({ asset_id: id, name, email })),
    ),
    downstream_count: counts[n] ?? 0,
  }))
}
