/**
 * Small pipelines, each family with one difficulty that the pipelines of `incidents-world.ts` do not have. They were
 * written before the rules that they judge, and know nothing of these.
 */
import { randomOf, type Random } from './detector-random.ts'
import type {
  Finding,
  Scenario,
  Severity,
  SimAlert,
  SimCause,
  SimEvent,
  SimTable,
} from './incidents-world.ts'

/** What a fault shows at its own table, and what with which chance reaches a table below it. */
const FAULTS = {
  'late load': { own: ['stale'], spread: { stale: 0.75, volume: 0.4, quality: 0.1 } },
  'schema change': { own: ['drift'], spread: { quality: 0.6, stale: 0.35, volume: 0.25 } },
  'lost rows': { own: ['volume'], spread: { volume: 0.7, quality: 0.35 } },
  'wrong values': { own: ['quality'], spread: { quality: 0.75, volume: 0.15 } },
  'failed run': { own: [], spread: { stale: 0.75, volume: 0.4, quality: 0.15 } },
} as const satisfies Record<string, { own: readonly Finding[]; spread: Partial<Record<Finding, number>> }>
type FaultKind = keyof typeof FAULTS

interface FaultOptions {
  start: number
  /** Minutes that data takes for each step. */
  lag: readonly [number, number]
  /** Minutes until a check looks. */
  wait: readonly [number, number]
  /** Findings at the table itself beside those of the kind. */
  also?: readonly Finding[]
}
const USUAL = { start: 240, lag: [2, 15], wait: [0, 15] } as const satisfies FaultOptions

/** A pipeline of ten tables: two raw ones, and three layers that are each made from the one before. */
function makePipeline(random: Random, prefix: string, source: number): SimTable[] {
  const layers = [
    ['raw', 2],
    ['staging', 3],
    ['core', 3],
    ['report', 2],
  ] as const
  const tables: SimTable[] = []
  for (const [layer, [name, count]] of layers.entries()) {
    const above = tables.filter(table => table.layer === layer - 1).map(table => table.name)
    for (let n = 1; n <= count; n += 1) {
      const first = random.integer(0, Math.max(0, above.length - 1))
      const second = random.chance(0.4) ? [above[(first + 1) % above.length]] : []
      const upstream = [...new Set([above[first], ...second])].flatMap(each => each ?? [])
      tables.push({ name: `${prefix}_${name}_${n}`, layer, source, upstream, lag: 0, checks: new Map() })
    }
  }
  return tables
}

const SEVERITY_OF: Record<Finding, Severity> = {
  stale: 'critical',
  drift: 'critical',
  volume: 'warning',
  quality: 'warning',
  connection: 'critical',
}

class World {
  readonly random: Random
  readonly tables: SimTable[] = []
  readonly causes: SimCause[] = []
  readonly alerts: SimAlert[] = []
  readonly events: SimEvent[] = []
  readonly foreignKeys: [string, string][] = []
  readonly unknownEdges: [string, string][] = []

  constructor(seed: string) {
    this.random = randomOf(seed)
  }

  addPipelines(count: number): SimTable[][] {
    const added = Array.from({ length: count }, (_, n) => makePipeline(this.random, `p${n + 1}`, n % 3))
    this.tables.push(...added.flat())
    return added
  }

  raise(table: string, finding: Finding, minute: number, cause: string, severity = SEVERITY_OF[finding]) {
    const isThere = this.alerts.some(each => each.table === table && each.finding === finding)
    if (!isThere) this.alerts.push({ minute: Math.round(minute), table, finding, severity, cause })
  }

  /** A fault at a table, and what it brings about below. @returns its name */
  fault(at: string, kind: FaultKind, { start, lag, wait, also = [] }: FaultOptions): string {
    const { random } = this
    const name = `fault ${this.causes.length + 1}`
    this.causes.push({ name, kind, at })
    if (kind === 'failed run') this.events.push({ kind: 'run', minute: start, table: at })
    for (const finding of [...FAULTS[kind].own, ...also])
      this.raise(at, finding, start + random.integer(...wait), name)
    this.spread([at], kind, { start, lag, wait }, name)
    return name
  }

