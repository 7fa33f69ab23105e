import { setImmediate } from 'node:timers/promises'
import { learnPoint, STATE_VERSION, type DetectorState } from '../../../checks/detector.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { CheckKind } from '../kind.ts'
import type { CheckRow, CheckState } from '../models.ts'
import { loadPoints, seriesJson, type SeriesOf } from './points.ts'

/** What is known of a series before a result. */
export interface SeriesState {
  /** Null of a check that learns nothing. */
  state: DetectorState | null
  /** As in `CheckState`; 0 of a series without a state. */
  run: number
  lastSeenAt: Date | null
  /** No result of it is stored that has a value. */
  isNew: boolean
}

const UNLEARNED: SeriesState = { state: null, run: 0, lastSeenAt: null, isNew: false }

/**
 * What was learned of each series, in their order; rebuilt from its results where it is not stored. One statement for
 * what is stored and, where it is needed, one for the results.
 */
export async function loadStates<Row extends CheckRow>(
  trx: Transaction,
  { startState }: Pick<CheckKind<Row>, 'startState'>,
  all: readonly SeriesOf<Row>[],
): Promise<SeriesState[]> {
  const learning = all.flatMap(item => {
    const start = startState?.(item.row)
    return start ? [{ ...item, start }] : []
  })
  const stored = await loadStoredStates(trx, learning)
  const rebuilt = learning.filter((_, place) => stored[place]?.state?.version !== STATE_VERSION)
  const pasts = await loadPoints(trx, rebuilt)
  const states = new Map<string, SeriesState>()
  for (const [place, item] of learning.entries()) {
    const row = stored[place]
    const past = pasts[rebuilt.indexOf(item)]
    states.set(keyOf(item), {
      state: past ? past.reduce(learnPoint, item.start) : row!.state,
      run: row?.run ?? 0,
      lastSeenAt: row?.lastSeenAt ?? null,
      isNew: !row && !past?.length,
    })
    // Reading a past takes tens of milliseconds, and others wait for this process.
    if (past) await setImmediate()
  }
  return all.map(item => states.get(keyOf(item)) ?? UNLEARNED)
}

const keyOf = ({ row, series }: SeriesOf) => `${row.id} ${JSON.stringify(series)}`

type StoredSeriesState = Pick<CheckState, 'state' | 'run' | 'lastSeenAt'>

async function loadStoredStates(trx: Transaction, all: readonly SeriesOf[]) {
  if (all.length === 0) return []
  const found = await rows<StoredSeriesState & { place: number }>(
    trx,
    `select g.place, s.state, s.run, s.last_seen_at
     from jsonb_to_recordset(cast(:series as jsonb)) as g(place integer, check_id bigint, series jsonb)
     join check_states s on s.check_id = g.check_id and s.series = g.series
     where s.company_id = :companyId`,
    { series: seriesJson(all), companyId: companyOf(trx) },
  )
  const stored: (StoredSeriesState | undefined)[] = all.map(() => undefined)
  for (const row of found) stored[row.place] = row
  return stored
}

/** Stores what was learned of series that a result has just had, by one statement. */
export async function saveStates(
  trx: Transaction,
  learned: readonly (SeriesOf<Pick<CheckRow, 'id'>> & { state: DetectorState })[],
  at: Date,
): Promise<void> {
  if (learned.length === 0) return
  const states = learned.map(({ row, series, state }) => ({ check_id: row.id, series, state }))
  await rows(
    trx,
    `insert into check_states (company_id, check_id, series, state, run, last_seen_at)
     select c.company_id, l.check_id, l.series, l.state, 1, :at
     from jsonb_to_recordset(cast(:states as jsonb)) as l(check_id bigint, series jsonb, state jsonb)
     join checks c on c.company_id = :companyId and c.id = l.check_id
     on conflict (check_id, series) do update
       set state = excluded.state, run = greatest(check_states.run, 0) + 1, last_seen_at = excluded.last_seen_at`,
    { states: JSON.stringify(states), companyId: companyOf(trx), at },
  )
}

/** A state of no version that is read: it is rebuilt at the next result, and the series stays known. */
const STALE_STATE = JSON.stringify({ version: 0 })

/** Makes what was learned of checks be read from their results again. */
export async function relearn(trx: Transaction, checks: readonly Pick<CheckRow, 'id'>[]): Promise<void> {
  await rows(
    trx,
    `update check_states set state = cast(:stale as jsonb)
     where company_id = :companyId and check_id = any(cast(:ids as bigint[]))`,
    { stale: STALE_STATE, companyId: companyOf(trx), ids: checks.map(({ id }) => id) },
  )
}

/** Marks the results of an alert as confirmed, and makes what was learned of their series be read again. */
export async function confirmResults(
  trx: Transaction,
  check: Pick<CheckRow, 'id'>,
  alertId: string,
): Promise<void> {
  await rows(
    trx,
    `with confirmed as (
       update check_results set is_confirmed = true
       where company_id = :companyId and check_id = :checkId and alert_id = :alertId
       returning series
     )
     update check_states s set state = cast(:stale as jsonb)
     where s.company_id = :companyId and s.check_id = :checkId and s.series in (select series from confirmed)`,
    { stale: STALE_STATE, companyId: companyOf(trx), checkId: check.id, alertId },
  )
}
