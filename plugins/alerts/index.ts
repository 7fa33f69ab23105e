import type { Plugin } from '@hapi/hapi'
import { deliverJob, retryJob } from './delivery/delivery.ts'
import { addDeliveryTelemetry } from './delivery/delivery-telemetry.ts'
import { makeDemoAlerts } from './demo.ts'
import type { DestinationType } from './destinations/destination.ts'
import { email } from './destinations/email.ts'
import { pagerduty } from './destinations/pagerduty.ts'
import { createDestinationRegistry } from './destinations/registry.ts'
import { destinationRoutes } from './destination-routes.ts'
import { typeRoute } from './destinations/type-routes.ts'
import { sealedColumns } from './destinations/secrets.ts'
import { slack } from './destinations/slack.ts'
import { teams } from './destinations/teams.ts'
import { webhook } from './destinations/webhook.ts'
import { sweepJob } from './jobs.ts'
import { createKindRegistry, destinationDisabled } from './kinds.ts'
import { makeAlertsApi } from './lifecycle/raise.ts'
import { alertRoutes } from './lifecycle/routes.ts'
import { deliveryPartitions, pruneJob } from './prune.ts'
import { ruleRoutes } from './rules/routes.ts'
import { makeSubscriptions } from './destinations/subscriptions.ts'
import { configSchema } from '../../server/openapi/choices.ts'
import { describeWebhooks } from './destinations/webhook-schemas.ts'
import { detailsSchema, eventSchema } from './lifecycle/event-schema.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Alerts, the rules that select who is notified, and the delivery of messages. */
export const alerts: Plugin<undefined> = {
  name: 'alerts',
  register(server) {
    Object.assign(server.apiParts.tags, {
      alerts: {
        title: 'Alerts',
        group: 'Notifications',
        order: 210,
        description: 'Problems that were found, and what became of them.',
        page: '/api/public/docs/alerts.md',
      },
      'alert-rules': {
        title: 'Alert rules',
        group: 'Notifications',
        order: 220,
        description: 'Which alerts are sent to which destinations.',
        page: '/api/public/docs/alerts.md',
      },
      destinations: {
        title: 'Destinations',
        group: 'Notifications',
        order: 230,
        description: 'Where messages are sent, and each delivery with its attempts.',
        page: '/api/public/docs/destinations.md',
      },
    } satisfies Record<string, ApiTag>)
    server.decorate('server', 'destinations', createDestinationRegistry())
    server.vocabularies.set('destination_type', () => server.destinations.names())
    server.apiParts.choices.destination_config = () =>
      server.destinations
        .all()
        .map(({ name, config }) => configSchema(`${name}_Config`, config, `Of destination_type ${name}.`))
    const kinds = createKindRegistry()
    server.apiParts.choices.alert_event = () => kinds.all().map(eventSchema)
    server.apiParts.choices.alert_details = () => kinds.all().map(detailsSchema)
    Object.assign(server.apiParts.webhooks, describeWebhooks())
    kinds.add(destinationDisabled)
    const subscriptions = makeSubscriptions(server)
    const builtIn = [webhook, slack, teams, email(server, subscriptions), pagerduty]
    server.destinations.add(...(builtIn as DestinationType[]))
    server.sealed.push(...sealedColumns)
    server.typesInUse.push({
      what: 'destination type',
      isLoaded: name => server.destinations.has(name),
      names: 'select distinct destination_type as name from destinations where deleted_at is null',
    })
    server.partitions.add(deliveryPartitions)
    addDeliveryTelemetry(server.telemetry)
    server.jobs.add(deliverJob, retryJob, sweepJob, pruneJob)
    server.route([...destinationRoutes, typeRoute])
    let hasRoutes = false
    server.ext('onPreStart', () => {
      // A server that was stopped can start again.
      if (hasRoutes) return
      hasRoutes = true
      server.destinations.close()
      kinds.close()
      // Their schemas list the kinds, which features and extensions have added by now.
      server.route([...alertRoutes(kinds), ...ruleRoutes(kinds)])
    })
    const api = { ...makeAlertsApi(server, kinds), kinds, subscriptions, demo: makeDemoAlerts(server) }
    for (const [name, member] of Object.entries(api)) server.expose(name as never, member as never)
  },
}