  /** The effects of a fault below some tables. At least one of the tables next to them shows it. */
  spread(roots: readonly string[], kind: FaultKind, { start, lag, wait }: FaultOptions, name: string) {
    const { random } = this
    const arrival = new Map(roots.map(root => [root, start]))
    let hasEffect = false
    for (const { name: table, upstream } of this.tables) {
      const arrivals = upstream.flatMap(each => arrival.get(each) ?? [])
      if (arrivals.length === 0 || arrival.has(table)) continue
      const found = Object.entries(FAULTS[kind].spread).flatMap(([finding, chance]) =>
        random.chance(chance) ? [finding as Finding] : [],
      )
      if (found.length === 0 && hasEffect) continue
      if (found.length === 0) found.push('quality')
      hasEffect = true
      const at = Math.min(...arrivals) + random.integer(...lag)
      arrival.set(table, at)
      for (const finding of found) this.raise(table, finding, at + random.integer(...wait), name)
    }
  }

  /** Alerts that have nothing to do with each other or with a fault, on some tables. */
  noise(
    tables: readonly SimTable[],
    minute: number,
    findings: readonly Finding[] = ['quality', 'volume', 'stale'],
  ) {
    for (const { name: at } of tables) {
      const name = `noise ${this.causes.length + 1}`
      const finding = this.random.pick(findings)
      if (this.alerts.some(each => each.table === at && each.finding === finding)) continue
      this.causes.push({ name, kind: 'noise', at })
      this.raise(at, finding, minute, name, 'warning')
    }
  }

  pickFrom(tables: readonly SimTable[], ...layers: number[]): SimTable {
    return this.random.pick(tables.filter(({ layer }) => layers.includes(layer)))
  }

  pickKind(...kinds: FaultKind[]): FaultKind {
    return this.random.pick(kinds.length > 0 ? kinds : (Object.keys(FAULTS) as FaultKind[]))
  }

  scenario(seed: string, family: string): Scenario {
    const { tables, causes, alerts, events, foreignKeys, unknownEdges } = this
    const byTime = alerts.toSorted((a, b) => a.minute - b.minute)
    return { seed, family, tables, causes, alerts: byTime, events, foreignKeys, unknownEdges }
  }
}

/** Two tables of a layer that share what is above them, which is well, and what is below. */
function twoRoots(world: World): void {
  const [tables = []] = world.addPipelines(1)
  const [one, other] = tables.filter(({ layer }) => layer === 1)
  const [raw] = tables
  const [joined] = tables.filter(({ layer }) => layer === 2)
  for (const table of [one!, other!]) table.upstream = [raw!.name]
  joined!.upstream = [one!.name, other!.name]
  const start = 240 + world.random.integer(-10, 10)
  const kinds = ['lost rows', 'wrong values', 'late load', 'failed run'] as const
  world.fault(one!.name, world.pickKind(...kinds), USUAL)
  world.fault(other!.name, world.pickKind(...kinds), { ...USUAL, start })
}

/** An edge within a fault's way that lineage knows later, or never. */
function missingLineage(world: World): void {
  const [tables = []] = world.addPipelines(1)
  const root = world.pickFrom(tables, 0, 1)
  world.fault(root.name, world.pickKind(), USUAL)
  const below = tables.filter(({ upstream }) => upstream.includes(root.name))
  const lost = world.random.pick(below)
  if (!lost) return
  world.unknownEdges.push([root.name, lost.name])
  if (world.random.chance(0.7))
    world.events.push({ kind: 'edges', minute: 300, edges: [[root.name, lost.name]] })
}

/** Alerts of the same minute on tables between which no data flows. */
function coincidences(world: World): void {
  const [main = [], ...others] = world.addPipelines(4)
  world.fault(world.pickFrom(main, 0, 1).name, world.pickKind(), USUAL)
  const { minute } = world.random.pick(world.alerts)
  world.noise(
    others.map(tables => world.pickFrom(tables, 0, 1, 2, 3)),
    minute,
  )
}

/** All alerts of a fault recover and come back, once to three times. */
function flapping(world: World): void {
  const [tables = []] = world.addPipelines(1)
  world.fault(
    world.pickFrom(tables, 0, 1).name,
    world.pickKind('late load', 'lost rows', 'wrong values'),
    USUAL,
  )
  let end = Math.max(...world.alerts.map(({ minute }) => minute))
  const first = [...world.alerts]
  for (let n = world.random.integer(1, 3); n > 0; n -= 1) {
    const start = end + world.random.integer(5, 20)
    for (const { table, finding } of first)
      world.events.push({ kind: 'recover', minute: start + world.random.integer(0, 5), table, finding })
    const again = start + world.random.integer(8, 30)
    for (const alert of first) world.alerts.push({ ...alert, minute: again + world.random.integer(0, 8) })
    end = again + 8
  }
}

