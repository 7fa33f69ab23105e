import { raw, type RawBuilder } from 'objection'
import { rows, type Transaction } from './database.ts'

/** Seconds of each schedule interval. */
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

export interface Due {
  companyId: string
  sourceId: string
  /** The table, where the rows belong to one. */
  tableId?: string
  slot: Date
}

/** SQL for the seconds of a column's interval: a name, or a duration such as `90m`. */
const step = (column: string) => `coalesce(cast(cast(:intervals as jsonb) ->> ${column} as float8),
  case when ${column} ~ '^[0-9]+[mhdw]$' then extract(epoch from cast(${column} as interval)) end)`

/** The first time after now on the grid of a `next_run_at`, with `seconds` between two times. */
const onGrid = (nextRunAt: string, seconds: string) =>
  `${nextRunAt} + make_interval(secs => ${seconds} *
    (floor(extract(epoch from now() - ${nextRunAt}) / ${seconds}) + 1))`

/**
 * Claims what is due in a table of schedules: every claimed row gets `running_slot`, the time it was due at,
 * and a future `next_run_at` on its own grid, so that intervals do not drift and runs missed while no process ran
 * are made up for once. Several processes never claim one slot twice. The clock is the database's.
 * @param table with `next_run_at`, `running_slot`, `is_active`, `company_id`
 * @param columns the interval's, the source's and, if any, the table's
 * @param full sources of which nothing is claimed now
 * @param patience seconds, counted from the due time, before a claimed slot may be claimed again
 * @param except an SQL condition on a row `t`: what satisfies it is not claimed now
 * @param kinds the kinds of rows that are claimed; defaults to all
 * @param gridOf SQL for a time on the grid that a row `t` takes up; NULL, as by default, where it keeps its own
 */
export async function claimDue(
  trx: Transaction,
  table: string,
  columns: { interval: string; source: string; table?: string },
  {
    limit = 1_000,
    patience,
    full = [],
    except,
    kinds,
    gridOf = 'cast(null as timestamptz)',
  }: {
    limit?: number
    patience?: number
    full?: readonly string[]
    except?: string
    kinds?: readonly string[]
    gridOf?: string
  } = {},
): Promise<Due[]> {
  const active =
    columns.source === 'id' ? '' : `and (select s.is_active from sources s where s.id = t.${columns.source})`
  const free =
    patience === undefined
      ? ''
      : 'and (running_slot is null or running_slot < now() - make_interval(secs => :patience))'
  const open = full.length === 0 ? '' : `and not t.${columns.source} = any(cast(:full as uuid[]))`
  const others = except === undefined ? '' : `and not ${except}`
  const ofKinds = kinds === undefined ? '' : 'and kind = any(:kinds)'
  return rows<Due>(
    trx,
    `update ${table} t
     set running_slot = t.next_run_at,
         next_run_at = ${onGrid('coalesce(due.grid, t.next_run_at)', 'due.step')}
     from (
       select ctid as place, ${step(columns.interval)} as step, ${gridOf} as grid from ${table} t
       where is_active and next_run_at <= now() ${active} ${free} ${open} ${others} ${ofKinds}
       order by next_run_at limit :limit for update skip locked
     ) due
     where t.ctid = due.place and due.step is not null
     returning t.company_id, t.running_slot as slot, t.${columns.source} as source_id${columns.table ? `, t.${columns.table} as table_id` : ''}`,
    {
      intervals: JSON.stringify(INTERVAL_SECONDS),
      limit,
      patience: patience ?? null,
      full,
      kinds: kinds ?? null,
    },
  )
}

/** The `next_run_at` after a change of interval: one interval from now, unless it is due before. */
export function sooner(interval: string): RawBuilder {
  return raw(`least(next_run_at, now() + make_interval(secs => ${step('cast(:interval as text)')}))`, {
    interval,
    intervals: JSON.stringify(INTERVAL_SECONDS),
  })
}

/** The columns of a patch of a scheduled row, with those that follow: one that is switched off drops its claimed slot. */
export function rescheduled<Columns extends { isActive?: boolean; checkInterval?: string }>(
  columns: Columns,
) {
  return {
    ...columns,
    ...(columns.isActive === false && { runningSlot: null }),
    ...(columns.checkInterval && { nextRunAt: sooner(columns.checkInterval) }),
    updatedAt: new Date(),
  }
}

/**
 * The `next_run_at` of a due row that was measured outside the sweep: the first future time on its grid.
 * @param interval the interval's column
 * @param gridOf SQL for a time on the grid that it takes up, as in `claimDue`
 */
export function nextOnGrid(interval: string, gridOf = 'null'): RawBuilder {
  const anchor = `coalesce(${gridOf}, next_run_at)`
  return raw(`coalesce(${onGrid(anchor, step(interval))}, next_run_at)`, {
    intervals: JSON.stringify(INTERVAL_SECONDS),
  })
}

/** The columns of a row whose claimed slot could not be measured: it is due again, at the time that it was due at. */
export function dueAgain() {
  return { nextRunAt: raw('least(next_run_at, running_slot)'), runningSlot: null }
}

/** The claimed slot of a row in a table of schedules. */
interface Claimed {
  runningSlot: Date | null
}

/** A row of a table of schedules, as it was before it was measured outside the sweep. */
interface Planned extends Claimed {
  nextRunAt: Date
  /** Whether the sweep would have claimed it then. */
  isDue?: boolean
}

/** What measuring a row outside the sweep consumes. */
export interface TakenSlot {
  /** The due time that is measured for; null where none was open. */
  slot: Date | null
  /** Whether it is that of `next_run_at`, which is to move on; else a sweep has claimed it. */
  isNext: boolean
}

/**
 * The due time that a row which was measured outside the sweep is measured for: what was due, or claimed, before
 * measuring began, and that no process has recorded since.
 * @param row as it is now, locked
 * @param before as it was when measuring began
 */
export function takenSlot(row: Planned, before: Planned): TakenSlot {
  const open = [before.isDue ? before.nextRunAt : null, before.runningSlot].map(slot => slot?.getTime())
  const isOpen = (slot: Date | null) => slot !== null && open.includes(slot.getTime())
  // A claimed slot that was released since is due again.
  if (isOpen(row.nextRunAt)) return { slot: row.nextRunAt, isNext: true }
  return { slot: isOpen(row.runningSlot) ? row.runningSlot : null, isNext: false }
}

/** Whether a slot is still the one that was loaded: another process may have recorded it, or a later one be claimed. */
export function isSameSlot(row: Claimed, loaded: Claimed | undefined): boolean {
  return row.runningSlot !== null && row.runningSlot.getTime() === loaded?.runningSlot?.getTime()
}
