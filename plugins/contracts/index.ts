import { feature } from '../../server/feature.ts'
import { depsOf } from './deps.ts'
import { contractViolation } from './enforcement/alert-kind.ts'
import { contractPicture } from './enforcement/badge.ts'
import { clausesOfChecks } from './adoption/clause-checks.ts'
import { clausesOfTables } from './enforcement/contracts.ts'
import { enforceJob } from './enforcement/enforce-job.ts'
import { judgeChecked, judgeDiscovered, judgeFreshness, judgeStopped } from './enforcement/judge.ts'
import { enforcementRoutes } from './enforcement/routes.ts'
import { exchangeRoutes } from './exchange/routes.ts'
import { exportJob, KEPT_HOURS } from './exchange/export-job.ts'
import { testContract } from './testing/test-contract.ts'
import { testJob } from './testing/test-job.ts'
import { testingRoutes } from './testing/routes.ts'
import { normalizeContentType, routes } from './routes.ts'
import type { ContractsApi } from './api.ts'
import { readContract } from './enforcement/upload.ts'
import { createValidator, ownValidator } from './validator.ts'

/** Data contracts of the Open Data Contract Standard: validated without a sign-in, and enforced on sources. */
export const contracts = feature<ContractsApi>({
  name: 'contracts',
  needs: [
    'auth',
    'alerts',
    'catalog',
    'checks',
    'validity',
    'metrics',
    'referential',
    'freshness',
    'recommendations',
    'badges',
  ],
  tags: {
    contracts: {
      title: 'Data contracts',
      group: 'Monitoring',
      order: 155,
      description: 'Contracts of the Open Data Contract Standard: validated, and enforced on sources.',
      page: '/guide/contracts',
    },
  },
  make(server) {
    const validator = createValidator(server.textPool)
    server.ext('onRequest', normalizeContentType)
    const deps = depsOf(server)
    const { alerts, catalog, checks, freshness } = deps
    alerts.addKind(contractViolation)
    alerts.connect({ contracts: { alertKind: contractViolation.name, findClauses: clausesOfChecks } })
    catalog.afterDiscovery((trx, source) => judgeDiscovered(deps, trx, source))
    checks.afterScan((trx, { source }, findings) => judgeChecked(deps, trx, source, findings))
    checks.afterStop((trx, source, check) => judgeStopped(deps, trx, source, check))
    freshness.afterCheck((trx, sourceId, findings) => judgeFreshness(deps, trx, sourceId, findings))
    return {
      api: {
        listClauses: clausesOfTables,
        async test(companyId, asked, signal) {
          const { document } = await readContract(ownValidator, { text: asked.text }, companyId)
          const { source } = await deps.db.company(companyId, trx => catalog.findAsset(trx, asked.source))
          const { extraColumns } = asked
          return testContract(deps, { source, document, extraColumns }, { signal })
        },
      },
      routes: [
        ...routes(validator),
        ...enforcementRoutes(deps, validator),
        ...testingRoutes(deps, validator),
        ...exchangeRoutes(deps, validator),
        contractPicture(deps),
      ],
    }
  },
  retention: [
    // What clauses are now stands with them, so their history can go.
    { table: 'contract_events', column: 'at', days: config => config.retentionResultsDays },
    { table: 'contract_exports', column: 'created_at', days: KEPT_HOURS / 24 },
    // A test that was killed in its last attempt leaves its contract; a waiting one is younger.
    { table: 'contract_tests', column: 'created_at', days: 7 },
  ],
  jobs: [enforceJob, testJob, exportJob],
})
