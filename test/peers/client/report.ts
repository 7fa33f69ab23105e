/** The result of a method or command: `works`, or the failing variants with their reasons. */
interface Outcome {
  verdict: string
  variants: Variant[]
}

/** One set of arguments. */
interface Variant {
  variant: string
  reason: string
  /** The last request and its reply; null if none was sent. */
  exchange: {
    method: string
    path: string
    query: string
    body: string
    status: number
    reply: string
  } | null
}

/** Results of one version, as the driver prints them. */
export interface Report {
  /** By `resource.method`. */
  methods: Record<string, Outcome>
  /** By `$ command`. */
  commands: Record<string, Outcome>
  /** Methods and commands without a case. */
  missing: string[]
  /** Cases of methods that this version does not have. */
  unused: string[]
}

/** Expected verdicts of one version. */
export interface Verdicts {
  methods: Record<string, string>
  commands: Record<string, string>
}

const MAX_REASON_LENGTH = 150
const KINDS = ['methods', 'commands'] as const

/** Selects the verdicts whose names start with one of the prefixes; all if there are none. */
export function selectVerdicts(
  verdicts: Verdicts = { methods: {}, commands: {} },
  prefixes: readonly string[],
): Verdicts {
  const select = (all: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(all).filter(
        ([name]) => prefixes.length === 0 || prefixes.some(prefix => name.startsWith(prefix)),
      ),
    )
  return { methods: select(verdicts.methods), commands: select(verdicts.commands) }
}

/** Merges the verdicts of a report into the expected ones. */
export function recordVerdicts(report: Report, expected?: Verdicts): Verdicts {
  const record = (kind: (typeof KINDS)[number]) => ({
    ...expected?.[kind],
    ...Object.fromEntries(Object.entries(report[kind]).map(([name, { verdict }]) => [name, verdict])),
  })
  return { methods: record('methods'), commands: record('commands') }
}

/** Lists the differences between a report and the expected verdicts, one line each. */
export function findDifferences(report: Report, expected: Verdicts): string[] {
  return KINDS.flatMap(kind => {
    const names = new Set([...Object.keys(report[kind]), ...Object.keys(expected[kind])])
    return [...names].flatMap(name => {
      const was = expected[kind][name] ?? 'no entry'
      const is = report[kind][name]?.verdict ?? 'no result'
      return was === is ? [] : [`${name}: ${is}; expected: ${was}`]
    })
  })
}

/** Lists the failing variants with their reason, last request and reply. */
export function formatFailures(report: Report): string[] {
  return Object.entries(outcomesOf(report)).flatMap(([name, { variants }]) =>
    variants
      .filter(({ reason }) => reason !== 'works')
      .flatMap(({ variant, reason, exchange }) => {
        const summary = `${name} [${variant}] ${reason}`
        if (!exchange) return [summary]
        const { method, path, query, body, status, reply } = exchange
        const url = query === '' ? path : `${path}?${query}`
        return [summary, `  ${method} ${url} ${body}`, `  ${status} ${reply.replace(/\s+/g, ' ')}`]
      }),
  )
}

/** Counts methods and commands whose variants all work: `37 of 121 methods, CLI 26 of 60`. */
export function countWorking({ methods, commands }: Report): string {
  const count = (outcomes: Report['methods']) => {
    const all = Object.values(outcomes)
    return `${all.filter(({ verdict }) => verdict === 'works').length} of ${all.length}`
  }
  return `${count(methods)} methods, CLI ${count(commands)}`
}

/** One line per method and command with the verdict of each version; equal verdicts are printed once. */
export function formatTable(reports: ReadonlyMap<string, Report>): string[] {
  const names = new Set([...reports.values()].flatMap(each => Object.keys(outcomesOf(each))))
  const width = Math.max(...[...names].map(name => name.length))
  return [...names].sort().map(name => {
    const verdicts = new Map<string, string[]>()
    for (const [version, report] of reports) {
      const verdict = outcomesOf(report)[name]?.verdict
      if (verdict) verdicts.set(verdict, [...(verdicts.get(verdict) ?? []), version])
    }
    const cells = [...verdicts].map(([verdict, versions]) => {
      const isOfAll = versions.length === reports.size
      return `${isOfAll ? '' : `${versions.join(', ')}: `}${shorten(verdict)}`
    })
    return `${name.padEnd(width)}  ${cells.join('  |  ')}`
  })
}

function outcomesOf({ methods, commands }: Report): Record<string, Outcome> {
  return { ...methods, ...commands }
}

function shorten(text: string): string {
  return text.length > MAX_REASON_LENGTH ? `${text.slice(0, MAX_REASON_LENGTH)}…` : text
}
