import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database.ts'
import type { Feature, Tally } from './api.ts'

type AssetFacts = Parameters<Server['plugins']['catalog']['describeAssets']>[0]

/** What the records of assets say of quality: the checks of all features together, the worst telling. */
export function qualityFacts(features: readonly Feature[]): AssetFacts {
  return {
    async sources(trx, sources) {
      const ids = sources.map(({ id }) => id)
      const tallies = await talliesOf(trx, features, 'sourceId', ids)
      return new Map([...tallies].map(([id, tally]) => [id, ofSource(tally)]))
    },
    async tables(trx, tableIds) {
      const tallies = await talliesOf(trx, features, 'tableId', tableIds)
      return new Map(
        [...tallies].map(([id, tally]) => [id, { quality: { status: statusOf(tally), ...tally } }]),
      )
    },
  }
}

function ofSource(tally: Tally): object {
  const status = statusOf(tally)
  const { passing, failing, error } = tally
  return {
    data_quality_status: status,
    data_quality_message:
      status === 'none'
        ? 'No check has run yet: make a rule or a metric'
        : `${passing} checks pass, ${failing} fail, ${error} could not run`,
  }
}

function statusOf({ passing, failing, error }: Tally): 'passing' | 'failing' | 'error' | 'none' {
  if (failing > 0) return 'failing'
  if (error > 0) return 'error'
  return passing > 0 ? 'passing' : 'none'
}

/** The active checks of sources or tables by how they did last, one statement a feature. */
async function talliesOf(
  trx: Transaction,
  features: readonly Feature[],
  owner: 'sourceId' | 'tableId',
  ids: readonly string[],
): Promise<Map<string, Tally>> {
  const tallies = new Map(ids.map(id => [id, { passing: 0, failing: 0, error: 0 }]))
  for (const { model, lastStatus } of features) {
    const counted = await model
      .query(trx)
      .where({ isActive: true })
      .whereIn(owner, [...ids])
      .select(`${owner} as owner`, `${lastStatus} as status`)
      .count('* as count')
      .groupBy(owner, lastStatus)
      .castTo<{ owner: string; status: string | null; count: string }[]>()
    for (const { owner: id, status, count } of counted) {
      const outcome = outcomeOf(status)
      const tally = tallies.get(id)
      if (tally && outcome) tally[outcome] += Number(count)
    }
  }
  return tallies
}

function outcomeOf(status: string | null): keyof Tally | undefined {
  const outcomes: Record<string, keyof Tally> = {
    pass: 'passing',
    warning: 'passing',
    fail: 'failing',
    error: 'error',
  }
  return status === null ? undefined : outcomes[status.toLowerCase()]
}
