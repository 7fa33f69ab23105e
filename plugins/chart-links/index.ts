import { feature } from '../../server/feature.ts'
import { makeChartLinks } from './links.ts'
import { routes } from './routes.ts'

/** Links that show the chart of one check without signing in, until they expire. */
export const chartLinks = feature({
  name: 'chart-links',
  needs: ['auth', 'checks'],
  tags: {
    'chart-links': {
      title: 'Links to charts',
      group: 'Notifications',
      order: 245,
      description: 'Read-only links to the chart of a check, which expire.',
      page: '/guide/badges',
    },
  },
  routes: (_, { db, plugins: { catalog, checks }, config: { baseUrl } }) =>
    routes(makeChartLinks({ db, catalog, checks, baseUrl })),
})
