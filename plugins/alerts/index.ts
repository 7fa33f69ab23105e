import type { PluginProperties, Server } from '@hapi/hapi'
import { feature } from '../../server/feature.ts'
import { configSchema } from '../../server/openapi/choices.ts'
import { makeAttemptRecorder } from './delivery/delivery-telemetry.ts'
import { makeDemoAlerts } from './demo.ts'
import type { Deps } from './deps.ts'
import { destinationRoutes } from './destination-routes.ts'
import { digestRoutes } from './digests/routes.ts'
import type { DestinationType } from './destinations/destination.ts'
import { email } from './destinations/email.ts'
import { discord } from './destinations/types/discord.ts'
import { googleChat } from './destinations/types/google-chat.ts'
import { jira } from './destinations/types/jira.ts'
import { opsgenie } from './destinations/types/opsgenie.ts'
import { pagerduty } from './destinations/types/pagerduty.ts'
import { createDestinationRegistry } from './destinations/registry.ts'
import { sealedColumns } from './destinations/secrets.ts'
import { slack } from './destinations/types/slack.ts'
import { makeSubscriptions } from './destinations/subscriptions.ts'
import { teams } from './destinations/types/teams.ts'
import { typeRoute } from './destinations/type-routes.ts'
import { describeWebhooks } from './destinations/webhook-schemas.ts'
import { webhook } from './destinations/webhook.ts'
import { explainRoutes } from './incidents/explain/routes.ts'
import { makeIncidentJobs } from './incidents/jobs.ts'
import { incidentRoutes } from './incidents/lifecycle/routes.ts'
import { listIncidentsOf } from './incidents/of-table.ts'
import { reviewByLineage, updateIncidents } from './incidents/update.ts'
import { makeAttemptJobs, makeSweepJob, sweepSteps } from './jobs.ts'
import { createKindRegistry, destinationDisabled } from './kinds.ts'
import { detailsSchema, eventSchema } from './lifecycle/event-schema.ts'
import { alertRoutes } from './lifecycle/routes.ts'
import { makeAlerts } from './make-alerts.ts'
import { muteRoutes } from './mute/routes.ts'
import { deliveryPartitions, pruneJob } from './prune.ts'
import { ruleRoutes } from './rules/routes.ts'

/** Alerts, the incidents that they belong to, the rules that select who is notified, and the delivery of messages. */
export const alerts = feature<PluginProperties['alerts']>({
  name: 'alerts',
  tags: {
    incidents: {
      title: 'Incidents',
      group: 'Notifications',
      order: 205,
      description: 'Alerts that belong together, with their cause.',
      page: '/guide/incidents',
    },
    alerts: {
      title: 'Alerts',
      group: 'Notifications',
      order: 210,
      description: 'Problems that were found, and what became of them.',
      page: '/guide/alerts',
    },
    'alert-rules': {
      title: 'Alert rules',
      group: 'Notifications',
      order: 220,
      description: 'Which alerts are sent to which destinations.',
      page: '/guide/alerts',
    },
    destinations: {
      title: 'Destinations',
      group: 'Notifications',
      order: 230,
      description: 'Where messages are sent, and each delivery with its attempts.',
      page: '/guide/destinations',
    },
  },
  make(server) {
    server.decorate('server', 'destinations', createDestinationRegistry())
    const deps = depsOf(server)
    const { db, kinds, types, lookUps } = deps
    const subscriptions = makeSubscriptions(deps)
    const builtIn = [
      webhook,
      slack,
      teams,
      email({ db, lookUps, mail: server.mail, subscriptions }),
      pagerduty,
      googleChat,
      discord,
      opsgenie,
      jira,
    ]
    types.add(...(builtIn as DestinationType[]))
    kinds.add(destinationDisabled)
    describe(server, deps)
    server.sealed.push(...sealedColumns)
    server.typesInUse.push({
      what: 'destination type',
      isLoaded: name => types.has(name),
      names: 'select distinct destination_type as name from destinations where deleted_at is null',
    })
    server.partitions.add(deliveryPartitions)
    let hasRoutes = false
    server.ext('onPreStart', () => {
      // A server that was stopped can start again.
      if (hasRoutes) return
      hasRoutes = true
      types.close()
      kinds.close()
      // Their schemas list the kinds, which features and extensions have added by now.
      server.route([...alertRoutes(deps), ...ruleRoutes(deps), ...incidentRoutes(deps)])
    })
    const sweep = sweepSteps(deps)
    const attemptJobs = makeAttemptJobs(deps, makeAttemptRecorder(server.telemetry))
    return {
      api: {
        ...makeAlerts(deps),
        kinds,
        subscriptions,
        sweep,
        demo: makeDemoAlerts(deps),
        incidents: {
          update: (trx, alertIds) => updateIncidents(deps, trx, alertIds),
          review: trx => reviewByLineage(deps, trx),
          listOf: listIncidentsOf,
        },
      },
      jobs: [...attemptJobs, makeSweepJob(sweep), pruneJob, ...makeIncidentJobs(deps)],
      routes: [
        ...destinationRoutes(deps),
        ...muteRoutes(deps),
        ...digestRoutes(deps),
        typeRoute(deps),
        ...explainRoutes(deps),
      ],
    }
  },
})

function depsOf({ db, jobs, config, pino, vault, egress, deadlines, destinations }: Server): Deps {
  const kinds = createKindRegistry()
  return { db, jobs, config, log: pino, vault, egress, deadlines, kinds, types: destinations, lookUps: {} }
}

/** What the description of the API says of kinds and types, which are added until the server starts. */
function describe({ apiParts, vocabularies }: Server, { kinds, types }: Deps): void {
  vocabularies.set('destination_type', () => types.names())
  apiParts.choices.destination_config = () =>
    types
      .all()
      .map(({ name, config }) => configSchema(`${name}_Config`, config, `Of destination_type ${name}.`))
  apiParts.choices.alert_event = () => kinds.all().map(eventSchema)
  apiParts.choices.alert_details = () => kinds.all().map(detailsSchema)
  Object.assign(apiParts.webhooks, describeWebhooks())
}
