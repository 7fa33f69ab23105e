import type { FreshnessApi, FreshnessListener } from './api.ts'
import { checkSource } from './run/check.ts'
import type { FreshnessDeps } from './deps.ts'
import { readUpdatesOfTables } from './run/learn.ts'
import { createSchedules, findSignals } from './schedules/bulk.ts'
import { judgeOnce } from './schedules/judge-once.ts'

/** Makes what other features may ask of freshness. */
export function makeFreshness(deps: FreshnessDeps): FreshnessApi {
  const { catalog } = deps
  const listeners: FreshnessListener[] = []
  const notifyChecked: FreshnessListener = async (trx, sourceId, findings) => {
    for (const listener of listeners) await listener(trx, sourceId, findings)
  }
  return {
    checkSource: request => checkSource({ ...deps, notifyChecked }, request),
    judgeOnce: (table, terms) => judgeOnce(deps, table, terms),
    afterCheck: listener => void listeners.push(listener),
    createSchedules: (trx, request) => createSchedules(catalog, trx, request),
    findSignals: (trx, source, tableIds) => findSignals(catalog, trx, source, tableIds),
    readUpdates: readUpdatesOfTables,
  }
}
