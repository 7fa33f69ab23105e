/**
 * A run of the suite may take a share of each generated matrix: `TEST_SHARE` (0–1, defaults to 1). Which part it takes
 * depends on `TEST_SEED` (defaults to 1) and on the name of the matrix, and so do the values of fast-check, so that a
 * failure can be repeated.
 */
import fc from 'fast-check'
import t from 'tap'
import { rankOf, SEED } from '../runner/seed.ts'

const SHARE = Number(process.env.TEST_SHARE || 1)
if (!(SHARE >= 0 && SHARE <= 1))
  throw new Error(`TEST_SHARE must be a number from 0 to 1, not ${process.env.TEST_SHARE}`)
// What a test expects of many random values as a whole does not hold of every small share of them.
if (SHARE < 1)
  fc.configureGlobal({
    ...fc.readConfigureGlobal(),
    seed: Number.parseInt(rankOf('fast-check', '0').slice(0, 7), 16),
  })

/** `TEST_SHARE` of a list in its order, at least one item; a comment in the output names the seed and the share. */
export function share<Item>(list: readonly Item[], seed: string): Item[] {
  const count = sharedCount(list.length)
  if (count >= list.length) return [...list]
  t.comment(`${count} of ${list.length} of "${seed}", TEST_SEED=${SEED} TEST_SHARE=${SHARE}`)
  const ranked = list.map((_, index) => ({ index, rank: rankOf(seed, String(index)) }))
  const chosen = new Set(
    ranked
      .sort((a, b) => (a.rank < b.rank ? -1 : 1))
      .slice(0, count)
      .map(({ index }) => index),
  )
  return list.filter((_, index) => chosen.has(index))
}

/**
 * A test that runs about `TEST_SHARE` of its subtests, chosen by their names, for a kit that makes its own: those that
 * are left out are not reported either.
 */
export function sharedTest(test: SubtestRunner, seed: string): SubtestRunner {
  if (SHARE < 1) t.comment(`a share of "${seed}", TEST_SEED=${SEED} TEST_SHARE=${SHARE}`)
  const isChosen = (name: string) => Number.parseInt(rankOf(seed, name).slice(0, 8), 16) < SHARE * 2 ** 32
  return {
    test: (name, options, run) => (isChosen(name) ? test.test(name, options, run) : Promise.resolve()),
  }
}

interface SubtestRunner {
  test(name: string, options: { skip?: string }, run: () => Promise<void>): unknown
}

/** `TEST_SHARE` of a number of runs (fast-check's `numRuns`), rounded up, at least one unless there are none. */
export function sharedCount(count: number): number {
  return Math.min(count, Math.max(1, Math.ceil(count * SHARE)))
}
