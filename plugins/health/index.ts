import { feature } from '../../server/feature.ts'
import { routes } from './routes.ts'

/** Whether anything is wrong in a company, in one reply. */
export const health = feature({
  name: 'health',
  needs: ['auth', 'alerts', 'catalog', 'checks'],
  tags: {
    health: {
      title: 'Health',
      group: 'Monitoring',
      order: 170,
      description: 'What is wrong with the data that the service monitors.',
      page: '/guide/coverage',
    },
  },
  routes,
})
