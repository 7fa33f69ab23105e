import { companyOf, type Transaction } from '../../server/database/database.ts'
import { moveTimes } from '../../server/database/move-times.ts'
import { lockName } from '../../server/database/locks.ts'
import { Source, type Run } from './models.ts'
import { lockSource } from './locks.ts'
import { requestDiscovery } from './discovery/jobs.ts'
import type { Jobs } from '../../server/jobs/jobs.ts'
import type { ConfigDeps } from './sources/config.ts'
import { createSource } from './sources/sources.ts'

/**
 * The source that a company tries the product with, as `server.plugins.catalog.demo`. The company of the demo has a second
 * one, made later, that is compared with it.
 */
export interface DemoSources {
  find(trx: Transaction): Promise<Source | undefined>
  /**
   * Gives the one that is there, or makes it and asks for its discovery.
   * @returns it, with the discovery when it was made
   */
  ensure(trx: Transaction, file: DemoFile): Promise<{ source: Source; discovery?: Run }>
  /** Lets a source read a file of the demo. */
  mark(trx: Transaction, sourceId: string): Promise<void>
  /** Starts a discovery, also while the source is paused, as it is while its history is replayed. */
  discover(trx: Transaction, sourceId: string): Promise<Run>
  /** Moves what was found since a moment to another one, so that it counts as found on an earlier day. */
  move(trx: Transaction, since: Date, to: Date): Promise<void>
}

/** The database file of a demo source. */
interface DemoFile {
  /** Another one is found when it is taken. */
  name: string
  path: string
  description: string
}

/** `server.plugins.catalog.demo` of a server. */
export function demoSources(deps: ConfigDeps & { jobs: Jobs }): DemoSources {
  return {
    find,
    move: (trx, since, to) => moveTimes(trx, TIMES, since, to),
    mark: async (trx, sourceId) => void (await Source.query(trx).findById(sourceId).patch({ isDemo: true })),
    discover: async (trx, sourceId) => requestDiscovery(deps.jobs, trx, await lockSource(trx, sourceId)),
    async ensure(trx, { name, path, description }) {
      // When two requests come at once, the second waits and returns the source that the first created.
      await lockName(trx, `demo-source:${companyOf(trx)}`)
      const known = await find(trx)
      if (known) return { source: known }
      const made = await createSource(deps, trx, companyOf(trx), {
        name: await freeName(trx, name),
        source_type: 'sqlite',
        connection_config: { path },
        description,
        discovery_interval: 'off',
        auto_tag_enabled: true,
      })
      const source = await Source.query(trx).patchAndFetchById(made.id, { isDemo: true })
      return { source, discovery: await requestDiscovery(deps.jobs, trx, source) }
    },
  }
}

async function find(trx: Transaction): Promise<Source | undefined> {
  return Source.query(trx).where({ isDemo: true }).orderBy('id').first()
}

async function freeName(trx: Transaction, wanted: string): Promise<string> {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}_${n}`
    if (!(await Source.query(trx).findOne({ name }))) return name
  }
}

/** Columns with times, by table. */
const TIMES = {
  sources: ['created_at', 'updated_at', 'tested_at', 'last_discovery_at'],
  tables: ['created_at', 'updated_at'],
  runs: ['created_at', 'started_at', 'completed_at'],
  schema_changes: ['detected_at', 'acknowledged_at'],
  schema_baselines: ['captured_at'],
}
