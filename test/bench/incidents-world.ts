/**
 * Pipelines with faults whose causes are known. It knows tables, what is made from what, when each check looks, and what a
 * fault does to the tables below it; it knows nothing of how the product groups alerts.
 */
import { randomOf, type Random } from './detector-random.ts'

/** What a check of a table can find. */
export type Finding = 'stale' | 'drift' | 'volume' | 'quality' | 'connection'
export type Severity = 'info' | 'warning' | 'critical'

export interface SimTable {
  name: string
  layer: number
  /** The number of its source. */
  source: number
  upstream: string[]
  /** Minutes after its upstream is refreshed. */
  lag: number
  checks: Map<Finding, { interval: number; phase: number; severity: Severity }>
}

/** A fault, or noise: one alert that has nothing to do with a fault. */
export interface SimCause {
  name: string
  kind: 'late load' | 'schema change' | 'lost rows' | 'wrong values' | 'failed run' | 'source down' | 'noise'
  /** The table, or `source:N`. */
  at: string
  /** Other tables that may be named: those that one discovery found changed. */
  orAt?: string[]
}

export interface SimAlert {
  /** The minute in which its check finds it. */
  minute: number
  table: string
  finding: Finding
  severity: Severity
  cause: string
}

/** What happens besides: a check that recovers, a run that fails, or edges that lineage gets to know. */
export type SimEvent = { minute: number } & (
  | { kind: 'recover'; table: string; finding: Finding }
  | { kind: 'run'; table: string }
  | { kind: 'edges'; edges: [string, string][] }
)

export interface Scenario {
  seed: string
  family?: string
  tables: SimTable[]
  causes: SimCause[]
  /** By time. */
  alerts: SimAlert[]
  events?: SimEvent[]
  /** Pairs of tables of which one refers to the other. */
  foreignKeys?: [string, string][]
  /** Edges that lineage does not know from the start. */
  unknownEdges?: [string, string][]
}

const LAYERS = [
  { name: 'raw', tables: [4, 7] },
  { name: 'staging', tables: [5, 8] },
  { name: 'core', tables: [5, 8] },
  { name: 'mart', tables: [5, 8] },
  { name: 'report', tables: [3, 6] },
] as const
const INTERVALS = [10, 15, 30, 60] as const
/** Share of tables that have each kind of check. Discovery looks at all of them. */
const COVERAGE: Record<Exclude<Finding, 'connection'>, number> = {
  stale: 0.6,
  drift: 1,
  volume: 0.5,
  quality: 0.6,
}

/**
 * What a fault shows where it is, and what with which chance reaches a table below: a load that is late makes those late
 * that wait for it, and smaller those that do not.
 */
const FAULTS: Record<
  Exclude<SimCause['kind'], 'noise' | 'failed run'>,
  { own: Finding; weight: number; spread: [Finding, number][] }
> = {
  'late load': {
    own: 'stale',
    weight: 3,
    spread: [
      ['stale', 0.75],
      ['volume', 0.5],
      ['quality', 0.15],
    ],
  },
  'schema change': {
    own: 'drift',
    weight: 3,
    spread: [
      ['stale', 0.45],
      ['quality', 0.6],
      ['volume', 0.3],
      ['drift', 0.15],
    ],
  },
  'lost rows': {
    own: 'volume',
    weight: 2,
    spread: [
      ['volume', 0.7],
      ['quality', 0.35],
    ],
  },
  'wrong values': {
    own: 'quality',
    weight: 2,
    spread: [
      ['quality', 0.65],
      ['volume', 0.15],
    ],
  },
  'source down': {
    own: 'connection',
    weight: 1,
    spread: [
      ['stale', 0.8],
      ['volume', 0.4],
    ],
  },
}

/** Makes one scenario: a pipeline, one fault or two, and some noise. */
export function makeScenario(seed: string): Scenario {
  const random = randomOf(`incidents ${seed}`)
  const tables = makeTables(random)
  const causes: SimCause[] = []
  const alerts: SimAlert[] = []
  const faultCount = random.chance(0.25) ? 2 : 1
  for (let n = 0; n < faultCount; n += 1) {
    const fault = chooseFault(random, tables, causes)
    if (!fault) continue
    causes.push({ ...fault, name: `fault ${n + 1}` })
    const start = 240 + (n === 0 ? 0 : random.integer(-45, 45))
    alerts.push(...spreadFault(random, tables, { ...fault, name: `fault ${n + 1}` }, start))
  }
  const noiseCount = random.poisson(1)
  for (let n = 0; n < noiseCount; n += 1) {
    const name = `noise ${n + 1}`
    const table = random.pick(tables)
    const [finding] = shuffle(random, [...table.checks.keys()])
    // A check that alerts for a fault has that alert already.
    if (!finding || alerts.some(alert => alert.table === table.name && alert.finding === finding)) continue
    const severity = finding === 'drift' ? random.pick(['info', 'warning'] as const) : 'warning'
    causes.push({ name, kind: 'noise', at: table.name })
    const minute = 240 + random.integer(-60, 180)
    alerts.push({ minute, table: table.name, finding, severity, cause: name })
  }
  return { seed, tables, causes, alerts: alerts.toSorted((a, b) => a.minute - b.minute) }
}

