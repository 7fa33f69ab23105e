import type { Plugin } from '@hapi/hapi'
import { contractViolation } from './enforcement/alert-kind.ts'
import { contractPicture } from './enforcement/badge.ts'
import {
  enforceJob,
  judgeChecked,
  judgeDiscovered,
  judgeFreshness,
  judgeStopped,
} from './enforcement/judge.ts'
import { OWNERS, ownersOfChecks } from './enforcement/owner.ts'
import { enforcementRoutes } from './enforcement/routes.ts'
import { exchangeRoutes } from './exchange/routes.ts'
import { exportJob, KEPT_HOURS } from './exchange/export-job.ts'
import { testContract } from './testing/test-contract.ts'
import { testJob } from './testing/test-job.ts'
import { testingRoutes } from './testing/routes.ts'
import { normalizeContentType, routes } from './routes.ts'
import type { ContractsApi } from './api.ts'
import { readContract } from './enforcement/upload.ts'
import { listClauses } from './enforcement/clauses-of-tables.ts'
import { createValidator, ownValidator } from './validator.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Data contracts of the Open Data Contract Standard: validated without a sign-in, and enforced on sources. */
export const contracts: Plugin<undefined> = {
  name: 'contracts',
  dependencies: [
    'auth',
    'alerts',
    'catalog',
    'scans',
    'validity',
    'referential',
    'freshness',
    'recommendations',
    'badges',
  ],
  register(server) {
    Object.assign(server.apiParts.tags, {
      contracts: {
        title: 'Data contracts',
        group: 'Monitoring',
        order: 155,
        description: 'Contracts of the Open Data Contract Standard: validated, and enforced on sources.',
        page: '/api/public/docs/contracts.md',
      },
    } satisfies Record<string, ApiTag>)
    const validator = createValidator(server.textPool)
    server.ext('onRequest', normalizeContentType)
    const { alerts, catalog, scans, freshness } = server.plugins
    alerts.addKind(contractViolation)
    catalog.afterDiscovery((trx, source) => judgeDiscovered(server, trx, source))
    scans.afterScan((trx, { source }, findings) => judgeChecked(server, trx, source, findings))
    scans.afterStop((trx, source, check) => judgeStopped(server, trx, source, check))
    freshness.afterCheck((trx, sourceId, findings) => judgeFreshness(server, trx, sourceId, findings))
    scans.addOwners(ownersOfChecks, OWNERS)
    server.jobs.add(enforceJob, testJob, exportJob)
    server.retention.push(
      // What clauses are now stands with them, so their history can go.
      { table: 'contract_events', column: 'at', days: config => config.retentionResultsDays },
      { table: 'contract_exports', column: 'created_at', days: KEPT_HOURS / 24 },
      // A test that was killed in its last attempt leaves its contract; a waiting one is younger.
      { table: 'contract_tests', column: 'created_at', days: 7 },
    )
    server.route([
      ...routes(validator),
      ...enforcementRoutes(server, validator),
      ...testingRoutes(server, validator),
      ...exchangeRoutes(server, validator),
      contractPicture(server),
    ])
    server.expose({
      listClauses,
      async test(companyId, asked, signal) {
        const { document } = await readContract(ownValidator, { text: asked.text }, companyId)
        const { source } = await server.db.company(companyId, trx => catalog.findAsset(trx, asked.source))
        const extraColumns = asked.extraColumns
        return testContract(server, { source, document, extraColumns }, { signal })
      },
    } satisfies ContractsApi)
  },
}
