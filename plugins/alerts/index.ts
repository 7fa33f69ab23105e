import type { Plugin } from '@hapi/hapi'
import { deliverJob, retryJob } from './delivery/delivery.ts'
import { demoAlerts } from './demo.ts'
import { destinationRoutes } from './destinations/routes.ts'
import type { DestinationType } from './destinations/destination.ts'
import { email } from './destinations/email.ts'
import { sweepJob } from './jobs.ts'
import { pagerduty } from './destinations/pagerduty.ts'
import { pruneJob } from './prune.ts'
import { makeAlertsApi } from './lifecycle/raise.ts'
import { alertRoutes } from './lifecycle/routes.ts'
import { ruleRoutes } from './rules/routes.ts'
import { sealedColumns } from './destinations/secrets.ts'
import { slack } from './destinations/slack.ts'
import { makeSubscriptions } from './rules/subscriptions.ts'
import { teams } from './destinations/teams.ts'
import { createDestinationRegistry } from './destinations/registry.ts'
import { webhook } from './destinations/webhook.ts'

/** Alerts, the rules that say who hears of them, and their delivery. */
export const alerts: Plugin<undefined> = {
  name: 'alerts',
  register(server) {
    server.decorate('server', 'destinations', createDestinationRegistry())
    server.vocabularies.set('destination_type', () => server.destinations.names())
    const subscriptions = makeSubscriptions(server)
    server.expose('subscriptions', subscriptions)
    server.expose('demo', demoAlerts(server))
    const builtIn = [webhook, slack, teams, email(server, subscriptions), pagerduty]
    server.destinations.add(...(builtIn as DestinationType[]))
    server.ext('onPreStart', () => server.destinations.close())
    server.sealed.push(...sealedColumns)
    server.jobs.add(deliverJob, retryJob, sweepJob, pruneJob)
    server.route([...alertRoutes, ...ruleRoutes, ...destinationRoutes])
    for (const [name, expose] of Object.entries(makeAlertsApi(server)))
      server.expose(name as never, expose as never)
  },
}
