import { feature } from '../../server/feature.ts'
import { routes } from './routes.ts'

/** What the admins of a company see of its jobs, and what they do about those that failed for good. */
export const operations = feature({
  name: 'operations',
  needs: ['auth', 'catalog'],
  tags: {
    operations: {
      title: 'Operations',
      group: 'Service',
      order: 425,
      description: "The company's jobs: what waits, what runs, and what failed for good.",
      page: '/guide/operations',
    },
  },
  routes,
})
