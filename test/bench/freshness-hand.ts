/** The fewest statements that find how fresh tables are and store it, for `freshness.ts` to compare with. */
import pg from 'pg'
import type { Source } from '../helpers/source.ts'
import { tableNames, type Watching } from './freshness-world.ts'

/** Sub-selects of one statement: PostgreSQL locks the tables of each. */
const AT_ONCE = 500
const THRESHOLD = 86_400

/** Tables like the product's, with the same indexes, filled as they are at the moment. */
export async function prepareByHand({ own }: Watching): Promise<void> {
  await own.query(`
    create table by_hand.checks (like public.checks including all);
    create table by_hand.results (like public.check_results including all);
    insert into by_hand.checks (id, uuid, company_id, source_id, table_id, kind, type, settings, check_interval)
      overriding system value
      select id, uuid, company_id, source_id, table_id, kind, type, settings, check_interval from public.checks;
    analyze by_hand.checks`)
}

/**
 * Reads the newest timestamp of all tables over a new connection, as one would in another's database, judges
 * them, and writes in one transaction one UPDATE of all checks and one INSERT of all results.
 * @returns how many are stale
 */
export async function sweepByHand(
  source: Source,
  own: pg.Client,
  schedules: ReadonlyMap<string, string>,
): Promise<number> {
  const newest = await readNewest(source, tableNames(schedules.size))
  const now = new Date()
  const ids: string[] = []
  const moments: Date[] = []
  const ages: number[] = []
  for (const [name, moment] of newest) {
    ids.push(schedules.get(name)!)
    moments.push(moment)
    ages.push(Math.max(0, Math.floor((now.getTime() - moment.getTime()) / 1000)))
  }
  const statuses = ages.map(age => (age < THRESHOLD ? 'pass' : 'fail'))
  await write(own, [ids, moments, ages, statuses], now)
  return statuses.filter(status => status === 'fail').length
}

async function readNewest(source: Source, names: readonly string[]): Promise<Map<string, Date>> {
  const { username: user, host, port, database, password } = source.config
  const client = new pg.Client({ user, host, port, database, password })
  await client.connect()
  try {
    const found = new Map<string, Date>()
    for (let from = 0; from < names.length; from += AT_ONCE) {
      const part = names.slice(from, from + AT_ONCE)
      const text = `select ${part.map(name => `(select max(updated_at) from ${name})`).join(', ')}`
      const { rows } = await client.query<Date[]>({ text, rowMode: 'array' })
      part.forEach((name, at) => found.set(name, rows[0]![at]!))
    }
    return found
  } finally {
    await client.end()
  }
}

async function write(own: pg.Client, columns: readonly unknown[][], now: Date): Promise<void> {
  const seen = `unnest(cast($1 as bigint[]), cast($2 as timestamptz[]), cast($3 as bigint[]), cast($4 as text[]))
    as r (id, last_updated, age, status)`
  await own.query('begin')
  await own.query(
    `update by_hand.checks c set status = r.status, last_checked_at = $5, running_slot = null, settings = settings
       || jsonb_build_object('lastUpdated', r.last_updated, 'expectedNext', r.last_updated + interval '1 day')
     from ${seen} where c.id = r.id`,
    [...columns, now],
  )
  await own.query(
    `insert into by_hand.results (company_id, check_id, status, value, details, at)
     select c.company_id, c.id, r.status, r.age, jsonb_build_object('lastUpdated', r.last_updated), $5
     from ${seen} join by_hand.checks c on c.id = r.id`,
    [...columns, now],
  )
  await own.query('commit')
}
