/** Whose turn it is: companies with jobs that wait take turns, however many each of them has. */
import { rows, type Transaction } from '../database/database.ts'
import type { Item, Job } from './job.ts'

/** The turns of one kind of job, as they stand and as they are given out. */
export interface Turns {
  /** The next one of a company: behind its own jobs, and level with those of others that have waited longest. */
  next(companyId: string): number
  add(group: string): void
  /** Groups of which so many wait. */
  full(most: number): string[]
}

interface Standing {
  companyId: string
  groupId: string | null
  first: number
  last: number
  count: number
}

/**
 * Reads how the turns stand, in one statement, which reads all jobs of the kind that wait: for sweeps.
 * Start-time fair queuing: what a company sends gets numbers that go on from its own last one, or from the one whose
 * turn it is now; the lowest start first. So one that comes with few jobs waits for few.
 */
export async function readTurns(trx: Transaction, { name }: Pick<Job, 'name'>): Promise<Turns> {
  const standing = await rows<Standing>(
    trx,
    `select data ->> 'company_id' as company_id, group_id, cast(min(-priority) as int) as first,
            cast(max(-priority) as int) as last, cast(count(*) as int) as count
       from pgboss.job where name = ? and state < 'active' and start_after <= now() group by 1, 2`,
    [name],
  )
  const now =
    standing.length === 0 ? 0 : standing.reduce((least, { first }) => Math.min(least, first), Infinity)
  const last = new Map<string, number>()
  const counts = new Map<string, number>()
  for (const { companyId, groupId, last: turn, count } of standing) {
    last.set(companyId, Math.max(last.get(companyId) ?? 0, turn))
    if (groupId !== null) counts.set(groupId, (counts.get(groupId) ?? 0) + count)
  }
  return {
    next(companyId) {
      const turn = Math.max(last.get(companyId) ?? 0, now) + 1
      last.set(companyId, turn)
      return turn
    },
    add(group) {
      counts.set(group, (counts.get(group) ?? 0) + 1)
    },
    full: most => [...counts].filter(([, count]) => count >= most).map(([group]) => group),
  }
}

/** The turns of one kind of job in one process, for jobs that are sent one by one. */
export interface TurnCounter {
  /** Gives a job the next turn of its company, and its group the company as its tier. */
  assign<Data extends object>(item: Item<Data>): Item<Data>
  /** Notes that a job of this turn has started. */
  noteStarted(turn: number): void
}

/** The company of a job's data; jobs without one share as one company. */
export function companyIn(data: object): string {
  return String((data as { company_id?: unknown }).company_id ?? '')
}

/** Companies of which the last turn is kept before those are dropped whose last turn has passed. */
const MAX_KEPT_COMPANIES = 1_000
/** The largest turn that pg-boss's column for priorities takes, with some to spare. */
const MAX_TURN = 2_000_000_000

/**
 * The same queueing as `readTurns`, counted in memory: to read the queue for each job sent took 3 ms with 10,000 jobs
 * in it and 100 ms with 100,000. The turn whose time has come is that of the last job that a worker here started, and
 * never goes back. Each process counts by itself: a company for which n processes send gets n turns a round.
 */
export function countTurns(): TurnCounter {
  const last = new Map<string, number>()
  let now = 0
  return {
    assign(item) {
      const companyId = companyIn(item.data)
      const turn = Math.min(Math.max(last.get(companyId) ?? 0, now) + 1, MAX_TURN)
      if (last.size >= MAX_KEPT_COMPANIES)
        for (const [company, passed] of last) if (passed <= now) last.delete(company)
      last.set(companyId, turn)
      if (item.group === undefined) return { ...item, turn }
      const id = typeof item.group === 'string' ? item.group : item.group.id
      return { ...item, turn, group: { id, tier: companyId } }
    },
    noteStarted(turn) {
      now = Math.max(now, turn)
    },
  }
}
