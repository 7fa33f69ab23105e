import { feature } from '../../server/feature.ts'
import { routes } from './routes.ts'
import { makeOperatingSchedules } from './schedules.ts'

/** When tables are meant to be active, for features that judge by it. */
export const operatingSchedules = feature({
  name: 'operatingSchedules',
  needs: ['auth'],
  tags: {
    'operating-schedules': {
      title: 'Operating schedules',
      group: 'Monitoring',
      order: 150,
      description: 'Business hours, for baselines that take them into account.',
      page: '/guide/detection',
    },
  },
  api: makeOperatingSchedules,
  routes,
})
