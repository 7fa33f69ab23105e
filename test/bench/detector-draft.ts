/**
 * What a family of series is made of: the captures in time, what is usual at each, how values scatter around it,
 * and what may go wrong. Events and missing captures are put in afterwards, by one hand for all families.
 */
import type { Random } from './detector-random.ts'

export type Interval = 'hourly' | 'daily' | 'weekly'

const HOUR = 3600
const DAY = 24 * HOUR
const SECONDS: Record<Interval, number> = { hourly: HOUR, daily: DAY, weekly: 7 * DAY }
const LENGTHS: Record<Interval, number[]> = {
  hourly: [96, 168, 240, 240, 336, 400],
  daily: [30, 45, 60, 90, 90, 120, 180, 365],
  weekly: [20, 20, 30, 52, 104],
}

export type Kind =
  | 'spike'
  | 'drop'
  | 'burst'
  | 'zero'
  | 'half'
  | 'double'
  /** A weekend's value on a weekday, or the reverse. */
  | 'swap'
  /** From here on the values are others; so they are after a ramp, which takes 6 to 10 captures. */
  | 'shift'
  | 'ramp'
  /** All rows are invalid, or null. */
  | 'full'
  /** A table that only grows is not loaded, or loaded twice and more, or has lost rows. */
  | 'noload'
  | 'dupload'
  | 'delete'
  /** Activity while nothing should happen. */
  | 'dormant'

export interface Schedule {
  /** 0 = Sunday. */
  days: number[]
  /** UTC, whole hours, the end excluded. */
  start_hour: number
  end_hour: number
  timezone: 'UTC'
}

/** A series without its events; every array has an item a capture. */
export interface Draft {
  metricType: string
  interval: Interval
  /** Epoch seconds. */
  at: number[]
  /** The centre of what is normal. */
  usual: number[]
  /** The value so many conditional sd away from the usual one. */
  away(i: number, size: number): number
  /** A value whose centre is `centre` instead of the usual one. */
  draw(i: number, centre: number): number
  kinds: readonly Kind[]
  /** Rows behind a percentage; `usual` is then a rate from 0 to 1. */
  totals?: number[]
  /** The usual value of the other kind of day. */
  swapped?(i: number): number
  /** Whether an event of the kind may touch this capture. */
  allows?(kind: Kind, i: number): boolean
  /** The values are changes, and the series is their running sum from here. */
  startsFrom?: number
  /** Captures after the first judged one in which nothing happens. */
  quiet?: number
  /** First index that is judged. Default 7. */
  evalFrom?: number
  /** Something is wrong early on already, unlabelled. */
  contaminated?: boolean
  /** Captures without one, in one piece. */
  outage?: number
  /** Every series has an event, however short it is. */
  alwaysEvents?: boolean
  operating?: 'schedule' | 'auto'
  schedule?: Schedule
}

/** The moments of so many captures, each a little late; days begin at an hour of the table's own. */
export function capturesOf(
  r: Random,
  interval: Interval,
  lengths: readonly number[] = LENGTHS[interval],
): number[] {
  const hour = { hourly: 0, daily: r.integer(1, 9), weekly: 5 }[interval]
  const first = Date.UTC(2023, 0, 1) / 1000 + r.integer(0, 500) * DAY + hour * HOUR
  const late = { hourly: 108, daily: 518, weekly: HOUR }[interval]
  return Array.from({ length: r.pick(lengths) }, (_, i) =>
    Math.floor(first + i * SECONDS[interval] + r.uniform(0, late)),
  )
}

/** 0 = Sunday. */
export const weekdayOf = (at: number): number => (Math.floor(at / DAY) + 4) % 7
export const hourOf = (at: number): number => Math.floor(at / HOUR) % 24
export const isWeekend = (at: number): boolean => [0, 6].includes(weekdayOf(at))

/** How a quantity depends on the moment; around 1. */
export type Pattern = (at: number) => number

export const flat: Pattern = () => 1

/** Weekends lower, or one weekday that stands out, or a wave through the week. */
export function weekdayPattern(r: Random): Pattern {
  const weekend = r.logUniform(0.1, 0.7)
  const peak = r.uniform(1.3, 3.2)
  const day = r.integer(0, 6)
  const swing = r.uniform(0.25, 0.35)
  return r.pick<Pattern>([
    at => (isWeekend(at) ? weekend : 1),
    at => (weekdayOf(at) === day ? peak : 1),
    at => 1 + swing * Math.cos((2 * Math.PI * (weekdayOf(at) - day)) / 7),
  ])
}

/** Quiet nights and a smooth peak, or working hours that begin and end at once; `night` is the share of the peak. */
export function hourPattern(r: Random, night = r.logUniform(0.06, 0.5)): Pattern {
  const peak = r.integer(10, 19)
  const sharpness = r.uniform(1, 4)
  const [open, close] = [8, 19]
  const smooth: Pattern = at =>
    night + (1 - night) * ((1 + Math.cos((2 * Math.PI * (hourOf(at) - peak)) / 24)) / 2) ** sharpness
  const plateau: Pattern = at => (hourOf(at) >= open && hourOf(at) < close ? 1 : night)
  return r.chance(0.6) ? smooth : plateau
}

/** One pattern times the other. */
export const both =
  (a: Pattern, b: Pattern): Pattern =>
  at =>
    a(at) * b(at)
