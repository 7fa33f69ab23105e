import type { Plugin } from '@hapi/hapi'
import { referentialFailure } from './alert-kind.ts'
import type { ReferentialApi } from './api.ts'
import { listedReferences } from './checks.ts'
import { dryRunReference } from './dry-run.ts'
import { createMissingReferences } from './missing.ts'
import { ReferentialCheck, type ReferentialResult } from './models.ts'
import { describeResult } from './present.ts'
import { recordResults, loadCheckSpecs } from './record.ts'
import { referentialResource } from './routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Checks that the values of a column occur in another table, on schedule and on demand. */
export const referential: Plugin<undefined> = {
  name: 'referential',
  dependencies: ['catalog', 'scans', 'alerts', 'operatingSchedules'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      referential: {
        title: 'Referential checks',
        group: 'Monitoring',
        order: 140,
        description: 'Rows whose parents are missing.',
        page: '/api/public/docs/checks.md',
      },
    } satisfies Record<string, ApiTag>)
    server.partitions.add({
      name: 'referential_results',
      retention: 'retentionResultsDays',
      tables: [
        { table: 'referential_results', by: 'checked_at', unique: 'referential_check_id, scheduled_for' },
      ],
    })
    const checkNow = server.plugins.scans.contribute<ReferentialCheck, ReferentialResult>({
      name: 'referential',
      model: ReferentialCheck,
      checks: (rows, _table, trx) => loadCheckSpecs(server, rows, trx),
      record: (trx, table, taken, at) => recordResults(server, trx, table, taken, at),
      lastStatus: 'latest_status',
      describe: describeResult,
      list: listedReferences,
    })
    server.plugins.alerts.addKind(referentialFailure)
    server.route(server.plugins.scans.routesOf(referentialResource(server, checkNow)))
    server.expose({
      createMissing: createMissingReferences,
      dryRun: (companyId, trial) => dryRunReference(server, companyId, trial),
    } satisfies ReferentialApi)
  },
}
