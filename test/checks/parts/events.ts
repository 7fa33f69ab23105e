/** A partitioned table of a PostgreSQL, and its checks measured by parts and whole. */
import { scanWithParts, type PartsScanResult } from '../../../checks/scan-parts.ts'
import type { PartState } from '../../../checks/parts/states.ts'
import type { Check, CheckOutcome } from '../../../checks/check.ts'
import { scan, type ScanOptions } from '../../../checks/scan.ts'
import type { TableInfo } from '../../../connectors/catalog.ts'
import type { Connection, Connector } from '../../../connectors/connector.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { connectOptions, settings, startSource, withSession, type Source } from '../../helpers/source.ts'
import { check } from '../scan-helpers.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** Checks of every type that merges, of each kind of column. */
export function mergeableChecks(rest: Partial<Check> = {}): Check[] {
  const one = (name: string, column?: string, config?: Record<string, unknown>, more: Partial<Check> = {}) =>
    check(name, column, config, { ...rest, ...more })
  return [
    one('row_count'),
    ...['amount', 'price', 'ratio'].flatMap(column =>
      ['sum', 'mean', 'standard_deviation', 'min_value', 'max_value', 'null_percent'].map(name =>
        one(name, column),
      ),
    ),
    ...['min_length', 'mean_length', 'max_length'].map(name => one(name, 'status')),
    one('NOT_NULL', 'status'),
    one('RANGE', 'amount', { min: 0, max: 50 }, { nullIsValid: true }),
    one('RANGE', 'amount', { min: 0, max: 50 }),
    one('ENUM', 'status', { allowed_values: ['new', 'paid'] }),
    one('REGEX', 'status', { pattern: '^p' }, { nullIsValid: true }),
    one('DATE_FORMAT', 'day', { format: 'YYYY-MM-DD' }),
  ]
}

/** What does not merge, and is read whole beside it. */
export const wholeChecks = (): Check[] => [
  check('UNIQUE', 'amount'),
  check('distinct_count', 'status'),
  check('row_count', undefined, {}, { filter: `at < now()` }),
]

export interface Events {
  source: Source
  connection: Connection
  /** The table as the catalog has it now. */
  table(): Promise<TableInfo>
  /** Runs statements as the owner, whose changes are counted at once. */
  change(...statements: string[]): Promise<void>
  /** Measures by parts, and keeps what was read. */
  merged(
    checks: readonly Check[],
    options?: Partial<ScanOptions> & { rescanSeconds?: number; at?: Date },
  ): Promise<PartsScanResult>
  whole(checks: readonly Check[]): Promise<CheckOutcome[]>
  states: Map<string, PartState>
}

/** Makes the table `events` with a partition of each of some days. */
export async function makeEvents(t: Teardown, days: number): Promise<Events> {
  const source = await startSource(t)
  const connection = await postgresql.connect(settings(source.config), connectOptions)
  t.teardown(() => connection.close())
  const states = new Map<string, PartState>()
  const engine = postgresql as unknown as Connector
  const events: Events = {
    source,
    connection,
    states,
    async table() {
      const [table] = await connection.introspect({
        tables: [{ catalog: source.name, schema: 'public', name: 'events' }],
      })
      return table!
    },
    async change(...statements) {
      for (const statement of statements) await source.query(statement)
      await source.query('select pg_stat_force_next_flush()')
    },
    async merged(checks, { rescanSeconds = 1e9, at: now = new Date(), ...options } = {}) {
      const known = { states, now, rescanSeconds }
      const all = { timeoutMs: 60_000, ...options, known }
      const table = await events.table()
      // A session of its own, which the log of the source has from its start.
      const scanned = await withSession(source.config, session =>
        scanWithParts(session, engine, table, checks, all),
      )
      for (const { name, version, numbers, isWhole } of scanned.parts?.read ?? [])
        states.set(name, { version, numbers: { ...(!isWhole && states.get(name)?.numbers), ...numbers } })
      return scanned
    },
    whole: async checks =>
      (await scan(connection, engine, await events.table(), checks, { timeoutMs: 60_000 })).outcomes,
  }
  await events.change(
    `create table events (id bigint generated always as identity, at timestamp not null, amount int, price numeric(30, 10),
       ratio double precision, status text, day text, primary key (id, at)) partition by range (at)`,
    ...Array.from({ length: days }, (_, day) => partitionOf(day)),
  )
  return events
}

export const dayText = (day: number) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10)

export const partitionOf = (day: number) =>
  `create table events_${day} partition of events for values from ('${dayText(day)}') to ('${dayText(day + 1)}')`

/** Inserts rows of a day whose values differ by a seed. */
export const rowsOf = (day: number, count: number, seed: number) =>
  `insert into events (at, amount, price, ratio, status, day)
   select timestamp '${dayText(day)}' + n * interval '1 second', nullif((n * 37 + ${seed}) % 90, 7) - 10,
     nullif((n * 7919 + ${seed}) % 1000, 3) / 7.0 * 1e15, nullif((n + ${seed}) % 11, 4) / 7.0 - 0.3,
     (array['new', 'paid', 'péter', '', null])[1 + (n + ${seed}) % 5],
     case when (n + ${seed}) % 6 > 0 then '2026-02-' || lpad((20 + n % 12)::text, 2, '0') end
   from generate_series(1, ${count}) n`
