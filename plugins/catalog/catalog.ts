import type { CatalogApi } from './api.ts'
import { findAsset, findTable, readByAsset, tableInfo, tagsOfColumns } from './assets/assets.ts'
import { findColumn } from './assets/columns.ts'
import { readExtensionFields } from './assets/table-record.ts'
import { demoSources } from './demo.ts'
import type { CatalogDeps } from './deps.ts'
import { patternMatcher } from './discovery/patterns.ts'
import { notifyDiscovered } from './discovery/record.ts'
import {
  answerStarted,
  finishRun,
  loadTable,
  loadTables,
  recordProgress,
  startRun,
} from './discovery/runs.ts'
import { driftCoverage, readDriftHealth } from './drift/health.ts'
import { findChange } from './drift/routes.ts'
import { lockScannedTable, lockSource } from './locks.ts'
import { assertTableWindow } from './assets/change-table.ts'
import { automaticWindows, setTableWindow, windowedTables } from './assets/table-window.ts'
import { connectorOf } from './sources/config.ts'
import { recordConnectionStatus } from './sources/connection-status.ts'
import { statementTimeoutMs, withConnection } from './sources/connections.ts'
import { sourceInactive } from './sources/sources.ts'
import { hasPersonalData, personalColumns } from './tags/personal-columns.ts'

/** Makes what other features may ask of the catalog. */
export function makeCatalog(deps: CatalogDeps): CatalogApi {
  const { db, config, connectors, alerts, extensions, listeners, readers } = deps
  return {
    findAsset,
    readByAsset,
    findTable,
    findColumn,
    findChange,
    patternMatcher,
    loadTable,
    loadTables,
    automaticWindows,
    windowedTables,
    setTableWindow,
    assertTableWindow: (of, window) => assertTableWindow(connectors, of, window),
    connectorOf: source => connectorOf(connectors, source),
    withConnection: (source, work, options) => withConnection(deps, source, work, options),
    statementTimeoutMs: source => statementTimeoutMs(config, source),
    tableInfo,
    personalColumns,
    tagsOf: tagsOfColumns,
    hasPersonalData: source => db.company(source.companyId, trx => hasPersonalData(trx, source)),
    sourceInactive,
    lockSource,
    lockScannedTable,
    recordConnectionStatus: (trx, source, error) => recordConnectionStatus(alerts, trx, source, error),
    demo: demoSources(deps),
    startRun,
    recordProgress,
    answerStarted,
    finishRun,
    afterDiscovery: listener => void listeners.push(listener),
    notifyDiscovered: (trx, source) => notifyDiscovered(listeners, trx, source),
    readAtDiscovery: reader => void readers.push(reader),
    extendAssets: extension => void extensions.push(extension),
    async readProfiledTimes(trx, tableIds) {
      const reader = extensions.find(({ profiledTimes }) => profiledTimes)
      return (await reader?.profiledTimes?.(trx, tableIds)) ?? new Map()
    },
    upstreamQueries: () => extensions.flatMap(({ upstreamQuery }) => upstreamQuery ?? []),
    coverageQueries: () => [driftCoverage, ...extensions.flatMap(({ coverage }) => coverage?.() ?? [])],
    async readHealth(trx, since) {
      const parts = [await readDriftHealth(trx, since)]
      for (const { health } of extensions) if (health) parts.push(await health(trx, since))
      return parts
    },
    readTableFields: (trx, tableIds) => readExtensionFields(trx, extensions, tableIds),
    outcomeQueries: () => extensions.flatMap(extension => extension.outcomes?.() ?? []),
  }
}
