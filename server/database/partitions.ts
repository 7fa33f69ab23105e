/** Maintenance of the tables that are partitioned by months: creates the coming months and drops expired ones. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import type { Config } from '../settings/config.ts'
import { rows, type Transaction } from './database.ts'
import type { Job } from '../jobs/job.ts'
import { leastUuid, monthAfter, monthsBetween, readPartitions, type Partition } from './months.ts'
import { deleteFirst, prune, type Pace, type Transact } from './prune.ts'

/** A table that is partitioned by months. */
interface PartitionedTable {
  table: string
  /** The column that decides the month of a row. */
  by: string
  /** Whether that column is a UUID v7, which begins with a time, and not a time itself. */
  isUuid?: true
  /** Columns that are unique within a month; across months, a lock on the row they belong to ensures it. */
  unique?: string
  /** The column that refers to a row of another table in the same month. */
  parent?: { column: string; table: string }
  /** Rows that keep their month from being dropped. */
  keepWhere?: string
  /** Storage parameters of each partition. */
  storage?: string
}

type Retention = 'retentionResultsDays' | 'retentionChangesDays' | 'retentionAlertsDays'

/** Tables whose months are created and dropped together. A feature adds its own to `server.partitions`. */
export interface PartitionFamily {
  name: string
  /** The setting that limits the age of rows. */
  retention: Retention
  /** A table comes after those that it refers to. */
  tables: readonly PartitionedTable[]
}

export const partitionFamilyShape = Joi.object({
  name: Joi.string().required(),
  retention: Joi.valid('retentionResultsDays', 'retentionChangesDays', 'retentionAlertsDays').required(),
  tables: Joi.array()
    .items(Joi.object({ table: Joi.string().required(), by: Joi.string().required() }).unknown())
    .min(1)
    .required(),
})

/** Months created in advance: the job may fail for that long. */
const MONTHS_AHEAD = 2
/** Less than the second after which PostgreSQL looks for deadlocks. */
const LOCK_TIMEOUT_MS = 400
/** Tries to lock a family; the next run goes on with a family that was never free. */
const LOCK_TRIES = 5
const LOCK_RETRY_MS = 2_000
const DAY_MS = 86_400_000
/** Any number, the same in every process. */
const MAINTENANCE_LOCK = 7_114_366

export interface PartitionChanges {
  /** Partitions. */
  made: string[]
  dropped: string[]
  /** Rows, by table. */
  deleted: Record<string, number>
  /** Tables that were locked for too long: the next run goes on. */
  waiting: string[]
}

/**
 * Runs every hour, though a day would do: a dump that locks all tables night after night would otherwise block it
 * for ever.
 */
export const maintainPartitionsJob: Job = {
  name: 'partitions.keep',
  data: Joi.object({}),
  every: '20 * * * *',
  queue: { expireSeconds: 3_600 },
  concurrency: { local: 1 },
  async work(_data, { server, signal, log }) {
    const changes = await maintainPartitions(server, { signal })
    const { waiting } = changes
    if (waiting.length > 0)
      log.warn({ tables: waiting }, 'tables are in use: their months are maintained in the next hour')
    return changes
  },
}

export async function maintainPartitions(
  server: Pick<Server, 'config' | 'db' | 'partitions'>,
  { batch, tries = LOCK_TRIES, signal }: Pace & { tries?: number } = {},
): Promise<PartitionChanges> {
  const run: Transact = work => server.db.system(work)
  const families = server.partitions.all()
  const changes = await changePartitions(run, families, { retention: server.config, tries, signal })
  for (const { retention, tables } of families) {
    // Rows that refer to others are deleted with them.
    for (const table of tables.filter(({ parent }) => !parent)) {
      const deleted = await deleteExpired(run, table, server.config[retention], { batch, signal })
      if (deleted > 0) changes.deleted[table.table] = deleted
    }
  }
  return changes
}

