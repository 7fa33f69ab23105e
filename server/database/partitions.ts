/** Upkeep of the tables that grow for ever, which are cut by months: the coming ones are made, and old ones dropped. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import type { Config } from '../settings/config.ts'
import { rows, type Transaction } from './database.ts'
import type { Job } from '../jobs/job.ts'
import { leastUuid, look, monthAfter, monthsBetween, type Part } from './months.ts'
import { deleteFirst, prune, type Pace, type Transact } from './prune.ts'

/** A table that is cut by months. */
interface Cut {
  table: string
  /** What tells the month of a row. */
  by: string
  /** Whether that is a UUID v7, which begins with a time, and not a time itself. */
  isUuid?: true
  /** Columns of which no month has two rows alike; over all months, the lock of whom they are of sees to it. */
  slot?: string
  /** The column by which rows refer to one of another table, of the same month. */
  of?: { column: string; table: string }
  /** Rows that keep their month from being dropped. */
  held?: string
  /** Storage parameters of each month. */
  options?: string
}

/** Tables of which a month is made, and dropped, together: those that refer to others of them last. */
interface Family {
  kept: 'retentionResultsDays' | 'retentionChangesDays' | 'retentionAlertsDays'
  cuts: readonly Cut[]
}

const results = (...cuts: Cut[]): Family => ({ kept: 'retentionResultsDays', cuts })

/** Every table that is cut by months, and which setting says how long it is kept. */
export const FAMILIES: readonly Family[] = [
  results({ table: 'validity_results', by: 'checked_at', slot: 'validity_rule_id, scheduled_for' }),
  results({ table: 'metric_snapshots', by: 'captured_at', slot: 'metric_id, group_values, scheduled_for' }),
  results({ table: 'referential_results', by: 'checked_at', slot: 'referential_check_id, scheduled_for' }),
  results({ table: 'freshness_checks', by: 'checked_at' }),
  {
    kept: 'retentionChangesDays',
    cuts: [
      {
        table: 'schema_changes',
        by: 'detected_at',
        // Only vacuumed pages spare the look at their rows: after 2 % of changes, not 20.
        options: `with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
          autovacuum_analyze_scale_factor = 0.02)`,
      },
    ],
  },
  {
    kept: 'retentionAlertsDays',
    cuts: [
      { table: 'deliveries', by: 'id', isUuid: true, held: `status = 'pending'` },
      {
        table: 'delivery_attempts',
        by: 'delivery_id',
        isUuid: true,
        of: { column: 'delivery_id', table: 'deliveries' },
      },
    ],
  },
]

/** Months that are there before they begin: whoever works this job has so long to come to it. */
const AHEAD = 2
/** Milliseconds that a lock is waited for: less than the second after which PostgreSQL looks for deadlocks. */
const LOCK_TIMEOUT = 400
/** Tries to get the locks of a family, and milliseconds between them; what got none is left for the next time. */
const TRIES = 5
const PAUSE = 2_000
const DAY = 86_400_000
/** Any number, the same in every process. */
const UPKEEP_LOCK = 7_114_366

/** What upkeep did. */
export interface Upkeep {
  made: string[]
  dropped: string[]
  /** Rows, by table. */
  deleted: Record<string, number>
  /** Tables that somebody was at for too long: the next time goes on. */
  waiting: string[]
}

/**
 * Makes the coming months and drops what is too old; says what it made and dropped. Every hour, though a day would do:
 * a dump that is at all tables night after night would keep it from them for ever.
 */
export const keepPartitions: Job = {
  name: 'partitions.keep',
  data: Joi.object({}),
  every: '20 * * * *',
  queue: { expireSeconds: 3_600 },
  concurrency: { local: 1 },
  async work(_data, { server, signal, log }) {
    const upkeep = await keep(server, { signal })
    const { waiting } = upkeep
    if (waiting.length > 0)
      log.warn({ tables: waiting }, 'tables are in use: the next hour sees to their months')
    return upkeep
  },
}

