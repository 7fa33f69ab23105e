/** What benches have in common: lines of the table that `run.ts` prints, and figures of many measurements. */

/** One line of the table: a figure of ours beside the same figure without the product, of the same run. */
export interface BenchRow {
  what: string
  ours: number
  /** The least that can be done by hand; absent where nothing compares. */
  hand?: number
  /** Ratio of `ours` to `hand`; defaults to their quotient, and may be better, such as a median of ratios. */
  ratio?: number
  /** The lowest and the highest ratio of all rounds. */
  spread?: readonly [lowest: number, highest: number]
  unit: string
  /** What the ratio must not fall below or rise above; of `ours` where there is no `hand`. */
  bar?: { least: number } | { most: number }
}

const JSON_FLAG = '--json'

/** Whether the lines for the table are asked for. `run.ts`, which asks, then judges times in place of the bench. */
export const isTableRequested = process.argv.includes(JSON_FLAG)

/** The words of the command line, for benches that take them by position. */
export const positionalWords = process.argv.slice(2).filter(word => word !== JSON_FLAG)

/** Prints the rows of the table where they are asked for. Nothing may be printed after them. */
export function printRows(rows: readonly BenchRow[]): void {
  if (isTableRequested) console.log(JSON.stringify({ rows }))
}

/** Returns the rows that a bench printed, undefined when it printed none. */
export function readRows(output: string): BenchRow[] | undefined {
  const line = output.trimEnd().split('\n').at(-1) ?? ''
  return line.startsWith('{"rows":') ? (JSON.parse(line) as { rows: BenchRow[] }).rows : undefined
}

/** The value below which that share of all lies; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
}

/** The one in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** How `ours` compares with `hand` over rounds in which both took their turn: the median of ratios, and their spread. */
export function compareRounds(
  ours: readonly number[],
  hand: readonly number[],
): Required<Pick<BenchRow, 'ours' | 'hand' | 'ratio' | 'spread'>> {
  const ratios = ours.map((value, round) => value / (hand[round] ?? NaN))
  return {
    ...{ ours: median(ours), hand: median(hand) },
    ...{ ratio: median(ratios), spread: [Math.min(...ratios), Math.max(...ratios)] },
  }
}

/** Receives what is to be undone at the end. */
export interface Teardown {
  teardown(down: () => unknown): unknown
}

/** Runs a function and then undoes what it registered, the last one first. */
export async function withTeardown<T>(work: (t: Teardown) => Promise<T>): Promise<T> {
  const downs: (() => unknown)[] = []
  try {
    return await work({ teardown: down => downs.push(down) })
  } finally {
    for (const down of downs.reverse()) await down()
  }
}
