import { findColumn } from './assets/columns.ts'
import type { Plugin } from '@hapi/hapi'
import {
  assetIdOf,
  findAsset,
  findTable,
  knownAssets,
  readByAsset,
  tableInfo,
  tagsOfColumns,
} from './assets/assets.ts'
import type { CatalogApi, DiscoveryListener, DiscoveryReader } from './api.ts'
import { alertKinds } from './alert-kinds.ts'
import { pausedSourcesGauge } from './sources/breaker.ts'
import { connectorOf, sealContext } from './sources/config.ts'
import { statementTimeoutMs, withConnection } from './sources/connections.ts'
import { demoSources } from './demo.ts'
import { discoverJob, dispatchDiscoveries } from './discovery/jobs.ts'
import type { AssetExtension } from './assets/asset-extensions.ts'
import { readExtensionFields } from './assets/table-record.ts'
import { patternMatcher } from './discovery/patterns.ts'
import { USAGE_DAYS } from './sources/usage.ts'
import { schemaChangePartitions } from './discovery/partitions.ts'
import { routes } from './assets/routes.ts'
import { driftCoverage, readDriftHealth } from './drift/health.ts'
import { findChange, schemaRoutes } from './drift/routes.ts'
import { sourceRoutes } from './sources/routes.ts'
import {
  answerStarted,
  finishRun,
  loadTable,
  loadTables,
  recordProgress,
  startRun,
} from './discovery/runs.ts'
import { recordConnectionStatus } from './sources/connection-status.ts'
import { sourceInactive } from './sources/sources.ts'
import { tagRoutes } from './tags/routes.ts'
import { typeRoutes } from './sources/type-routes.ts'
import { usageRoutes } from './sources/usage-routes.ts'
import { searchRoutes } from './search/routes.ts'
import { lockScannedTable, lockSource } from './locks.ts'
import { configSchema } from '../../server/openapi/choices.ts'
import { connectionOf } from './schemas.ts'
import { hasPersonalData, personalColumns } from './tags/personal-columns.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Sources, what is in them, and how it changes. */
export const catalog: Plugin<undefined> = {
  name: 'catalog',
  dependencies: ['auth', 'alerts'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      assets: {
        title: 'Sources and assets',
        group: 'Catalog',
        order: 10,
        description: 'Sources, which are connections to databases, and the tables found in them.',
        page: '/api/public/docs/getting-started.md',
      },
      jobs: {
        title: 'Jobs',
        group: 'Catalog',
        order: 20,
        description: 'Background jobs, such as discoveries.',
        page: '/api/public/docs/getting-started.md',
      },
      schema: {
        title: 'Schema changes',
        group: 'Catalog',
        order: 30,
        description: 'How tables and columns changed.',
        page: '/api/public/docs/drift.md',
      },
      tags: {
        title: 'Tags',
        group: 'Catalog',
        order: 40,
        description: 'Labels of tables and columns.',
        page: '/api/public/docs/tags.md',
      },
    } satisfies Record<string, ApiTag>)
    server.apiParts.choices.connection_config = () =>
      server.connectors
        .all()
        .map(connector =>
          configSchema(
            `${connector.name}_Connection`,
            connectionOf(connector),
            `Of source_type ${connector.name}.`,
          ),
        )
    const extensions: AssetExtension[] = []
    const listeners: DiscoveryListener[] = []
    const readers: DiscoveryReader[] = []
    server.partitions.add(schemaChangePartitions)
    server.retention.push(
      { table: 'runs', column: 'created_at', days: config => config.retentionChangesDays },
      // A day ages from its end.
      { table: 'source_usage', column: 'day', days: USAGE_DAYS + 1 },
    )
    server.jobs.add(discoverJob, dispatchDiscoveries)
    server.plugins.alerts.addKind(...alertKinds)
    const readHealth: CatalogApi['readHealth'] = async (trx, since) => {
      const parts = [await readDriftHealth(trx, since)]
      for (const { health } of extensions) if (health) parts.push(await health(trx, since))
      return parts
    }
    server.plugins.alerts.connect({
      assets: { filterKnown: knownAssets, resolveId: assetIdOf, findAsset, readHealth },
    })
    server.telemetry.addReader(pausedSourcesGauge(server))
    server.sealed.push({ table: 'sources', column: 'secrets', place: sealContext })
    server.typesInUse.push({
      what: 'connector',
      isLoaded: name => server.connectors.has(name),
      names: 'select distinct source_type as name from sources',
    })
    server.route([
      ...routes(extensions),
      ...sourceRoutes(extensions),
      ...schemaRoutes,
      ...tagRoutes,
      ...usageRoutes,
      ...searchRoutes,
      ...typeRoutes,
    ])
    server.expose({
      findAsset,
      readByAsset,
      findTable,
      findColumn,
      findChange,
      patternMatcher,
      loadTable,
      loadTables,
      connectorOf: source => connectorOf(server, source),
      withConnection: (source, work, options) => withConnection(server, source, work, options),
      statementTimeoutMs: source => statementTimeoutMs(server, source),
      tableInfo,
      personalColumns,
      tagsOf: tagsOfColumns,
      hasPersonalData: source => server.db.company(source.companyId, trx => hasPersonalData(trx, source)),
      sourceInactive,
      lockSource,
      lockScannedTable,
      recordConnectionStatus: (trx, source, error) => recordConnectionStatus(server, trx, source, error),
      demo: demoSources(server),
      startRun,
      recordProgress,
      answerStarted,
      finishRun,
      afterDiscovery: listener => void listeners.push(listener),
      async notifyDiscovered(trx, source) {
        for (const listener of listeners) await listener(trx, source)
      },
      readAtDiscovery: reader => void readers.push(reader),
      discoveryReaders: () => readers,
      extendAssets: extension => void extensions.push(extension),
      viewColumnQueries: () => extensions.flatMap(({ viewColumnQuery }) => viewColumnQuery ?? []),
      upstreamQueries: () => extensions.flatMap(({ upstreamQuery }) => upstreamQuery ?? []),
      coverageQueries: () => [driftCoverage, ...extensions.flatMap(({ coverage }) => coverage?.() ?? [])],
      readHealth,
      readTableFields: (trx, tableIds) => readExtensionFields(trx, extensions, tableIds),
      outcomeQueries: () => extensions.flatMap(extension => extension.outcomes?.() ?? []),
    } satisfies CatalogApi)
  },
}
