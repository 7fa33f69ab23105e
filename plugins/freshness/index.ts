import type { Plugin } from '@hapi/hapi'
import { freshnessViolation } from './alert-kind.ts'
import type { FreshnessApi, FreshnessListener } from './api.ts'
import { checkSource } from './run/check.ts'
import { freshnessExtension } from './asset-extension.ts'
import { judgeOnce } from './schedules/judge-once.ts'
import { checkJob, dispatchChecks, refreshJob } from './jobs.ts'
import { routes } from './routes.ts'
import { readUpdatesOfTables } from './run/learn.ts'
import { createSchedules, findSignals } from './schedules/bulk.ts'
import { scheduleDeclaration } from './schedules/declaration.ts'
import { scheduleRoutes } from './schedules/routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Freshness: the age of the newest data of tables, and its SLA. */
export const freshness: Plugin<undefined> = {
  name: 'freshness',
  dependencies: ['alerts', 'catalog', 'operatingSchedules', 'checks'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      freshness: {
        title: 'Freshness',
        group: 'Monitoring',
        order: 110,
        description: 'The age of the newest rows of tables, against what is expected.',
        page: '/api/public/docs/freshness.md',
      },
    } satisfies Record<string, ApiTag>)
    server.partitions.add({
      name: 'freshness_checks',
      retention: 'retentionResultsDays',
      tables: [{ table: 'freshness_checks', by: 'checked_at' }],
    })
    server.plugins.alerts.addKind(freshnessViolation)
    server.jobs.add(checkJob, dispatchChecks, refreshJob)
    server.route([...routes, ...scheduleRoutes])
    server.plugins.catalog.extendAssets(freshnessExtension)
    server.plugins.checks.declare(scheduleDeclaration(server))
    const listeners: FreshnessListener[] = []
    server.expose({
      judgeOnce: (table, terms) => judgeOnce(server, table, terms),
      afterCheck: listener => void listeners.push(listener),
      async notifyChecked(trx, sourceId, findings) {
        for (const listener of listeners) await listener(trx, sourceId, findings)
      },
      checkSource: request => checkSource(server, request),
      createSchedules: (trx, request) => createSchedules(server, trx, request),
      findSignals: (trx, source, tableIds) => findSignals(server, trx, source, tableIds),
      readUpdates: readUpdatesOfTables,
    } satisfies FreshnessApi)
  },
}
