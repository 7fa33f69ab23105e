import { feature } from '../../server/feature.ts'
import { makeBadges } from './badges.ts'
import { routes } from './routes.ts'

/** Status pictures for other web pages: whether the checks of an asset pass. */
export const badges = feature({
  name: 'badges',
  needs: ['auth', 'catalog'],
  tags: {
    badges: {
      title: 'Badges',
      group: 'Notifications',
      order: 240,
      description: 'Status images of assets, for other pages.',
      page: '/guide/badges',
    },
  },
  api: ({ db, plugins: { catalog }, config: { baseUrl } }) => makeBadges({ db, catalog, baseUrl }),
  routes,
})
