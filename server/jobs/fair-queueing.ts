/** Fair queueing: companies with waiting jobs take turns, however many jobs each has. */
import { rows, type Transaction } from '../database/database.ts'
import type { Item, Job } from './job.ts'

/** Assigns turns to jobs of one kind, starting from those that wait. */
export interface Turns {
  /** The next turn of a company: after its own jobs, and level with the oldest jobs of the others. */
  next(companyId: string): number
  add(group: string): void
  /** Groups with at least `most` waiting jobs. */
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
 * Reads the current turns in one statement over all waiting jobs of the kind. For sweeps.
 * Start-time fair queueing (Goyal, Vin & Cheng 1996): a company's jobs get numbers that continue from its own last one,
 * or from the current turn if that is later; the lowest number starts first. So a company with few jobs waits for few.
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

/** Assigns turns in one process, for jobs that are sent one by one. */
export interface TurnCounter {
  /** Gives a job the next turn of its company, and its group the company as its tier, unless they are given. */
  assign<Data extends object>(item: Item<Data>): Item<Data>
  /** Records that a job with this turn has started. */
  noteStarted(turn: number): void
}

/** The company of a job's data; jobs without one share as one company. */
export function companyIn(data: object): string {
  return String((data as { company_id?: unknown }).company_id ?? '')
}

/** Companies remembered before those are dropped whose last turn has passed. */
const MAX_KEPT_COMPANIES = 1_000
/** Just below the largest number that pg-boss's priority column takes. */
const MAX_TURN = 2_000_000_000

/**
 * The same queueing as `readTurns`, counted in memory: reading the queue for each job took 3 ms with 10,000 waiting
 * jobs and 100 ms with 100,000. The current turn is that of the last job a worker here started, and never decreases.
 * Each process counts for itself, so a company for which n processes send gets n turns per round.
 */
export function countTurns(): TurnCounter {
  const last = new Map<string, number>()
  let now = 0
  return {
    assign(item) {
      // A sweep has read the turns of all processes.
      if (item.turn !== undefined) return item
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
