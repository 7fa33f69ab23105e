import type { Server } from '@hapi/hapi'
import type { CheckDeps } from '../../plugins/checks/deps.ts'

/** What the engine of checks works with on a server, for tests that call its parts. */
export function checkDepsOf({ db, jobs, pino, telemetry, checks: types, plugins }: Server): CheckDeps {
  const { alerts, catalog, operatingSchedules } = plugins
  return {
    db,
    jobs,
    pino,
    telemetry,
    types,
    catalog,
    alerts,
    operatingSchedules,
    kinds: new Map(),
    listeners: [],
  }
}
