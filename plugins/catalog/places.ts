import { setTimeout as wait } from 'node:timers/promises'
import { v4 } from 'uuid'
import type { Server } from '@hapi/hapi'
import { rows } from '../../server/database.ts'
import { apiError } from '../../server/errors.ts'
import { Source } from './models.ts'

/** Seconds after which the place of a process that died is free again. */
const LEASE = 60
/** How often a place that is in use is renewed, in milliseconds. */
const RENEWAL_MS = 20_000
/** Milliseconds between two tries to get a place; the first tries follow each other sooner. */
const PATIENT_MS = 1_000

/** How a place is waited for. */
export interface Patience {
  /** Milliseconds to wait. */
  patienceMs: number
  /** Places left to others where there are several: 1 of work that can wait. */
  leaves: 0 | 1
}

/**
 * Does some work while holding one of the `max_concurrency` places of a source, so that no more sessions than that
 * are open there at once, whoever opens them and in whichever process.
 * @throws 503 `UNAVAILABLE` when none became free in time, 404 `ASSET_NOT_FOUND` when the source is gone
 */
export async function withPlace<T>(
  server: Server,
  source: Source,
  work: () => Promise<T>,
  patience: Patience,
): Promise<T> {
  const holder = v4()
  const place = await take(server, source, holder, patience)
  const renewal = setInterval(() => void renew(server, source, place, holder), RENEWAL_MS)
  try {
    return await work()
  } finally {
    clearInterval(renewal)
    await release(server, source, place, holder)
  }
}

async function take(
  server: Server,
  source: Source,
  holder: string,
  { patienceMs, leaves }: Patience,
): Promise<number> {
  const until = performance.now() + patienceMs
  for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, PATIENT_MS)) {
    const place = await tryTake(server, source, holder, leaves)
    if (place !== undefined) return place
    if (!(await isThere(server, source))) throw gone(source)
    if (performance.now() + pauseMs > until) throw busy(source)
    await wait(pauseMs)
  }
}

/** Two that want the same place at once: the one that comes second finds it taken, and tries again. */
async function tryTake(
  server: Server,
  source: Source,
  holder: string,
  leaves: number,
): Promise<number | undefined> {
  const [taken] = await server.db.company(source.companyId, trx =>
    rows<{ place: number }>(
      trx,
      `with held as (
         select place from source_sessions
         where company_id = :companyId and source_id = :sourceId and expires_at > now())
       insert into source_sessions as s (company_id, source_id, place, holder, expires_at)
       select :companyId, :sourceId, n, :holder, now() + make_interval(secs => :lease)
       from sources, generate_series(1, max_concurrency) n
       where company_id = :companyId and id = :sourceId and n not in (select place from held)
         -- More may be held than there are places since their number was lowered.
         and (select count(*) from held) < greatest(max_concurrency - :leaves, 1)
       order by n limit 1
       on conflict (source_id, place) do update set holder = excluded.holder, expires_at = excluded.expires_at
         where s.expires_at <= now()
       returning place`,
      { companyId: source.companyId, sourceId: source.id, holder, lease: LEASE, leaves },
    ),
  )
  return taken?.place
}

async function isThere(server: Server, { companyId, id }: Source): Promise<boolean> {
  return server.db.company(
    companyId,
    async trx => (await Source.query(trx).findById(id).select('id')) !== undefined,
  )
}

function gone({ id }: Source): Error {
  return apiError('ASSET_NOT_FOUND', 'The source was removed', { asset_id: id })
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
  const error = apiError(
    'UNAVAILABLE',
    `All ${source.maxConcurrency} sessions of ${source.name} are in use: try again, or raise its max_concurrency`,
    { asset_id: source.id, retry_after_seconds: 5 },
  )
  error.output.headers['Retry-After'] = '5'
  return error
}
