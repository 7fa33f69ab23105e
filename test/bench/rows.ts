/** What benches have in common: lines of the table that `run.ts` prints, and figures of many measurements. */

/** One line of the table: a figure of ours beside the same figure without the product, of the same run. */
export interface Row {
  what: string
  ours: number
  /** The least that anybody could do by hand; absent where nothing compares. */
  hand?: number
  /** Of `ours` to `hand`; theirs by division unless the bench knows better, such as a median of ratios. */
  ratio?: number
  unit: string
  /** What the ratio must not fall below or rise above; of `ours` where there is no `hand`. */
  bar?: { least: number } | { most: number }
}

const JSON_FLAG = '--json'

/** Whether the lines for the table are asked for. Whoever asks for them judges times; a bench by itself does so too. */
export const isAsked = process.argv.includes(JSON_FLAG)

/** The words of the command line, for benches that take them by position. */
export const words = process.argv.slice(2).filter(word => word !== JSON_FLAG)

/** Tells the lines for the table, where they are asked for; nothing is to be told after them. */
export function tellRows(rows: readonly Row[]): void {
  if (isAsked) console.log(JSON.stringify({ rows }))
}

/** @returns the lines that a bench has told, or undefined when it has told none */
export function readRows(output: string): Row[] | undefined {
  const line = output.trimEnd().split('\n').at(-1) ?? ''
  return line.startsWith('{"rows":') ? (JSON.parse(line) as { rows: Row[] }).rows : undefined
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

/** What makes things that are to be taken down. */
export interface Teardown {
  teardown(down: () => unknown): unknown
}

/** Runs something that leaves things to be taken down, the last one first. */
export async function within<T>(work: (t: Teardown) => Promise<T>): Promise<T> {
  const downs: (() => unknown)[] = []
  try {
    return await work({ teardown: down => downs.push(down) })
  } finally {
    for (const down of downs.reverse()) await down()
  }
}
