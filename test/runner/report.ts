/** Reads the TAP that a test process writes: its totals, and what failed. */

/** Assertions of a test process, by outcome. */
export interface Totals {
  total: number
  pass: number
  fail: number
  skip: number
  todo: number
}

const NO_TOTALS: Totals = { total: 0, pass: 0, fail: 0, skip: 0, todo: 0 }

/** Returns the totals of the last summary line (`# { total: 12, pass: 11, fail: 1 }`), null where there is none. */
export function readTotals(output: string): Totals | null {
  const summary = [...output.matchAll(/^# \{ (total: \d+.*) \}$/gm)].at(-1)?.[1]
  if (!summary) return null
  const counts = [...summary.matchAll(/(\w+): (\d+)/g)].map(([, name, count]) => [name, Number(count)])
  return { ...NO_TOTALS, ...Object.fromEntries(counts) }
}

/** Adds totals of several processes. */
export function sumTotals(all: readonly Totals[]): Totals {
  const sum = { ...NO_TOTALS }
  for (const totals of all) {
    for (const name of Object.keys(sum) as (keyof Totals)[]) sum[name] += totals[name]
  }
  return sum
}

/** Formats totals as tap does. */
export function formatTotals({ total, pass, ...others }: Totals): string {
  const more = Object.entries(others).filter(([, count]) => count > 0)
  return `# { ${[['total', total], ['pass', pass], ...more].map(entry => entry.join(': ')).join(', ')} }`
}

/** Returns each failed assertion as the titles that lead to it, its line and its YAML details. */
export function readFailures(output: string): string[] {
  const failures: string[] = []
  const titles: string[] = []
  const lines = output.split('\n')
  for (const [index, line] of lines.entries()) {
    const depth = line.length - line.trimStart().length
    const [, title] = /^ *# Subtest: (.*)$/.exec(line) ?? []
    if (title !== undefined) titles.splice(depth / 4, Infinity, title)
    if (!/^ *not ok /.test(line) || / # TODO/.test(line)) continue
    // A subtest that failed repeats what failed within it.
    if (titles.length > depth / 4) {
      titles.splice(depth / 4, Infinity)
      if (lines[index + 1]?.trim() !== '---') continue
    }
    const end =
      lines[index + 1]?.trim() === '---' ? lines.indexOf(`${' '.repeat(depth + 2)}...`, index) : index
    failures.push([titles.join(' > '), ...lines.slice(index, end + 1)].join('\n'))
  }
  return failures
}

/**
 * Divides the output of `test/runner/shared-process.ts` by files.
 * @returns the files that have ended, and what comes after them
 */
export function readFiles(output: string): {
  files: { file: string; cpuSeconds: number; output: string }[]
  rest: string
} {
  const files = []
  let start = 0
  for (const end of output.matchAll(/^# (\S+) used ([\d.]+) s$\n/gm)) {
    files.push({ file: end[1]!, cpuSeconds: Number(end[2]), output: output.slice(start, end.index) })
    start = end.index + end[0].length
  }
  return { files, rest: output.slice(start) }
}

/** Returns why tests were skipped, each as `title: reason`. */
export function readSkips(output: string): string[] {
  return [...output.matchAll(/^ *ok \d+ - (.*) # SKIP ?(.*)$/gm)].map(([, title, why]) =>
    why ? `${title}: ${why}` : title!,
  )
}
