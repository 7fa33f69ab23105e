import type { Plugin } from '@hapi/hapi'
import type { CheckFeature, DeclaredChecks, ScanListener, ScansApi } from './api.ts'
import { checkAsset, resolveTarget } from './check.ts'
import { checkJob, checkRoute } from './check-job.ts'
import { checkListRoutes } from './list/check-list.ts'
import { checkRoutes } from './check-routes.ts'
import { configure, configureTable } from './configure.ts'
import { costExtension } from './costs/costs.ts'
import { costRoute } from './costs/cost-routes.ts'
import { checksOfResource } from './declared/checks-of-resource.ts'
import { withSharedSession } from './declared/shared-session.ts'
import { CHECK_KINDS, type FindOwners, type StopListener } from './declared/declared-checks.ts'
import { dispatch, dispatchJob, pruneJob, scanJob } from './jobs.ts'
import { createMissingChecks } from './missing.ts'
import { requireScopeForSql } from './caller-sql.ts'
import { backfill, dryRun, measureOnce } from './past.ts'
import { qualityExtension } from './quality.ts'
import { makeReconciler } from './reconcile/reconciler.ts'
import { runRow, runTable } from './select.ts'
import { readSeries } from './series.ts'
import { typeRoute } from './type-routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** One pass over a table for every check that is due on it, across features. */
export const scans: Plugin<undefined> = {
  name: 'scans',
  dependencies: ['catalog'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      checks: {
        title: 'Checks',
        group: 'Monitoring',
        order: 115,
        description: 'Rules, metrics and referential checks together.',
        page: '/api/public/docs/checks.md',
      },
    } satisfies Record<string, ApiTag>)
    const features: CheckFeature[] = []
    const declared: DeclaredChecks[] = []
    const owners: FindOwners[] = []
    const ownerTexts: string[] = []
    const listeners: ScanListener[] = []
    const stopListeners: StopListener[] = []
    const declaredKinds = () =>
      declared.toSorted((one, other) => CHECK_KINDS.indexOf(one.kind) - CHECK_KINDS.indexOf(other.kind))
    const findOwners: FindOwners = async (trx, kind, checkIds) => {
      const found = await Promise.all(owners.map(find => find(trx, kind, checkIds)))
      return new Map(found.flatMap(each => [...each]))
    }
    const notifyStopped: StopListener = async (trx, source, check) => {
      for (const listener of stopListeners) await listener(trx, source, check)
    }
    server.plugins.catalog.extendAssets(qualityExtension(features))
    server.plugins.catalog.extendAssets(costExtension)
    server.jobs.add(scanJob, dispatchJob, checkJob, pruneJob)
    server.route([
      checkRoute,
      ...checkListRoutes(server, features, ownerTexts),
      typeRoute,
      costRoute(features),
    ])
    server.expose({
      contribute(feature) {
        features.push(feature as unknown as CheckFeature)
        return (row, choice) => runRow(server, feature, row, choice)
      },
      routesOf(resource) {
        declared.push(checksOfResource(resource))
        return checkRoutes(server, resource)
      },
      declare: checks => void declared.push(checks),
      declaredKinds,
      reconciler: makeReconciler({ kinds: declaredKinds, findOwners, notifyStopped }),
      addOwners(find, text) {
        owners.push(find)
        ownerTexts.push(text)
      },
      findOwners,
      afterStop: listener => void stopListeners.push(listener),
      notifyStopped,
      afterScan: listener => void listeners.push(listener),
      async notifyScanned(trx, table, findings) {
        for (const listener of listeners) await listener(trx, table, findings)
      },
      runTable: (companyId, tableId, which, choice) =>
        runTable(server, features, { companyId, tableId, which }, choice),
      resolveTarget: (trx, companyId, assetId, tablePath) =>
        resolveTarget(server, features, trx, { companyId, assetId, tablePath }),
      checkAsset: (target, options) => checkAsset(server, features, target, options),
      readSeries: (trx, check) => readSeries(server, features, trx, check),
      createMissing: (request, store) => createMissingChecks(server, request, store),
      dispatch: () => dispatch(server, features),
      configure: (companyId, assetId, request) => configure(server, companyId, assetId, request),
      configureTable: (table, request, asksEngine) => configureTable(server, table, request, asksEngine),
      withSharedSession: (source, work) => withSharedSession(server, source, work),
      backfill: (configured, choice) => backfill(server, configured, choice),
      dryRun: (configured, choice) => dryRun(server, configured, choice),
      requireScopeForSql,
      measureOnce: (table, checks) => measureOnce(server, table, checks),
    } satisfies ScansApi)
  },
}