/** The work of `partitions.keep`. */
export async function keep(
  server: Pick<Server, 'config' | 'db'>,
  { batch, tries = TRIES, signal }: Pace & { tries?: number } = {},
): Promise<Upkeep> {
  const upkeep: Upkeep = { made: [], dropped: [], deleted: {}, waiting: [] }
  const run: Transact = work => server.db.system(work)
  await changeParts(run, upkeep, { days: server.config, tries, signal })
  for (const { kept, cuts } of FAMILIES) {
    // With what they refer to go those that refer to it.
    for (const cut of cuts.filter(({ of }) => !of)) {
      const deleted = await deletePast(run, cut, server.config[kept], { batch, signal })
      if (deleted > 0) upkeep.deleted[cut.table] = deleted
    }
  }
  return upkeep
}

/** Makes the coming months where they are missing. @param run runs a transaction of the owner */
export async function makeMonths(run: Transact): Promise<Upkeep> {
  const upkeep: Upkeep = { made: [], dropped: [], deleted: {}, waiting: [] }
  await changeParts(run, upkeep, { tries: 1 })
  return upkeep
}

/** @param days how long what is kept; without it, nothing is dropped */
async function changeParts(
  run: Transact,
  upkeep: Upkeep,
  { days, tries, signal }: { days?: Pick<Config, Family['kept']>; tries: number; signal?: AbortSignal },
): Promise<void> {
  // Mostly there is nothing to do, which one look at all tables tells.
  const todo = await run(async trx => {
    const { now, parts } = await look(trx, FAMILIES.flatMap(tablesOf))
    return FAMILIES.filter(family => needsChange(planOf(family, parts, now, days)))
  })
  for (const family of todo) {
    for (let left = tries; !signal?.aborted; left -= 1) {
      const done = await run(trx => changeFamily(trx, family, days)).catch((error: Error) => {
        if (isLocked(error)) return null
        throw error
      })
      upkeep.made.push(...(done?.made ?? []))
      upkeep.dropped.push(...(done?.dropped ?? []))
      if (!done && left <= 1) upkeep.waiting.push(...family.cuts.map(({ table }) => table))
      if (done || left <= 1) break
      await wait(PAUSE, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** Whether somebody held a lock for too long, or another process is at the same. */
function isLocked(error: Error & { code?: string }): boolean {
  return error.code === '55P03' || error.code === '40P01'
}

/** What is to be done to the tables of a family. */
interface Plan {
  months: Date[]
  old: Part[]
  /** Where the months end that are to be there. */
  until: Date
}

function planOf(
  { kept, cuts }: Family,
  parts: readonly Part[],
  now: Date,
  days: Pick<Config, Family['kept']> | undefined,
): Plan {
  const own = parts.filter(({ table }) => cuts.some(cut => cut.table === table))
  const until = monthAfter(now, AHEAD + 1)
  const later = own.find(({ from, to }) => from !== null && to === null)
  const cutoff = days && now.getTime() - days[kept] * DAY
  return {
    months: later?.from ? monthsBetween(later.from, until) : [],
    old: own.filter(({ to }) => cutoff !== undefined && to !== null && to.getTime() <= cutoff),
    until,
  }
}

const tablesOf = ({ cuts }: Family) => cuts.map(({ table }) => table)
const needsChange = ({ months, old }: Plan) => months.length > 0 || old.length > 0

async function changeFamily(
  trx: Transaction,
  family: Family,
  days: Pick<Config, Family['kept']> | undefined,
): Promise<Pick<Upkeep, 'made' | 'dropped'> | null> {
  const [upkeep] = await rows<{ isOurs: boolean }>(
    trx,
    `select pg_try_advisory_xact_lock(${UPKEEP_LOCK}) as is_ours,
       set_config('lock_timeout', '${LOCK_TIMEOUT}ms', true)`,
  )
  if (!upkeep?.isOurs) return null
  // Again: another process may have done it meanwhile.
  const { now, parts } = await look(trx, tablesOf(family))
  const plan = planOf(family, parts, now, days)
  if (!needsChange(plan)) return { made: [], dropped: [] }
  await lock(trx, family.cuts)
  const dropped = await dropParts(trx, family.cuts, plan.old)
  return { dropped, made: plan.months.length > 0 ? await makeParts(trx, family.cuts, plan) : [] }
}

/** In the order in which everybody comes to them: what is referred to first. Then nobody has to wait in a ring. */
async function lock(trx: Transaction, cuts: readonly Cut[]): Promise<void> {
  const tables = cuts.map(({ table }) => table)
  const referred = await rows<{ name: string }>(
    trx,
    `select distinct cast(cast(confrelid as regclass) as text) as name from pg_constraint
      where contype = 'f' and conrelid = any(array(select cast(to_regclass(t) as oid) from unnest(cast(:tables as text[])) t))
        and not cast(cast(confrelid as regclass) as text) = any(cast(:tables as text[]))
      order by name`,
    { tables },
  )
  for (const { name } of referred) await trx.raw(`lock table only ${name} in share row exclusive mode`)
  for (const table of tables) await trx.raw(`lock table only ${table} in access exclusive mode`)
}

async function dropParts(trx: Transaction, cuts: readonly Cut[], old: readonly Part[]): Promise<string[]> {
  const dropped: string[] = []
  const held = new Set<number>()
  for (const cut of cuts.filter(({ held }) => held !== undefined))
    for (const { name, to } of old.filter(({ table }) => table === cut.table))
      if (await hasRows(trx, name, cut.held)) held.add(Number(to))
  // Those that refer to others of them first.
  for (const { table } of [...cuts].reverse()) {
    for (const { name } of old.filter(part => part.table === table && !held.has(Number(part.to)))) {
      await trx.raw(`drop table partitions.${name}`)
      dropped.push(name)
    }
  }
  return dropped
}

/** Makes months out of the last partition, which holds all that is to come, and gives back what was in it. */
async function makeParts(trx: Transaction, cuts: readonly Cut[], { months, until }: Plan): Promise<string[]> {
  const waiting: Cut[] = []
  for (const cut of [...cuts].reverse()) {
    if (await hasRows(trx, `${cut.table}_later`)) {
      waiting.unshift(cut)
      await trx.raw(`create table partitions.${cut.table}_moving as table partitions.${cut.table}_later`)
    }
    await trx.raw(`drop table partitions.${cut.table}_later`)
  }
  const made: string[] = []
  for (const cut of cuts) {
    for (const month of months) {
      const end = month.toISOString().slice(0, 7).replace('-', '_')
      await makePart(trx, cut, end, { from: month, to: monthAfter(month, 1) })
      made.push(`${cut.table}_${end}`)
    }
    await makePart(trx, cut, 'later', { from: until, to: null })
  }
  for (const { table } of waiting) {
    await trx.raw(`insert into ${table} overriding system value select * from partitions.${table}_moving`)
    await trx.raw(`drop table partitions.${table}_moving`)
  }
  return made
}

async function makePart(
  trx: Transaction,
  { table, isUuid, slot, of, options = '' }: Cut,
  end: string,
  { from, to }: { from: Date; to: Date | null },
): Promise<void> {
  const name = `${table}_${end}`
  const bound = (at: Date) => `'${isUuid ? leastUuid(at) : at.toISOString()}'`
  await trx.raw(`create table partitions.${name} partition of ${table}
    for values from (${bound(from)}) to (${to ? bound(to) : 'maxvalue'}) ${options}`)
  if (slot) await trx.raw(`create unique index on partitions.${name} (${slot})`)
  if (of)
    await trx.raw(`alter table partitions.${name} add foreign key (${of.column})
      references partitions.${of.table}_${end} on delete cascade`)
}

async function hasRows(trx: Transaction, name: string, condition = 'true'): Promise<boolean> {
  const [found] = await rows<{ any: boolean }>(
    trx,
    `select exists (select from partitions.${name} where ${condition}) as any`,
  )
  return found?.any === true
}

/**
 * Deletes what is too old of the first partition, which no month bounds.
 * @returns how many were deleted
 */
async function deletePast(
  run: Transact,
  { table, by, isUuid, held }: Cut,
  days: number,
  pace: Pace,
): Promise<number> {
  const past = `partitions.${table}_past`
  const [clock] = await run(trx =>
    rows<{ cutoff: Date }>(
      trx,
      `select now() - make_interval(days => :days) as cutoff where to_regclass(:past) is not null`,
      { days, past },
    ),
  )
  if (!clock) return 0
  const cutoff = isUuid ? leastUuid(clock.cutoff) : clock.cutoff
  const where = `${by} < :cutoff ${held ? `and not (${held})` : ''}`
  return prune(run, deleteFirst(past, by, where), { cutoff }, pace)
}
