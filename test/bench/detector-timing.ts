/** What the detector costs: a verdict as each capture brings one, a replay of a year, and the state that is kept. */
import { performance } from 'node:perf_hooks'
import {
  learnPoint,
  replaySeries,
  startDetector,
  judgePoint,
  type DetectorOptions,
  type DetectorState,
  type Operating,
  type SeriesPoint,
} from '../../checks/detector.ts'
import { both, hourPattern, isWeekend, weekdayPattern } from './detector-draft.ts'
import { randomOf } from './detector-random.ts'
import { domainOfSeries } from '../../checks/series-domains.ts'
import { median } from './rows.ts'

/** Points of the history that a verdict rests on. */
const HISTORY = 365
const DAY = 86400

/** Milliseconds are medians. */
export interface Cost {
  series: string
  interval: string
  operating: string
  /** A verdict and an advance, from a state at hand. */
  incrementalMs: number
  /** The same from a state that was just parsed from JSON, and the parsing. */
  firstMs: number
  parseMs: number
  replayMs: number
  stateBytes: number
}

const schedule = {
  timezone: 'UTC',
  rules: [{ days: [1, 2, 3, 4, 5], start: '08:00', end: '18:00' }],
}

/** Operating periods matter to percentages with their row counts only. */
const MODES: Record<string, Operating[]> = {
  row_count: [{ mode: 'off' }],
  mean: [{ mode: 'off' }],
  null_percent: [{ mode: 'off' }, { mode: 'schedule', schedule }, { mode: 'auto' }],
  invalid_percent: [{ mode: 'off' }, { mode: 'schedule', schedule }, { mode: 'auto' }],
}

export function measureCosts(rounds: number): Cost[] {
  return Object.entries(MODES).flatMap(([series, modes]) =>
    (['hourly', 'daily'] as const).flatMap(interval =>
      modes.map(operating => measureCost(series, interval, operating, rounds)),
    ),
  )
}

function measureCost(
  series: string,
  interval: 'hourly' | 'daily',
  operating: Operating,
  rounds: number,
): Cost {
  const direction = series === 'invalid_percent' ? 'high' : 'both'
  const options: DetectorOptions = {
    series,
    domain: domainOfSeries(series),
    interval,
    direction,
    sensitivity: 3,
    operating,
  }
  const points = pointsOf(series, interval, HISTORY + 4 * rounds)
  const history = points.slice(0, HISTORY)
  const later = points.slice(HISTORY)
  // The first rounds are not yet compiled and do not count.
  replaySeries(history, options)
  replaySeries(history, options)
  const replays = Array.from({ length: rounds }, () => timed(() => replaySeries(history, options)))
  let state = history.reduce(learnPoint, startDetector(options))
  const json = JSON.stringify(state)
  const step = (from: DetectorState, point: SeriesPoint) => {
    judgePoint(from, point, options.sensitivity)
    state = learnPoint(from, point)
  }
  const incremental = later.map(point => timed(() => step(state, point)))
  const parsed: DetectorState[] = []
  const parse = later.map(() => timed(() => parsed.push(JSON.parse(json) as DetectorState)))
  const first = parsed.map(from => timed(() => step(from, later[0]!)))
  return {
    series,
    interval,
    operating: operating.mode,
    incrementalMs: median(incremental),
    firstMs: median(first),
    parseMs: median(parse),
    replayMs: median(replays),
    stateBytes: Buffer.byteLength(json),
  }
}

/** A series with a cycle, of the kind that its name says. */
function pointsOf(series: string, interval: 'hourly' | 'daily', length: number): SeriesPoint[] {
  const r = randomOf(`${series}/${interval}`)
  const week = weekdayPattern(r)
  const pattern = interval === 'hourly' ? both(hourPattern(r), week) : week
  const first = Date.UTC(2024, 0, 1) / 1000
  return Array.from({ length }, (_, i): SeriesPoint => {
    const at = first + i * (interval === 'hourly' ? 3600 : DAY) + r.integer(0, 100)
    if (series === 'mean') return { at, value: 50 * pattern(at) + r.normal() }
    if (series === 'row_count') return { at, value: r.poisson(4000 * pattern(at)) }
    const total = r.poisson(2000)
    return { at, value: (100 * r.binomial(total, isWeekend(at) ? 0 : 0.04)) / total, total }
  })
}

/** The least that judges a value by its past: mean and deviation of as many points; milliseconds, the median. */
export function measurePlain(rounds: number): number {
  const values = pointsOf('row_count', 'hourly', HISTORY).map(({ value }) => value)
  let outside = 0
  const judge = () => {
    const mean = values.reduce((sum, value) => sum + value, 0) / HISTORY
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / HISTORY
    if (Math.abs(values[0]! - mean) > 3 * Math.sqrt(variance)) outside += 1
  }
  const times = Array.from({ length: rounds }, () => timed(judge))
  return outside < 0 ? NaN : median(times)
}

function timed(work: () => unknown): number {
  const before = performance.now()
  work()
  return performance.now() - before
}