/** Creates missing months. @param run runs a transaction of the owner */
export function createComingMonths(
  run: Transact,
  families: readonly PartitionFamily[],
): Promise<PartitionChanges> {
  return changePartitions(run, families, { tries: 1 })
}

interface ChangeOptions {
  /** Days by setting; without it nothing is dropped. */
  retention?: Pick<Config, Retention>
  tries: number
  signal?: AbortSignal
}

async function changePartitions(
  run: Transact,
  families: readonly PartitionFamily[],
  { retention, tries, signal }: ChangeOptions,
): Promise<PartitionChanges> {
  const changes: PartitionChanges = { made: [], dropped: [], deleted: {}, waiting: [] }
  // Mostly there is nothing to do, which one query on the catalog shows.
  const outdated = await run(async trx => {
    const { now, partitions } = await readPartitions(trx, families.flatMap(tableNames))
    return families.filter(family => needsChange(planPartitions(family, partitions, now, retention)))
  })
  for (const family of outdated) {
    for (let left = tries; !signal?.aborted; left -= 1) {
      const changed = await run(trx => changeFamily(trx, family, retention)).catch((error: Error) => {
        if (isLockError(error)) return null
        throw error
      })
      changes.made.push(...(changed?.made ?? []))
      changes.dropped.push(...(changed?.dropped ?? []))
      if (!changed && left <= 1) changes.waiting.push(...tableNames(family))
      if (changed || left <= 1) break
      await wait(LOCK_RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return changes
}

/** Whether a lock was not available in time, or another process maintains the same tables. */
function isLockError(error: Error & { code?: string }): boolean {
  return error.code === '55P03' || error.code === '40P01'
}

interface PartitionPlan {
  months: Date[]
  /** Where the last month ends. */
  until: Date
  expired: Partition[]
}

function planPartitions(
  family: PartitionFamily,
  partitions: readonly Partition[],
  now: Date,
  retention: Pick<Config, Retention> | undefined,
): PartitionPlan {
  const names = tableNames(family)
  const own = partitions.filter(({ table }) => names.includes(table))
  const until = monthAfter(now, MONTHS_AHEAD + 1)
  const later = own.find(({ from, to }) => from !== null && to === null)
  const cutoff = retention && now.getTime() - retention[family.retention] * DAY_MS
  return {
    months: later?.from ? monthsBetween(later.from, until) : [],
    expired: own.filter(({ to }) => cutoff !== undefined && to !== null && to.getTime() <= cutoff),
    until,
  }
}

const tableNames = ({ tables }: PartitionFamily) => tables.map(({ table }) => table)
const needsChange = ({ months, expired }: PartitionPlan) => months.length > 0 || expired.length > 0

async function changeFamily(
  trx: Transaction,
  family: PartitionFamily,
  retention: Pick<Config, Retention> | undefined,
): Promise<Pick<PartitionChanges, 'made' | 'dropped'> | null> {
  const [lock] = await rows<{ isOurs: boolean }>(
    trx,
    `select pg_try_advisory_xact_lock(${MAINTENANCE_LOCK}) as is_ours,
       set_config('lock_timeout', '${LOCK_TIMEOUT_MS}ms', true)`,
  )
  if (!lock?.isOurs) return null
  // Read again: another process may have changed them meanwhile.
  const { now, partitions } = await readPartitions(trx, tableNames(family))
  const plan = planPartitions(family, partitions, now, retention)
  if (!needsChange(plan)) return { made: [], dropped: [] }
  await lockTables(trx, tableNames(family))
  const dropped = await dropPartitions(trx, family.tables, plan.expired)
  return { dropped, made: plan.months.length > 0 ? await createPartitions(trx, family.tables, plan) : [] }
}

/** Locks referenced tables first, in the order in which all other code locks them, so that there is no deadlock. */
async function lockTables(trx: Transaction, tables: readonly string[]): Promise<void> {
  const referenced = await rows<{ name: string }>(
    trx,
    `select distinct cast(cast(confrelid as regclass) as text) as name from pg_constraint
      where contype = 'f' and conrelid = any(array(select cast(to_regclass(t) as oid) from unnest(cast(:tables as text[])) t))
        and not cast(cast(confrelid as regclass) as text) = any(cast(:tables as text[]))
      order by name`,
    { tables: [...tables] },
  )
  for (const { name } of referenced) await trx.raw(`lock table only ${name} in share row exclusive mode`)
  for (const table of tables) await trx.raw(`lock table only ${table} in access exclusive mode`)
}

async function dropPartitions(
  trx: Transaction,
  tables: readonly PartitionedTable[],
  expired: readonly Partition[],
): Promise<string[]> {
  const dropped: string[] = []
  /** The ends of months that a row keeps in every table of the family. */
  const kept = new Set<number>()
  for (const { table, keepWhere } of tables.filter(({ keepWhere }) => keepWhere !== undefined))
    for (const { name, to } of expired.filter(partition => partition.table === table))
      if (await hasRows(trx, name, keepWhere)) kept.add(Number(to))
  // Partitions that refer to others first.
  for (const { table } of tables.toReversed()) {
    for (const { name } of expired.filter(part => part.table === table && !kept.has(Number(part.to)))) {
      await trx.raw(`drop table partitions.${name}`)
      dropped.push(name)
    }
  }
  return dropped
}

/** Splits months off the last partition, which holds all later rows, and inserts its rows again. */
async function createPartitions(
  trx: Transaction,
  tables: readonly PartitionedTable[],
  { months, until }: PartitionPlan,
): Promise<string[]> {
  const moved: string[] = []
  for (const { table } of tables.toReversed()) {
    if (await hasRows(trx, `${table}_later`)) {
      moved.unshift(table)
      await trx.raw(`create table partitions.${table}_moving as table partitions.${table}_later`)
    }
    await trx.raw(`drop table partitions.${table}_later`)
  }
  const made: string[] = []
  for (const table of tables) {
    for (const month of months) {
      const suffix = month.toISOString().slice(0, 7).replace('-', '_')
      await createPartition(trx, table, suffix, { from: month, to: monthAfter(month, 1) })
      made.push(`${table.table}_${suffix}`)
    }
    await createPartition(trx, table, 'later', { from: until, to: null })
  }
  for (const table of moved) {
    await trx.raw(`insert into ${table} overriding system value select * from partitions.${table}_moving`)
    await trx.raw(`drop table partitions.${table}_moving`)
  }
  return made
}

async function createPartition(
  trx: Transaction,
  { table, isUuid, unique, parent, storage = '' }: PartitionedTable,
  suffix: string,
  { from, to }: { from: Date; to: Date | null },
): Promise<void> {
  const name = `${table}_${suffix}`
  const bound = (at: Date) => `'${isUuid ? leastUuid(at) : at.toISOString()}'`
  await trx.raw(`create table partitions.${name} partition of ${table}
    for values from (${bound(from)}) to (${to ? bound(to) : 'maxvalue'}) ${storage}`)
  if (unique) await trx.raw(`create unique index on partitions.${name} (${unique})`)
  if (parent)
    await trx.raw(`alter table partitions.${name} add foreign key (${parent.column})
      references partitions.${parent.table}_${suffix} on delete cascade`)
}

async function hasRows(trx: Transaction, name: string, condition = 'true'): Promise<boolean> {
  const [found] = await rows<{ any: boolean }>(
    trx,
    `select exists (select from partitions.${name} where ${condition}) as any`,
  )
  return found?.any === true
}

/** Deletes expired rows of the first partition, which has no lower bound. @returns how many were deleted */
async function deleteExpired(
  run: Transact,
  { table, by, isUuid, keepWhere }: PartitionedTable,
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
  const where = `${by} < :cutoff ${keepWhere ? `and not (${keepWhere})` : ''}`
  return prune(run, deleteFirst(past, by, where), { cutoff }, pace)
}
