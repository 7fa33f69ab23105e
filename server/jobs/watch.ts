/** Detects that workers no longer fetch jobs although the database answers. */

/** Milliseconds between two checks. A worker with free slots fetches as often, so that one check may find nothing new. */
const EVERY_MS = 10_000
/** Consecutive checks that find nothing fetched before the process counts as stuck: a minute. */
const MAX_MISSED_LOOKS = 6

/** What the workers of a queue last did. */
export interface QueueLook {
  queue: string
  /** When they last fetched, in milliseconds of the process's clock; null before the first time. */
  lookedAt: number | null
  /** Whether they may take up jobs. */
  hasFreeSlots: boolean
}

interface QueueObservation {
  lookedAt: number | null
  /** Consecutive checks at which its workers had fetched nothing new. */
  missed: number
}

/**
 * Checks every 10 s whether workers with free slots still fetch.
 * @param isAnswering whether the database answers; while it does not, missed fetches are not counted
 * @param end called once, with a sentence, when a queue's workers have not fetched for a minute
 * @returns stops the checks
 */
export function watchFetches(
  looks: () => readonly QueueLook[],
  isAnswering: () => Promise<boolean>,
  end: (sentence: string) => void,
  everyMs = EVERY_MS,
): () => void {
  const sights = new Map<string, QueueObservation>()
  const timer = setInterval(() => {
    void isAnswering().then(answers => {
      if (!answers) return sights.clear()
      const stuck = findStuckQueue(looks(), sights)
      if (stuck === undefined) return
      clearInterval(timer)
      end(
        `Jobs of ${stuck} have not been looked for in ${(MAX_MISSED_LOOKS * everyMs) / 1000} s, though the database answers`,
      )
    })
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** @returns a queue whose workers have fetched nothing for too long */
function findStuckQueue(looks: readonly QueueLook[], sights: Map<string, QueueObservation>) {
  for (const { queue, lookedAt, hasFreeSlots } of looks) {
    const sight = sights.get(queue)
    const missed = hasFreeSlots && sight?.lookedAt === lookedAt ? sight.missed + 1 : 0
    sights.set(queue, { lookedAt, missed })
    if (missed >= MAX_MISSED_LOOKS) return queue
  }
  return undefined
}
