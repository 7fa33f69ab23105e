import { setTimeout as wait } from 'node:timers/promises'
import { v4 } from 'uuid'
import type { Server } from '@hapi/hapi'
import { rows } from '../../server/database.ts'
import { apiError } from '../../server/errors.ts'
import type { Source } from './models.ts'

/** Seconds after which the place of a process that died is free again. */
const LEASE = 60
/** How often a place that is in use is renewed, in milliseconds. */
const RENEWAL_MS = 20_000
/** Milliseconds between two tries to get a place; the first tries follow each other sooner. */
const PATIENT_MS = 1_000

/**
 * Does some work while holding one of the `max_concurrency` places of a source, so that no more sessions than that
 * are open there at once, whoever opens them and in whichever process.
 * @param patienceMs how long to wait for a place
 * @throws 503 `UNAVAILABLE` when none became free in time
 */
export async function withPlace<T>(
  server: Server,
  source: Source,
  work: () => Promise<T>,
  patienceMs: number,
): Promise<T> {
  const holder = v4()
  const place = await take(server, source, holder, patienceMs)
  const renewal = setInterval(() => void renew(server, source, place, holder), RENEWAL_MS)
  try {
    return await work()
  } finally {
    clearInterval(renewal)
    await release(server, source, place, holder)
  }
}

async function take(server: Server, source: Source, holder: string, patienceMs: number): Promise<number> {
  const until = performance.now() + patienceMs
  for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, PATIENT_MS)) {
    const place = await tryTake(server, source, holder)
    if (place !== undefined) return place
    if (performance.now() + pauseMs > until) throw busy(source)
    await wait(pauseMs)
  }
}

/** Two that want the same place at once: the one that comes second finds it taken, and tries again. */
async function tryTake(server: Server, source: Source, holder: string): Promise<number | undefined> {
  const [taken] = await server.db.company(source.companyId, trx =>
    rows<{ place: number }>(
      trx,
      `insert into source_sessions as s (company_id, source_id, place, holder, expires_at)
       select :companyId, :sourceId, n, :holder, now() + make_interval(secs => :lease)
       from generate_series(1, (select max_concurrency from sources where id = :sourceId)) n
       where not exists (select from source_sessions t
         where t.company_id = :companyId and t.source_id = :sourceId and t.place = n and t.expires_at > now())
       order by n limit 1
       on conflict (source_id, place) do update set holder = excluded.holder, expires_at = excluded.expires_at
         where s.expires_at <= now()
       returning place`,
      { companyId: source.companyId, sourceId: source.id, holder, lease: LEASE },
    ),
  )
  return taken?.place
}

async function renew(server: Server, source: Source, place: number, holder: string): Promise<void> {
  try {
    await hold(
      server,
      source,
      `update source_sessions set expires_at = now() + make_interval(secs => ${LEASE})`,
      { place, holder },
    )
  } catch (error) {
    server.pino.warn({ err: error, source_id: source.id }, 'a session of a source could not be renewed')
  }
}

/** What went wrong here must not take the place of what the work gave: the lease ends by itself. */
async function release(server: Server, source: Source, place: number, holder: string): Promise<void> {
  try {
    await hold(server, source, 'delete from source_sessions', { place, holder })
  } catch (error) {
    server.pino.warn({ err: error, source_id: source.id }, 'a session of a source could not be given back')
  }
}

function hold(
  server: Server,
  { companyId, id: sourceId }: Source,
  change: string,
  mine: { place: number; holder: string },
): Promise<object[]> {
  return server.db.company(companyId, trx =>
    rows(
      trx,
      `${change} where company_id = :companyId and source_id = :sourceId and place = :place and holder = :holder`,
      { companyId, sourceId, ...mine },
    ),
  )
}

function busy(source: Source): Error {
  return apiError(
    'UNAVAILABLE',
    `All ${source.maxConcurrency} sessions of ${source.name} are in use: try again, or raise its max_concurrency`,
    { asset_id: source.id, retry_after_seconds: 5 },
  )
}
