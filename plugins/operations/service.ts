import type { Server } from '@hapi/hapi'

/** How the service does, and which versions it runs on. */
export async function readService({ health, db, config }: Pick<Server, 'health' | 'db' | 'config'>) {
  const [{ status, version, jobs }, [database]] = await Promise.all([
    health(),
    db.statement<{ version: string }>(`select current_setting('server_version') as version`),
  ])
  return {
    status,
    workers: jobs.workers,
    jobs: jobs.status,
    versions: { tidemark: version, node: process.versions.node, postgresql: database!.version },
    uptime_seconds: Math.floor(process.uptime()),
    dashboard_url: config.dashboardUrl ?? null,
  }
}
