import { feature } from '../../server/feature.ts'
import type { FreshnessApi } from './api.ts'
import { freshnessExtension } from './asset-extension.ts'
import { depsOf } from './deps.ts'
import { makeFreshness } from './freshness.ts'
import { countsOf, makeRefreshJob } from './jobs.ts'
import { freshnessKind } from './kind.ts'
import { makePastJob } from './past/past-job.ts'
import { routes } from './routes.ts'
import { scheduleDeclaration } from './schedules/declaration.ts'
import { scheduleRoutes } from './schedules/routes.ts'

/** Freshness: the age of the newest data of tables, and its SLA. */
export const freshness = feature<FreshnessApi>({
  name: 'freshness',
  needs: ['alerts', 'catalog', 'operatingSchedules', 'checks'],
  tags: {
    freshness: {
      title: 'Freshness',
      group: 'Monitoring',
      order: 110,
      description: 'The age of the newest rows of tables, against what is expected.',
      page: '/guide/freshness',
    },
  },
  api: server => makeFreshness(depsOf(server)),
  setUp(server) {
    const { catalog, checks } = server.plugins
    catalog.extendAssets(freshnessExtension)
    checks.declare(scheduleDeclaration(depsOf(server)))
  },
  jobs: (api, server) => [
    server.plugins.checks.addSourceKind({
      ...freshnessKind,
      checkSource: async claim => countsOf(await api.checkSource(claim)),
    }),
    makeRefreshJob(depsOf(server), api),
    makePastJob(depsOf(server), api),
  ],
  routes: (api, server) => [...routes(depsOf(server)), ...scheduleRoutes(depsOf(server), api)],
})
