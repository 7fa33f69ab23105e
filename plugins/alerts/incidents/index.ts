import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../../server/openapi/tags.ts'
import { makeGrouping, pruneJob, sweepJob, updateJob } from './jobs.ts'
import { explainRoutes } from './explain/routes.ts'
import { incidentRoutes } from './lifecycle/routes.ts'

/** Alerts that belong together, with their cause, as one thing to look at. */
export const incidents: Plugin<undefined> = {
  name: 'incidents',
  dependencies: ['auth', 'alerts', 'catalog', 'lineage'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      incidents: {
        title: 'Incidents',
        group: 'Notifications',
        order: 205,
        description: 'Alerts that belong together, with their cause.',
        page: '/api/public/docs/incidents.md',
      },
    } satisfies Record<string, ApiTag>)
    server.plugins.alerts.setGrouping(makeGrouping(server))
    server.jobs.add(updateJob, sweepJob, pruneJob)
    server.route(explainRoutes)
    let hasRoutes = false
    server.ext('onPreStart', () => {
      // A server that was stopped can start again.
      if (hasRoutes) return
      hasRoutes = true
      // Their schemas list the kinds of alerts, which features and extensions have added by now.
      server.route(incidentRoutes(server))
    })
  },
}
