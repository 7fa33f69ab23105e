import type { Server } from '@hapi/hapi'
import type { AlertsApi } from '../alerts/api.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { OperatingSchedulesApi } from '../operating-schedules/api.ts'
import type { ScanListener } from './types.ts'
import type { CheckKind, SourceKind } from './kind.ts'

/** What checks are run with. */
export interface CheckDeps extends Pick<Server, 'db' | 'jobs' | 'pino' | 'telemetry'> {
  /** The types of rules and metrics. */
  types: Server['checks']
  catalog: CatalogApi
  alerts: AlertsApi
  operatingSchedules: OperatingSchedulesApi
  /** The setting TIMEZONE: the zone of sources that name none. */
  timezone: string
  /** When tables are read by parts. */
  parts: {
    /** Estimated rows from which they are, by default. */
    fromRows: number
    rescanDays: number
    /** Counts tables of which what was kept was wrong. */
    countMismatch(labels: { engine: string }): void
  }
  /** The kinds of checks by their names, in the order in which their rows are locked. */
  kinds: ReadonlyMap<string, CheckKind>
  /** The kinds that are measured for many tables of a source at once. */
  sourceKinds: ReadonlyMap<string, SourceKind>
  /** Called after each scan was recorded, in its transaction. */
  listeners: readonly ScanListener[]
}

/** @param added what other features add to the checks */
export function depsOf(
  server: Pick<Server, 'checks' | 'config' | 'db' | 'jobs' | 'pino' | 'plugins' | 'telemetry'>,
  added: Pick<CheckDeps, 'kinds' | 'sourceKinds' | 'listeners' | 'parts'>,
): CheckDeps {
  const { db, jobs, pino, telemetry, checks: types } = server
  const { timezone } = server.config
  const { alerts, catalog, operatingSchedules } = server.plugins
  return { db, jobs, pino, telemetry, types, catalog, alerts, operatingSchedules, timezone, ...added }
}
