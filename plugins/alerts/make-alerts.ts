import { validate as isUuid } from 'uuid'
import type { AlertsApi } from './api.ts'
import type { Deps } from './deps.ts'
import { pauseDigestsOfOwners } from './digests/digests.ts'
import { renameContracts } from './named-contracts.ts'
import { readAlertHealth } from './lifecycle/health.ts'
import { readAlertOverview } from './lifecycle/overview.ts'
import { raiseAll } from './lifecycle/raise.ts'
import { resolveCauses, resolveOrphaned } from './lifecycle/resolve.ts'
import { noAlert } from './lifecycle/find-alert.ts'
import { Alert } from './models.ts'
import { forgetAssets, forgetOwners } from './rules/rules.ts'

/** What other features may ask of alerts. */
export function makeAlerts(deps: Deps): AlertsApi {
  const { kinds, lookUps } = deps
  return {
    addKind: (...added) => kinds.add(...added),
    async raise(trx, event) {
      const [raised] = await raiseAll(deps, trx, [event])
      return raised!
    },
    raiseAll: (trx, events) => raiseAll(deps, trx, events),
    resolve: async (trx, type, cause) => (await resolveCauses(deps, trx, type, [cause])) > 0,
    resolveAll: (trx, type, causes, reason) => resolveCauses(deps, trx, type, causes, reason),
    resolveOrphaned: (trx, orphaned) => resolveOrphaned(deps, trx, orphaned),
    forgetAssets,
    async forgetOwners(trx, owners) {
      await forgetOwners(trx, owners)
      await pauseDigestsOfOwners(trx, owners)
    },
    readHealth: (trx, since) => readAlertHealth(trx, kinds, since),
    readOverview: (trx, scope) => readAlertOverview(trx, kinds, scope),
    async findSubject(trx, alertId) {
      const alert = isUuid(alertId) ? await Alert.query(trx).findById(alertId) : undefined
      if (!alert) throw noAlert(alertId)
      const { assetId, sourceId, title, event } = alert
      return { assetId, sourceId, title, details: event.details as Record<string, unknown> }
    },
    renameContracts,
    connect: added => void Object.assign(lookUps, added),
    openAlertsQuery: `select company_id, asset_id from alerts
      where status in ('triggered', 'acknowledged') and asset_id is not null`,
    filterKnownAssets: async (trx, ids) => (await lookUps.assets?.filterKnown(trx, ids)) ?? [],
  }
}
