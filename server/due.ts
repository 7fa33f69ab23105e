import { raw, type RawBuilder } from 'objection'
import { rows, type Transaction } from './database.ts'

/** Seconds of every interval that something can be due at. */
export const INTERVAL_SECONDS = {
  '5m': 300,
  '15m': 900,
  '30m': 1_800,
  '1h': 3_600,
  '4h': 14_400,
  '6h': 21_600,
  '12h': 43_200,
  '1d': 86_400,
  '1w': 604_800,
  hourly: 3_600,
  every_4_hours: 14_400,
  daily: 86_400,
  weekly: 604_800,
} as const

/** A claimed row. */
export interface Due {
  companyId: string
  sourceId: string
  /** The table, where the rows belong to one. */
  tableId?: string
  /** The time it was due at. */
  slot: Date
}

/** Seconds of an interval in a column: of a name, or of a duration such as `90m`. */
const step = (column: string) => `coalesce(cast(cast(:intervals as jsonb) ->> ${column} as float8),
  case when ${column} ~ '^[0-9]+[mhdw]$' then extract(epoch from cast(${column} as interval)) end)`

/**
 * Claims what is due in a table of schedules: every claimed row gets `running_slot`, the time it was due at,
 * and a `next_run_at` on its own grid, in the future, so that intervals do not drift and what was missed
 * while nobody ran comes once. Several processes never claim one slot twice. The clock is the database's.
 * @param table with `next_run_at`, `running_slot`, `is_active`, `company_id`
 * @param columns the interval's, the source's and, if any, the table's
 * @param full sources of which nothing is claimed now
 * @param patience seconds for which what is claimed already is not claimed again, from when it was due
 */
export async function claimDue(
  trx: Transaction,
  table: string,
  columns: { interval: string; source: string; table?: string },
  {
    limit = 1_000,
    patience,
    full = [],
  }: { limit?: number; patience?: number; full?: readonly string[] } = {},
): Promise<Due[]> {
  const active =
    columns.source === 'id' ? '' : `and (select s.is_active from sources s where s.id = t.${columns.source})`
  const free =
    patience === undefined
      ? ''
      : 'and (running_slot is null or running_slot < now() - make_interval(secs => :patience))'
  const open = full.length === 0 ? '' : `and not t.${columns.source} = any(cast(:full as uuid[]))`
  return rows<Due>(
    trx,
    `update ${table} t
     set running_slot = t.next_run_at,
         next_run_at = t.next_run_at + make_interval(secs => due.step *
           (floor(extract(epoch from now() - t.next_run_at) / due.step) + 1))
     from (
       select ctid as place, ${step(columns.interval)} as step from ${table} t
       where is_active and next_run_at <= now() ${active} ${free} ${open}
       order by next_run_at limit :limit for update skip locked
     ) due
     where t.ctid = due.place and due.step is not null
     returning t.company_id, t.running_slot as slot, t.${columns.source} as source_id${columns.table ? `, t.${columns.table} as table_id` : ''}`,
    { intervals: JSON.stringify(INTERVAL_SECONDS), limit, patience: patience ?? null, full },
  )
}

/** The `next_run_at` of what is given another interval: one interval from now, unless it is due before. */
export function sooner(interval: keyof typeof INTERVAL_SECONDS): RawBuilder {
  return raw('least(next_run_at, now() + make_interval(secs => ?))', [INTERVAL_SECONDS[interval]])
}

/** A row of a table of schedules, as far as its claimed slot goes. */
interface Claimed {
  runningSlot: Date | null
}

/** Whether a slot is still the one that was loaded: another process may have recorded it, or a later one be claimed. */
export function isSameSlot(row: Claimed, loaded: Claimed | undefined): boolean {
  return row.runningSlot !== null && row.runningSlot.getTime() === loaded?.runningSlot?.getTime()
}