function makeTables(random: Random): SimTable[] {
  const tables: SimTable[] = []
  for (const [layer, { name, tables: range }] of LAYERS.entries()) {
    const above = tables.filter(table => table.layer === layer - 1)
    const count = random.integer(range[0], range[1])
    for (let n = 0; n < count; n += 1) {
      const upstream = shuffle(random, above)
        .slice(0, layer === 1 ? 1 : random.integer(1, 3))
        .map(table => table.name)
      const checks: SimTable['checks'] = new Map()
      for (const [finding, share] of Object.entries(COVERAGE) as [Exclude<Finding, 'connection'>, number][])
        if (random.chance(share)) {
          // A source is discovered once an hour: the same minute for all of its tables.
          const isDrift = finding === 'drift'
          const interval = isDrift ? 60 : random.pick(INTERVALS)
          const phase = isDrift ? (layer < 2 ? 7 : 37) : random.integer(0, interval - 1)
          const severity = random.chance(finding === 'stale' || isDrift ? 0.6 : 0.25) ? 'critical' : 'warning'
          checks.set(finding, { interval, phase, severity })
        }
      // Raw tables lie in the databases of applications, the others in one warehouse.
      const source = layer === 0 ? n % 2 : 2
      const lag = random.integer(5, 30)
      tables.push({ name: `${name}_${n + 1}`, layer, source, upstream, lag, checks })
    }
  }
  return tables
}

/** A fault whose table has a check that can find it. A second one lies neither above nor below the first. */
function chooseFault(
  random: Random,
  tables: readonly SimTable[],
  causes: readonly SimCause[],
): Omit<SimCause, 'name'> | undefined {
  const weighted = Object.entries(FAULTS).flatMap(([kind, { weight }]) =>
    Array.from({ length: weight }, () => kind as keyof typeof FAULTS),
  )
  const taken = new Set(causes.flatMap(({ at }) => [...around(tables, at)]))
  for (let tries = 0; tries < 100; tries += 1) {
    const kind = random.pick(weighted)
    if (kind === 'source down') {
      const at = `source:${random.integer(0, 1)}`
      const isFree = tables.every(table => `source:${table.source}` !== at || !taken.has(table.name))
      if (isFree && !causes.some(cause => cause.at === at)) return { kind, at }
      continue
    }
    const table = random.pick(tables.filter(({ layer }) => layer < LAYERS.length - 1))
    if (table.checks.has(FAULTS[kind].own) && !taken.has(table.name)) return { kind, at: table.name }
  }
  return undefined
}

/** Tables above and below one, or those of a source. */
function around(tables: readonly SimTable[], at: string): Set<string> {
  const starts = startsOf(tables, at)
  const below = new Set(starts.flatMap(start => [...distancesBelow(tables, start).keys()]))
  const above = new Set<string>()
  let frontier = starts
  while (frontier.length > 0) {
    for (const name of frontier) above.add(name)
    frontier = frontier.flatMap(name => tables.find(table => table.name === name)?.upstream ?? [])
  }
  return new Set([...above, ...below])
}

function startsOf(tables: readonly SimTable[], at: string): string[] {
  return at.startsWith('source:')
    ? tables.filter(({ source }) => `source:${source}` === at).map(({ name }) => name)
    : [at]
}

/** The minutes until what is wrong with a table reaches each table below it. */
function distancesBelow(tables: readonly SimTable[], start: string): Map<string, number> {
  const minutes = new Map([[start, 0]])
  // Tables stand in the order of their layers.
  for (const { name, upstream, lag } of tables) {
    const arrivals = upstream.flatMap(each => minutes.get(each) ?? [])
    if (arrivals.length > 0) minutes.set(name, Math.min(...arrivals) + lag)
  }
  return minutes
}

/** The alerts of a fault: its own, and those of the tables that it spreads to. */
function spreadFault(
  random: Random,
  tables: readonly SimTable[],
  fault: SimCause,
  start: number,
): SimAlert[] {
  const { own, spread } = FAULTS[fault.kind as keyof typeof FAULTS]
  const alerts: SimAlert[] = []
  const hit = new Set<string>()
  const find = (table: SimTable, finding: Finding, from: number) => {
    const check = table.checks.get(finding)
    if (!check) return
    const { interval, phase, severity } = check
    const minute = Math.ceil((from - phase) / interval) * interval + phase
    alerts.push({ minute, table: table.name, finding, severity, cause: fault.name })
  }
  if (own === 'connection') {
    const minute = start + random.integer(0, 15)
    alerts.push({ minute, table: fault.at, finding: own, severity: 'critical', cause: fault.name })
  }
  const starts = startsOf(tables, fault.at)
  for (const name of starts) hit.add(name)
  for (const table of tables) {
    if (starts.includes(table.name)) {
      // What cannot be reached is not checked.
      if (own !== 'connection') find(table, own, start)
      continue
    }
    if (!table.upstream.some(name => hit.has(name))) continue
    const arrivals = starts.flatMap(name => distancesBelow(tables, name).get(table.name) ?? [])
    const found = spread.filter(([, chance]) => random.chance(chance)).map(([finding]) => finding)
    // Some tables take what reaches them.
    if (found.length === 0) continue
    hit.add(table.name)
    for (const finding of found) find(table, finding, start + Math.min(...arrivals))
  }
  return alerts
}

function shuffle<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map(item => ({ item, place: random.uniform() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
