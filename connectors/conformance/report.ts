/** What became of one group of promises. */
export interface GroupReport {
  name: string
  /** Always held, whatever the connector claims. */
  basic: boolean
  /** False of a group that the test runner never ran, or ended before it was through, as when the test's time is up. */
  ended: boolean
  /** Promises that were tried, and how many of them held. */
  promises: number
  passed: number
  /** Promises that could not be tried, each with the reason: a type or a name that the engine does not have. */
  skipped: { promise: string; reason: string }[]
  /** Why the whole group was left out. */
  reason?: string
}

/** What the kit found. */
export interface ConformanceResult {
  /** True when every basic group and every claimed capability was run to its end and passed. */
  conforming: boolean
  /** Groups left out by `skip`. */
  skipped: { group: string; reason: string }[]
  /** All groups in the order in which they were held, also those of capabilities that are not claimed. */
  groups: GroupReport[]
}

/** Whether a group that should have been run did not come to its end: its numbers say nothing. */
export function isCutOff({ ended, reason }: GroupReport): boolean {
  return !ended && reason === undefined
}

/**
 * A table in Markdown, a line for each group and a column for each engine: `12/12` promises held, those that could
 * not be tried below it with their reasons.
 */
export function conformanceTable(results: Readonly<Record<string, ConformanceResult>>): string {
  const engines = Object.keys(results)
  const names = new Set(Object.values(results).flatMap(({ groups }) => groups.map(({ name }) => name)))
  const notes: string[] = []
  const cell = (engine: string, name: string) => {
    const group = results[engine]?.groups.find(each => each.name === name)
    if (!group) return ''
    if (group.reason !== undefined) return `– (${group.reason})`
    notes.push(...group.skipped.map(({ promise, reason }) => `- ${engine}, ${name}: ${promise}: ${reason}`))
    const rest = group.skipped.length > 0 ? ` (+${group.skipped.length} skipped)` : ''
    return `${group.passed}/${group.promises}${rest}${isCutOff(group) ? ' (cut off)' : ''}`
  }
  const lines = [
    ['Group', ...engines],
    ['---', ...engines.map(() => '---')],
    ...[...names].map(name => [name, ...engines.map(engine => cell(engine, name))]),
    ['conforming', ...engines.map(engine => (results[engine]?.conforming ? 'yes' : 'no'))],
  ]
  const table = lines.map(cells => `| ${cells.join(' | ')} |`)
  return [...table, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')
}
