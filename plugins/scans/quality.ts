import type { Transaction } from '../../server/database.ts'
import type { Feature, Loaded } from './api.ts'

/** The quality of a source at a glance: its checks of all features together, the worst telling. */
export async function quality(
  trx: Transaction,
  source: Loaded['source'],
  features: readonly Feature[],
): Promise<object> {
  const sum = { passing: 0, failing: 0, error: 0 }
  for (const feature of features) {
    const { passing, failing, error } = await feature.tally(trx, source)
    sum.passing += passing
    sum.failing += failing
    sum.error += error
  }
  const { passing, failing, error } = sum
  const status = failing > 0 ? 'failing' : error > 0 ? 'error' : passing > 0 ? 'passing' : 'none'
  return {
    data_quality_status: status,
    data_quality_message:
      status === 'none'
        ? 'No check has run yet: make a rule or a metric'
        : `${passing} checks pass, ${failing} fail, ${error} could not run`,
  }
}
