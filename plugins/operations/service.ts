import type { Server } from '@hapi/hapi'
import { API_VERSION } from '../../connectors/api-version.ts'

/** How the service does, which versions it runs on, and what extensions add. */
export async function readService({
  health,
  db,
  config,
  loadedExtensions: extensions,
}: Pick<Server, 'health' | 'db' | 'config' | 'loadedExtensions'>) {
  const [{ status, version, jobs }, [database]] = await Promise.all([
    health(),
    db.statement<{ version: string }>(`select current_setting('server_version') as version`),
  ])
  return {
    status,
    workers: jobs.workers,
    jobs: jobs.status,
    versions: {
      tidemark: version,
      node: process.versions.node,
      postgresql: database!.version,
      plugin_api: API_VERSION,
    },
    extensions,
    uptime_seconds: Math.floor(process.uptime()),
    dashboard_url: config.dashboardUrl ?? null,
  }
}