/** The cause is mended, and what is below it recovers step by step, while some of it fails once more. */
function rerunFixes(world: World): void {
  const [tables = []] = world.addPipelines(1)
  const root = world.pickFrom(tables, 0, 1)
  const name = world.fault(root.name, world.pickKind('late load', 'lost rows', 'wrong values'), USUAL)
  let minute = Math.max(...world.alerts.map(each => each.minute)) + world.random.integer(10, 30)
  const layerOf = (table: string) => tables.find(each => each.name === table)!.layer
  for (const { table, finding } of world.alerts.toSorted((a, b) => layerOf(a.table) - layerOf(b.table))) {
    world.events.push({ kind: 'recover', minute, table, finding })
    minute += world.random.integer(1, 6)
  }
  const late = tables.find(each => each.upstream.some(up => world.alerts.some(({ table }) => table === up)))
  if (late) world.raise(late.name, 'quality', minute - 8, name)
}

/** Each step takes one to four hours. */
function slowPropagation(world: World): void {
  const [tables = [], other = []] = world.addPipelines(2)
  world.fault(world.pickFrom(tables, 0).name, world.pickKind(), { ...USUAL, lag: [60, 240] })
  world.noise([world.pickFrom(other, 1, 2)], 240 + world.random.integer(60, 300))
}

/** Two pipelines whose tables refer to each other, and a fault in each. */
function foreignKeys(world: World): void {
  const [one = [], other = []] = world.addPipelines(2)
  for (const [n, { name }] of one.entries()) world.foreignKeys.push([name, other[n]!.name])
  const kinds = ['late load', 'lost rows', 'wrong values'] as const
  world.fault(world.pickFrom(one, 0, 1).name, world.pickKind(...kinds), USUAL)
  world.fault(world.pickFrom(other, 0, 1).name, world.pickKind(...kinds), USUAL)
}

/** A fault shows in several ways at its own table. */
function severalSymptoms(world: World): void {
  const [tables = [], other = []] = world.addPipelines(2)
  const kind = world.pickKind()
  const also = (['stale', 'volume', 'quality'] as const).filter(() => world.random.chance(0.6))
  world.fault(world.pickFrom(tables, 0, 1, 2).name, kind, { ...USUAL, also })
  world.fault(world.pickFrom(other, 0, 1, 2).name, world.pickKind(), { ...USUAL, start: 245 })
}

/** A source that cannot be reached, while a table of another one is wrong. */
function unreachableSource(world: World): void {
  const [tables = [], other = []] = world.addPipelines(2)
  // Its raw tables lie in it, and the others in the warehouse.
  for (const table of tables) if (table.layer > 0) table.source = 2
  const name = `fault ${world.causes.length + 1}`
  world.causes.push({ name, kind: 'source down', at: 'source:0' })
  world.raise('source:0', 'connection', 240 + world.random.integer(0, 10), name)
  const raw = tables.filter(({ layer }) => layer === 0).map(table => table.name)
  world.spread(raw, 'late load', USUAL, name)
  world.fault(world.pickFrom(other, 0, 1).name, world.pickKind('lost rows', 'wrong values'), USUAL)
}

/** One discovery finds many tables changed, while independent faults show on some of them and below. */
function oneDiscovery(world: World): void {
  const pipelines = world.addPipelines(4)
  for (const table of world.tables) table.source = 0
  const roots = pipelines.map(tables => world.pickFrom(tables, 0, 1))
  const orAt = roots.map(({ name }) => name)
  world.causes.push({ name: 'fault 1', kind: 'schema change', at: orAt[0]!, orAt })
  for (const { name } of roots)
    world.raise(name, 'drift', 240, 'fault 1', world.random.chance(0.5) ? 'critical' : 'info')
  for (const { name } of roots.slice(0, world.random.integer(2, 3)))
    world.fault(name, world.pickKind('lost rows', 'wrong values'), { ...USUAL, start: 241 })
}

const FAMILIES = {
  'two roots': twoRoots,
  'missing lineage': missingLineage,
  coincidences,
  flapping,
  're-run fixes': rerunFixes,
  'slow propagation': slowPropagation,
  'foreign keys': foreignKeys,
  'several symptoms': severalSymptoms,
  'unreachable source': unreachableSource,
  'one discovery': oneDiscovery,
} as const satisfies Record<string, (world: World) => void>

export const FAMILY_NAMES = Object.keys(FAMILIES) as (keyof typeof FAMILIES)[]

/** Makes one scenario of a family. */
export function makeFamilyScenario(family: keyof typeof FAMILIES, seed: string): Scenario {
  const world = new World(`incident families ${family} ${seed}`)
  FAMILIES[family](world)
  return world.scenario(seed, family)
}
