import { feature } from '../../server/feature.ts'
import { makeMonitors } from './apply.ts'
import { routes } from './routes.ts'

/** Checks that stand in files: exported, planned and applied. */
export const monitors = feature({
  name: 'monitors',
  needs: ['catalog', 'checks', 'validity', 'metrics', 'referential', 'freshness'],
  tags: {
    monitors: {
      title: 'Monitors as code',
      group: 'Monitoring',
      order: 118,
      description: 'Checks that stand in files, planned and applied.',
      page: '/guide/monitors',
    },
  },
  make({ db, checks: types, config: { baseUrl }, plugins: { catalog, checks } }) {
    return { routes: routes(makeMonitors({ db, catalog, checks }), { checks, types, baseUrl }) }
  },
})
