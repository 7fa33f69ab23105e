/**
 * Labelled series to measure the detector by, of the kinds that tables really have: what is normal is drawn by one
 * function a family, then events and missing captures are put in. The salt decides everything: another salt makes
 * other series of the same kinds.
 */
import type { Draft, Kind, Schedule } from './detector-draft.ts'
import { metricFamilies } from './detector-metrics.ts'
import { randomOf, type Random } from './detector-random.ts'
import { operatingFamilies, validityFamilies } from './detector-rates.ts'
import { updateFamilies } from './detector-updates.ts'

export type Suite = 'metric' | 'validity' | 'operating' | 'freshness'

/** Epoch seconds, the value, and the rows behind a percentage. An update has no value. */
export type Row = [at: number, value: number, total: number | null]

/** First and last index that belong to it; hit when one of them is flagged. */
export interface Event {
  start: number
  end: number
  type: Kind | 'late'
  size?: number
}

/** Spelled as the files of labelled series are. */
export interface Series {
  id: string
  suite: Suite | 'inj' | 'nab'
  family: string
  metric_type: string
  interval: string
  direction: 'both' | 'high'
  eval_from: number
  operating_period_mode?: 'schedule' | 'auto'
  schedule?: Schedule
  points: Row[]
  /** 0 = normal, 1 = an event, 2 = neither counts. */
  labels: number[]
  events: Event[]
}

/** So many series of each family. */
export function makeSeries(salt: string, each: number): Series[] {
  const drafts = { metric: metricFamilies, validity: validityFamilies, operating: operatingFamilies }
  const made: Series[] = []
  const make = (suite: Suite, family: string, build: (r: Random) => Partial<Series>) => {
    for (let k = 0; k < each; k++) {
      const id = `${suite}/${family}/${String(k).padStart(3, '0')}`
      made.push({ id, suite, family, ...build(randomOf(`${salt}/${id}`)) } as Series)
    }
  }
  for (const [suite, families] of Object.entries(drafts)) {
    for (const [family, draft] of Object.entries(families)) {
      make(suite as Suite, family, r => finish(r, draft(r), suite === 'metric' ? 'both' : 'high'))
    }
  }
  for (const [family, updates] of Object.entries(updateFamilies)) {
    make('freshness', family, r => {
      const { at, isLate } = updates(r)
      return {
        metric_type: 'freshness',
        interval: 'event',
        direction: 'high',
        eval_from: 8,
        points: at.map((moment): Row => [moment, 0, null]),
        labels: isLate.map(Number),
        events: isLate.flatMap((late, i) => (late ? [{ start: i, end: i, type: 'late' as const }] : [])),
      }
    })
  }
  return made
}

/** Draws the values of a draft with events in it, and leaves some captures out. */
function finish(r: Random, draft: Draft, direction: Series['direction']): Partial<Series> {
  const evalFrom = draft.evalFrom ?? 7
  const happened = happenings(r, draft, direction, evalFrom)
  const values = valuesOf(r, draft, happened)
  const labels = draft.at.map(() => 0)
  for (const { start, end, type } of happened) {
    const isNewLevel = type === 'shift' || type === 'ramp'
    const until = isNewLevel ? end - 2 + SETTLING[draft.interval] : end + 1
    labels.fill(isNewLevel ? 2 : 1, start, until)
  }
  if (draft.contaminated) contaminate(r, draft, direction, values, labels)
  const kept = captured(r, draft, happened)
  const indexOf = new Map(kept.map((i, index) => [i, index]))
  return {
    metric_type: draft.metricType,
    interval: draft.interval,
    direction,
    eval_from: evalFrom,
    ...(draft.operating && { operating_period_mode: draft.operating }),
    ...(draft.schedule && { schedule: draft.schedule }),
    points: kept.map((i): Row => [draft.at[i]!, values[i]!, draft.totals?.[i] ?? null]),
    labels: kept.map(i => labels[i]!),
    events: happened.flatMap(({ start, end, type, size }) => {
      const indexes = kept.filter(i => i >= start && i <= end).map(i => indexOf.get(i)!)
      return indexes.length ? [{ start: indexes[0]!, end: indexes[indexes.length - 1]!, type, size }] : []
    }),
  }
}

/** Captures from which a new level counts as learned. */
const SETTLING = { hourly: 24, daily: 10, weekly: 8 }
/** Captures between one event and the next, at least. */
const APART = 18

interface Happening extends Event {
  type: Kind
  /** Conditional sd, signed. */
  size: number
}

