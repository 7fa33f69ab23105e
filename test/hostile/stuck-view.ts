/** A view that gives no rows for as long as a test wants: a table that is locked fails after a second instead. */
import type { Source } from '../helpers/source.ts'

/** An advisory lock of the source's database: while it is held, its stuck views give no rows. */
const LOCK = 7

/** Makes the function that stuck views call. */
export async function allowStuckViews(source: Source): Promise<void> {
  await source.query(`create function is_free() returns int language plpgsql as $$ begin
    while not pg_try_advisory_xact_lock_shared(${LOCK}) loop perform pg_sleep(0.05); end loop;
    return 1; end $$`)
}

/** Makes a view over a query that gives its rows only while the source is not held. */
export async function makeStuckView(source: Source, name: string, query: string): Promise<void> {
  await source.query(
    `create view ${name} as select q.* from (${query}) q, lateral (select is_free() offset 0) s`,
  )
}

/** From now on, stuck views of the source give no rows. */
export const hold = (source: Source) => source.query(`select pg_advisory_lock(${LOCK})`)

export const release = (source: Source) => source.query(`select pg_advisory_unlock(${LOCK})`)

/** How many statements wait in stuck views of the source. */
export async function countStuck(source: Source): Promise<number> {
  const found = await source.query(
    `select count(*) from pg_stat_activity where datname = $1 and wait_event = 'PgSleep'`,
    [source.name],
  )
  return Number(found[0]?.count)
}
