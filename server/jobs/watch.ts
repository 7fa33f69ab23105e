/** Detects that workers no longer fetch jobs although the database answers. */
import type { PgBoss } from 'pg-boss'

/** Milliseconds between two checks. An idle worker fetches as often, so that one check may find nothing new. */
const EVERY_MS = 10_000
/** Consecutive checks that find nothing fetched before the process counts as stuck: a minute. */
const MAX_MISSED_LOOKS = 6

interface QueueObservation {
  fetchedOn: number
  /** Consecutive checks at which its idle workers had fetched nothing new. */
  missed: number
}

/**
 * Checks every 10 s whether idle workers still fetch.
 * @param isAnswering whether the database answers; while it does not, missed fetches are not counted
 * @param end called once, with a sentence, when a queue's workers have not fetched for a minute
 * @returns stops the checks
 */
export function watchFetches(
  boss: Pick<PgBoss, 'getWipData'>,
  isAnswering: () => Promise<boolean>,
  end: (sentence: string) => void,
  everyMs = EVERY_MS,
): () => void {
  const sights = new Map<string, QueueObservation>()
  const timer = setInterval(() => {
    void isAnswering().then(answers => {
      if (!answers) return sights.clear()
      const stuck = findStuckQueue(boss, sights)
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

/** @returns a queue whose idle workers have fetched nothing for too long */
function findStuckQueue(boss: Pick<PgBoss, 'getWipData'>, sights: Map<string, QueueObservation>) {
  const idle = boss.getWipData().filter(({ count, state }) => count === 0 && state === 'active')
  const byQueue = Map.groupBy(idle, ({ name }) => name)
  for (const name of sights.keys()) if (!byQueue.has(name)) sights.delete(name)
  for (const [name, workers] of byQueue) {
    const fetchedOn = Math.max(...workers.map(worker => worker.lastFetchedOn ?? 0))
    const sight = sights.get(name)
    const missed = sight?.fetchedOn === fetchedOn ? sight.missed + 1 : 0
    sights.set(name, { fetchedOn, missed })
    if (missed >= MAX_MISSED_LOOKS) return name
  }
  return undefined
}
