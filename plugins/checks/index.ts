import { feature } from '../../server/feature.ts'
import { learningFromDismissals } from './alerts.ts'
import type { ScanListener } from './types.ts'
import type { DeclaredChecks, ChecksApi } from './api.ts'
import { makeCheckJob, makeCheckRoute } from './check-job.ts'
import { checkListRoutes } from './list/check-list.ts'
import { typeLabelsOf } from './list/check-title.ts'
import { checkRoutes } from './check-routes.ts'
import { configure, configureTable } from './create/configure.ts'
import { COST_RETENTION_DAYS, costExtension } from './costs/costs.ts'
import { costRoute } from './costs/cost-routes.ts'
import { checksOfResource } from './declared/checks-of-resource.ts'
import { withSharedSession } from './declared/shared-session.ts'
import type { StopListener } from './declared/declared-checks.ts'
import { depsOf } from './deps.ts'
import { dispatch, makeScanJobs } from './jobs.ts'
import type { CheckKind, SourceKind } from './kind.ts'
import { requireScopeForSql } from './create/caller-sql.ts'
import { partMismatch } from './parts/alert-kind.ts'
import { partRoutes } from './parts/part-routes.ts'
import { qualityExtension } from './quality.ts'
import { secondTables } from './second-tables.ts'
import { checkAsset, resolveTarget } from './run/asset.ts'
import { runTable } from './run/select.ts'
import { backfill, dryRun, measureOnce } from './create/try.ts'
import { makeReconciler } from './reconcile/reconciler.ts'
import { estimateBytes } from './costs/estimate.ts'
import { makeBackfillJob, sendBackfill } from './past/backfill-job.ts'
import { readSeries } from './series.ts'
import { makeSourceJob } from './source-jobs.ts'
import { typeRoute } from './type-routes.ts'
import { makeWatchLookup } from './list/unwatched.ts'

/** One pass over a table for every check that is due on it, across features. */
export const checks = feature<ChecksApi>({
  name: 'checks',
  needs: ['alerts', 'catalog', 'operatingSchedules'],
  tags: {
    checks: {
      title: 'Checks',
      group: 'Monitoring',
      order: 115,
      description: 'Rules, metrics and referential checks together.',
      page: '/guide/checks',
    },
  },
  make(server) {
    const { alerts, catalog } = server.plugins
    const kinds = new Map<string, CheckKind>()
    const sourceKinds = new Map<string, SourceKind>()
    const declared: DeclaredChecks[] = []
    const listeners: ScanListener[] = []
    const stopListeners: StopListener[] = []
    const { partsFromRows: fromRows, partsRescanDays: rescanDays } = server.config
    const countMismatch = server.telemetry.addCounter(
      'part_mismatches',
      'Tables that are read whole again, because kept numbers of their parts were wrong',
      ['engine'],
    )
    const parts = { fromRows, rescanDays, countMismatch }
    const labels = typeLabelsOf(server.checks, kinds)
    const deps = depsOf(server, { kinds, sourceKinds, listeners, parts })
    const notifyStopped: StopListener = async (trx, source, check) => {
      for (const listener of stopListeners) await listener(trx, source, check)
    }
    const api: ChecksApi = {
      addKind(kind) {
        kinds.set(kind.name, kind)
        const learnExpected = kind.startState && learningFromDismissals(kind)
        alerts.addKind({ ...kind.alert, ...(learnExpected && { learnExpected }) })
      },
      addSourceKind(kind) {
        sourceKinds.set(kind.name, kind)
        alerts.addKind(kind.alert)
        return makeSourceJob(deps, kind)
      },
      labelOfType: type => labels.labelOf(type),
      kinds: () => [...kinds.values()],
      routesOf(resource) {
        declared.push(checksOfResource(alerts, resource))
        return checkRoutes(deps, { onStop: notifyStopped }, resource)
      },
      declare: checks => void declared.push(checks),
      declaredKinds: () => declared,
      reconciler: makeReconciler({ ...deps, kinds: () => declared, notifyStopped }),
      afterStop: listener => void stopListeners.push(listener),
      notifyStopped,
      afterScan: listener => void listeners.push(listener),
      runTable: (companyId, tableId, which, choice) => runTable(deps, { companyId, tableId, which }, choice),
      resolveTarget: (trx, companyId, assetId, tablePath) =>
        resolveTarget(deps, trx, { companyId, assetId, tablePath }),
      checkAsset: (target, options) => checkAsset(deps, target, options),
      readSeries: (trx, check) => readSeries(deps, trx, check),
      dispatch: () => dispatch(deps),
      configure: (companyId, assetId, request) => configure(deps, companyId, assetId, request),
      configureTable: (table, request, asksEngine) => configureTable(deps, table, request, asksEngine),
      withSharedSession: (source, work) => withSharedSession(catalog, source, work),
      backfill: (configured, choice) => backfill(deps, configured, choice),
      dryRun: (...asked) => dryRun(deps, ...asked),
      requireScopeForSql,
      estimateBytes: (companyId, tableIds) => estimateBytes(deps, companyId, tableIds),
      sendBackfill: (trx, source) => sendBackfill(deps, trx, source),
      measureOnce: (table, checks) => measureOnce(deps, table, checks),
    }
    server.vocabularies.set('check_kind', () => [...kinds.keys()])
    server.vocabularies.set('check_feature', () => [...kinds.values()].map(({ feature }) => feature))
    server.vocabularies.set('declared_kind', () => declared.map(({ kind }) => kind))
    alerts.addKind(partMismatch)
    const enforcingTypes = () =>
      server.connectors.all().flatMap(({ name, dialect }) => (dialect.comparison?.enforcesKeys ? name : []))
    alerts.connect({ watch: makeWatchLookup(enforcingTypes) })
    catalog.extendAssets(qualityExtension(deps))
    catalog.extendAssets(costExtension)
    catalog.extendAssets(secondTables(deps))
    server.partitions.add({
      name: 'check_results',
      retention: 'retentionResultsDays',
      tables: [{ table: 'check_results', by: 'at', unique: 'check_id, series, scheduled_for' }],
    })
    // A day ages from its end.
    server.retention.push({ table: 'scan_costs', column: 'day', days: COST_RETENTION_DAYS + 1 })
    server.typesInUse.push(
      {
        what: 'check type',
        isLoaded: name => deps.types.has(name),
        names: `select distinct type as name from checks where type <> kind`,
      },
      {
        what: 'check kind',
        isLoaded: name => kinds.has(name) || sourceKinds.has(name),
        names: `select distinct kind as name from checks`,
      },
    )
    return {
      api,
      jobs: [...makeScanJobs(deps), makeCheckJob(deps), makeBackfillJob(deps)],
      routes: [
        makeCheckRoute(deps),
        ...checkListRoutes({ kinds, catalog, labels }),
        typeRoute,
        costRoute(kinds),
        ...partRoutes(deps),
      ],
    }
  },
})
