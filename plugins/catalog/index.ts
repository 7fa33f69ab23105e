import { feature } from '../../server/feature.ts'
import { configSchema } from '../../server/openapi/choices.ts'
import { alertKinds } from './alert-kinds.ts'
import { assetIdOf, knownAssets } from './assets/assets.ts'
import { assetRoutes } from './assets/routes.ts'
import { shortTableNames } from './assets/short-names.ts'
import { makeCatalog } from './catalog.ts'
import type { CatalogDeps } from './deps.ts'
import { discoveryJobs } from './discovery/jobs.ts'
import { schemaChangePartitions } from './discovery/partitions.ts'
import { schemaRoutes } from './drift/routes.ts'
import { connectionOf } from './schemas.ts'
import { searchRoutes } from './search/routes.ts'
import { pausedSourcesGauge } from './sources/breaker.ts'
import { sealContext } from './sources/config.ts'
import { sourceRoutes } from './sources/routes.ts'
import { typeRoutes } from './sources/type-routes.ts'
import { usageRoutes } from './sources/usage-routes.ts'
import { USAGE_DAYS } from './sources/usage.ts'
import { tagRoutes } from './tags/routes.ts'

/** Sources, what is in them, and how it changes. */
export const catalog = feature({
  name: 'catalog',
  needs: ['auth', 'alerts'],
  tags: {
    assets: {
      title: 'Sources and assets',
      group: 'Catalog',
      order: 10,
      description: 'Sources, which are connections to databases, and the tables found in them.',
      page: '/guide/getting-started',
    },
    jobs: {
      title: 'Jobs',
      group: 'Catalog',
      order: 20,
      description: 'Background jobs, such as discoveries.',
      page: '/guide/getting-started',
    },
    schema: {
      title: 'Schema changes',
      group: 'Catalog',
      order: 30,
      description: 'How tables and columns changed.',
      page: '/guide/drift',
    },
    tags: {
      title: 'Tags',
      group: 'Catalog',
      order: 40,
      description: 'Labels of tables and columns.',
      page: '/guide/tags',
    },
  },
  make(server) {
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
    const { db, jobs, connectors, telemetry } = server
    const { alerts } = server.plugins
    const deps: CatalogDeps = {
      db,
      jobs,
      connectors,
      telemetry,
      alerts,
      config: server.config,
      vault: server.vault,
      deadlines: server.deadlines,
      sourceEgress: server.sourceEgress,
      egressForFolder: server.egressForFolder.bind(server),
      pino: server.pino,
      extensions: [],
      listeners: [],
      readers: [],
    }
    const api = makeCatalog(deps)
    server.partitions.add(schemaChangePartitions)
    alerts.addKind(...alertKinds)
    alerts.connect({
      assets: {
        filterKnown: knownAssets,
        resolveId: assetIdOf,
        shortNames: shortTableNames,
        findAsset: api.findAsset,
        readHealth: api.readHealth,
      },
    })
    telemetry.addReader(pausedSourcesGauge(db))
    server.sealed.push({ table: 'sources', column: 'secrets', place: sealContext })
    server.typesInUse.push({
      what: 'connector',
      isLoaded: name => connectors.has(name),
      names: 'select distinct source_type as name from sources',
    })
    return {
      api,
      jobs: discoveryJobs(deps),
      routes: [
        ...assetRoutes(deps),
        ...sourceRoutes(deps),
        ...schemaRoutes(deps),
        ...tagRoutes(deps),
        ...usageRoutes,
        ...searchRoutes,
        ...typeRoutes(connectors),
      ],
    }
  },
  retention: [
    { table: 'runs', column: 'created_at', days: config => config.retentionChangesDays },
    // A day ages from its end.
    { table: 'source_usage', column: 'day', days: USAGE_DAYS + 1 },
  ],
})
