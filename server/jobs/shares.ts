/** How companies share the slots of one process for one kind of job. */

/** The jobs that a process runs, counted by company. */
export interface Shares {
  /** Counts a job of a company as running until its work has settled. */
  hold<Result>(companyId: string, work: () => Promise<Result>): Promise<Result>
  /** How many jobs may be claimed in one statement, whichever companies they are of. */
  batch(): number
  /** The companies that hold their share. */
  closed(): string[]
  /** `groupConcurrency` for pg-boss: at most `perGroup` jobs of a group, and none of companies that hold their share. */
  limits(perGroup: number): { default: number; tiers: Record<string, number> }
}

/**
 * Dynamic thresholds: a company gets another slot only while it holds fewer slots than are free. So one company holds
 * at most half of the slots, n companies with a backlog hold n/(n+1) of them, and a slot is free for the next company
 * however long the running jobs take.
 * @param slots jobs that the process runs at once
 */
export function shareSlots(slots: number): Shares {
  const held = new Map<string, number>()
  let used = 0
  const closed = () => [...held].filter(([, count]) => count >= slots - used).map(([companyId]) => companyId)
  const add = (companyId: string, change: 1 | -1) => {
    const count = (held.get(companyId) ?? 0) + change
    if (count > 0) held.set(companyId, count)
    else held.delete(companyId)
    used += change
  }
  return {
    async hold(companyId, work) {
      add(companyId, 1)
      try {
        return await work()
      } finally {
        add(companyId, -1)
      }
    },
    batch() {
      const free = slots - used
      // The k-th of them, if all are of one company, must find more slots free than that company holds.
      const most = Math.max(0, ...[...held.values()].filter(count => count < free))
      return Math.floor((free - most + 1) / 2)
    },
    closed,
    limits: perGroup => ({ default: perGroup, tiers: closedTiers(closed) }),
  }
}

/**
 * Limits by the tier of a group, which is its company. pg-boss writes them as JSON into each fetch, so they can change
 * while workers run; it checks them only when a worker is added, and leaves them out if there is no tier at all.
 */
function closedTiers(closed: () => string[]): Record<string, number> {
  const toJSON = () => Object.fromEntries(closed().map(companyId => [companyId, 0]))
  return Object.defineProperty({ none: 1 }, 'toJSON', { value: toJSON })
}
