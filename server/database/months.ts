/** Months as partitions: reads the partitions that exist, and computes where months begin. */
import { rows, type Transaction } from './database.ts'

/** A partition: from `from`, to before `to`; null where it is open. */
export interface Partition {
  table: string
  name: string
  from: Date | null
  to: Date | null
}

/** Reads the database's clock and the partitions of some tables. */
export async function readPartitions(trx: Transaction, tables: readonly string[]) {
  // Bounds are shown in the zone of the session.
  const [clock] = await rows<{ now: Date }>(trx, `select now(), set_config('timezone', 'UTC', true)`)
  const bounds = await rows<{ table: string; name: string; bound: string }>(
    trx,
    `select p.relname as table, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
       from pg_inherits join pg_class c on c.oid = inhrelid join pg_class p on p.oid = inhparent
      where inhparent = any(array(select cast(to_regclass(t) as oid) from unnest(cast(:tables as text[])) t))
      order by name`,
    { tables: [...tables] },
  )
  const partitions = bounds.map(({ table, name, bound }) => {
    const [, from, to] = /FROM \((.+)\) TO \((.+)\)$/.exec(bound) ?? []
    return { table, name, from: parseBound(from), to: parseBound(to) }
  })
  return { now: clock?.now ?? new Date(), partitions }
}

/** Parses a bound such as `'2026-12-01 00:00:00+00'` or a UUID v7; null for MINVALUE and MAXVALUE. */
function parseBound(bound = ''): Date | null {
  const [, text] = /^'(.+)'$/.exec(bound) ?? []
  if (text === undefined) return null
  const [, uuid] = /^([0-9a-f]{8}-[0-9a-f]{4})-/.exec(text) ?? []
  return uuid === undefined
    ? new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z'))
    : new Date(Number.parseInt(uuid.replace('-', ''), 16))
}

export function leastUuid(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** The beginning, in UTC, of the month that is `months` after the month of `at`. */
export function monthAfter(at: Date, months: number): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1))
}

/** The beginnings of the months from `from` to before `to`. */
export function monthsBetween(from: Date, to: Date): Date[] {
  const months: Date[] = []
  for (let month = from; month < to; month = monthAfter(month, 1)) months.push(month)
  return months
}