/** Nothing in three of ten series, else one to three events. */
function happenings(r: Random, draft: Draft, direction: Series['direction'], evalFrom: number): Happening[] {
  const length = draft.at.length
  const wanted = draft.alwaysEvents || !r.chance(0.3) ? r.pick([1, 1, 1, 1, 1, 1, 2, 2, 2, 3]) : 0
  const from = evalFrom + (draft.quiet ?? 5)
  const taken: Happening[] = []
  for (let attempt = 0; attempt < 200 && taken.length < wanted; attempt++) {
    const type = r.pick(draft.kinds)
    const start = r.integer(from, length - 2)
    const end = start + lengthOf(r, type) - 1
    const sign =
      type === 'drop' || (direction === 'both' && !['spike', 'dormant'].includes(type) && r.chance(0.5))
        ? -1
        : 1
    const isFree = taken.every(other => start > other.end + APART || end < other.start - APART)
    const allows = (i: number) => draft.allows?.(type, i) ?? true
    const isAllowed = Array.from({ length: end - start + 1 }, (_, i) => start + i).every(allows)
    if (start >= from && isFree && isAllowed) taken.push({ start, end, type, size: sign * sizeOf(r) })
  }
  return taken.sort((a, b) => a.start - b.start)
}

/** Captures that belong to an event; of a shift the first three, of a ramp three more than it takes. */
function lengthOf(r: Random, type: Kind): number {
  if (type === 'shift') return 3
  if (type === 'ramp') return r.integer(6, 10) + 3
  if (type === 'burst') return r.integer(2, 4)
  if (type === 'noload') return r.integer(1, 3)
  return type === 'zero' && r.chance(0.25) ? 2 : 1
}

/** 4 to 25 conditional sd, a quarter of them 4 to 5.5. */
function sizeOf(r: Random): number {
  return r.pick([r.uniform(4, 5.5), r.uniform(5.5, 9), r.uniform(5.5, 9), r.uniform(9, 25)])
}

/** The values in order; what happened moves their centres. */
function valuesOf(r: Random, draft: Draft, happened: readonly Happening[]): number[] {
  let total = draft.startsFrom ?? 0
  return draft.at.map((_, i) => {
    const centre = happened.reduce((moved, event) => moved + lasting(draft, event, i), draft.usual[i]!)
    const now = happened.find(event => i >= event.start && i <= event.end)
    const value = now ? wrong(r, draft, i, centre, now, total) : draft.draw(i, centre)
    total += value
    return draft.startsFrom === undefined ? tidy(value) : total
  })
}

/** What a shift or a ramp has added to the centre by now: in proportion, where the usual value changes. */
function lasting(draft: Draft, { start, end, type, size }: Happening, i: number): number {
  if ((type !== 'shift' && type !== 'ramp') || i < start) return 0
  const share = type === 'shift' ? 1 : Math.min(1, (i - start + 1) / (end - start - 2))
  const before = draft.usual[start]!
  const ratio = before === 0 ? 1 : draft.usual[i]! / before
  return share * ratio * (draft.away(start, size) - before)
}

/** A value that something is wrong with. */
function wrong(r: Random, draft: Draft, i: number, centre: number, event: Happening, total: number): number {
  switch (event.type) {
    case 'zero':
    case 'noload':
      return 0
    case 'half':
      return draft.draw(i, centre * r.uniform(0.35, 0.55))
    case 'double':
      return draft.draw(i, centre * r.uniform(1.8, 2.3))
    case 'dupload':
      return draft.draw(i, centre * r.uniform(2, 9))
    case 'delete':
      return -Math.round(total * r.uniform(0.08, 0.6))
    case 'full':
      return 100
    case 'swap':
      return draft.draw(i, draft.swapped!(i))
    case 'shift':
    case 'ramp':
      return draft.draw(i, centre)
    default:
      return draft.draw(i, centre + draft.away(i, event.size) - draft.usual[i]!)
  }
}

const tidy = (value: number) => Number(value.toPrecision(9))

/** One of the first values is 10 to 25 sd off. */
function contaminate(
  r: Random,
  draft: Draft,
  direction: Series['direction'],
  values: number[],
  labels: number[],
): void {
  const i = r.integer(1, 6)
  const sign = direction === 'both' && r.chance(0.4) ? -1 : 1
  values[i] = tidy(draft.draw(i, draft.away(i, sign * r.uniform(10, 25))))
  labels[i] = 2
}

/** The captures that took place: none to a tenth are missing, never one that an event begins with. */
function captured(r: Random, draft: Draft, happened: readonly Happening[]): number[] {
  const share = r.chance(0.5) ? 0 : r.uniform(0.01, 0.1)
  const starts = new Set(happened.map(event => event.start))
  const gap = draft.outage ? gapOf(r, draft.at.length, draft.outage, happened) : [0, 0]
  const indexes = draft.at.map((_, i) => i)
  return indexes.filter(i => (starts.has(i) || !r.chance(share)) && (i < gap[0]! || i >= gap[1]!))
}

/** An outage, at a time without events. */
function gapOf(r: Random, length: number, outage: number, happened: readonly Happening[]): [number, number] {
  for (let attempt = 0; attempt < 100; attempt++) {
    const from = r.integer(Math.floor(length * 0.2), length - outage - 8)
    if (happened.every(({ start, end }) => end < from || start >= from + outage)) return [from, from + outage]
  }
  return [0, 0]
}
