import type { Server } from '@hapi/hapi'
import type { Health } from '../../server/telemetry/health.ts'

/** How the service does, and which versions it runs on. */
export interface ServiceState {
  status: Health['status']
  /** The workers of this process: `none` when it only serves requests. */
  workers: Health['jobs']['workers']
  /** `late`: no worker takes the waiting jobs. */
  jobs: Health['jobs']['status']
  versions: { tidemark: string; node: string; postgresql: string }
  /** Seconds since this process started. */
  uptime_seconds: number
  /** Where the operators of the installation have put the job dashboard. */
  dashboard_url: string | null
}

export async function readService({ health, db, config }: Server): Promise<ServiceState> {
  const [{ status, version, jobs }, [database]] = await Promise.all([
    health(),
    db.statement<{ version: string }>(`select current_setting('server_version') as version`),
  ])
  return {
    ...{ status, workers: jobs.workers, jobs: jobs.status },
    versions: { tidemark: version, node: process.versions.node, postgresql: database!.version },
    uptime_seconds: Math.floor(process.uptime()),
    dashboard_url: config.dashboardUrl ?? null,
  }
}
