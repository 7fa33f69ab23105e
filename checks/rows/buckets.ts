/** The buckets of time that a check with a window is about. */
import { DateTime } from 'luxon'

/** What a time column keeps: days, what a clock on the wall showed, or moments. */
export type TimeKeeping = 'days' | 'wall' | 'moments'

/** How time is cut into buckets, on which kind of column. */
export interface BucketGrid {
  /** `6h`, `1d`, `1w`. */
  size: string
  /** The IANA zone in which buckets begin; what a clock on the wall showed is taken to be of it. */
  timezone: string
  keeping: TimeKeeping
}

/** One bucket: the moments from `start` up to `end`, without it, and the same as texts for the column. */
export interface Bucket {
  start: Date
  end: Date
  from: string
  to: string
  /** What people call it, in its zone: `2026-11-27`, `2026-11-27 06:00`, `2026-11-23 to 2026-11-29`. */
  label: string
}

interface WindowSize {
  unit: 'hours' | 'days'
  count: number
}

const SIZE = /^(\d{1,3})([hdw])$/
const MAX_DAYS = 366
const DAY_MS = 86_400_000
/** A Monday: days are counted from it, so that weeks begin on Mondays. */
const FIRST_DAY = Date.UTC(1970, 0, 5)

/** Reads the size of a window: hours that divide a day, or whole days or weeks. Returns null for anything else. */
export function readWindowSize(text: string): WindowSize | null {
  const [, digits, letter] = SIZE.exec(text) ?? []
  const count = Number(digits)
  if (letter === undefined || !(count > 0)) return null
  if (letter === 'h') {
    if (24 % count !== 0) return null
    return count === 24 ? { unit: 'days', count: 1 } : { unit: 'hours', count }
  }
  const days = letter === 'w' ? 7 * count : count
  return days <= MAX_DAYS ? { unit: 'days', count: days } : null
}

/** Seconds of a bucket on days on which no clock changes. */
export function windowSeconds(size: string): number {
  const { unit, count } = requireSize(size)
  return count * (unit === 'hours' ? 3_600 : 86_400)
}

function requireSize(text: string): WindowSize {
  const size = readWindowSize(text)
  if (size) return size
  throw new RangeError(`${text} is no size of a window`)
}

/** Why buckets of a size cannot be of a column, in a sentence; null if they can be. */
export function findWindowProblem(size: string, keeping: TimeKeeping): string | null {
  const read = readWindowSize(size)
  if (!read)
    return `window must be hours that divide a day (1h, 2h, 3h, 4h, 6h, 8h, 12h), or whole days or weeks up to ${MAX_DAYS} days, such as 1d or 1w`
  if (keeping === 'days' && read.unit === 'hours')
    return 'window must be whole days on a column of dates, such as 1d'
  return null
}

/** The bucket that a moment lies in. */
export function bucketAt(grid: BucketGrid, moment: Date): Bucket {
  const buckets = bucketsOf(grid, moment, moment)
  const found = buckets.find(({ start, end }) => start <= moment && moment < end)
  if (found) return found
  throw new RangeError(`${moment.toISOString()} lies in no bucket`)
}

/** The newest buckets that are over at a moment, the oldest first. @param count how many, 1 or more */
export function completeBuckets(grid: BucketGrid, moment: Date, count: number): Bucket[] {
  // A bucket may be an hour longer than usual, and the last one is not over yet.
  const reach = (count + 2) * (windowSeconds(grid.size) + 3_600) * 1_000
  const buckets = bucketsOf(grid, new Date(moment.getTime() - reach), moment)
  return buckets.filter(({ end }) => end <= moment).slice(-count)
}

/** All buckets that touch the time from one moment to another, the oldest first. */
function bucketsOf({ size, keeping, timezone: zone }: BucketGrid, from: Date, until: Date): Bucket[] {
  const { unit, count } = requireSize(size)
  const days = unit === 'days' ? count : 1
  const last = dayNumber(until, zone) + days
  const edges: Date[] = []
  for (let day = alignedDay(dayNumber(from, zone), days); day <= last + days; day += days)
    for (let hour = 0; hour < 24; hour += unit === 'hours' ? count : 24) edges.push(edgeAt(day, hour, zone))
  // Where clocks skip an hour, two edges fall together.
  const distinct = edges.filter((edge, place) => place === 0 || edge > edges[place - 1]!)
  return distinct
    .slice(0, -1)
    .map((start, place) => {
      const end = distinct[place + 1]!
      return {
        start,
        end,
        from: textOf(start, keeping, zone),
        to: textOf(end, keeping, zone),
        label: labelOf(start, end, size, zone),
      }
    })
    .filter(({ start, end }) => end > from && start <= until)
}

function dayNumber(moment: Date, zone: string): number {
  const { year, month, day } = DateTime.fromJSDate(moment, { zone })
  return Math.round((Date.UTC(year, month - 1, day) - FIRST_DAY) / DAY_MS)
}

function alignedDay(day: number, days: number): number {
  return Math.floor(day / days) * days
}

/** The moment when clocks show an hour of a day for the first time; the moment after it where they skip it. */
function edgeAt(day: number, hour: number, zone: string): Date {
  const date = DateTime.fromMillis(FIRST_DAY + day * DAY_MS, { zone: 'utc' })
  const start = DateTime.fromObject({ year: date.year, month: date.month, day: date.day }, { zone }).startOf(
    'day',
  )
  return (hour === 0 ? start : start.set({ hour })).toJSDate()
}

function labelOf(start: Date, end: Date, size: string, zone: string): string {
  const first = DateTime.fromJSDate(start, { zone })
  const { unit, count } = requireSize(size)
  if (unit === 'hours') return first.toFormat('yyyy-MM-dd HH:mm')
  const day = first.toFormat('yyyy-MM-dd')
  // The last moment of the bucket lies in its last day.
  const last = DateTime.fromMillis(end.getTime() - 1, { zone }).toFormat('yyyy-MM-dd')
  return count === 1 ? day : `${day} to ${last}`
}

/** The same moments as texts for another column. */
export function writeBucketFor<Of extends Bucket>(
  bucket: Of,
  { keeping, timezone }: Pick<BucketGrid, 'keeping' | 'timezone'>,
): Of {
  const [from, to] = [bucket.start, bucket.end].map(moment => textOf(moment, keeping, timezone)) as [
    string,
    string,
  ]
  return { ...bucket, from, to }
}

function textOf(moment: Date, keeping: TimeKeeping, zone: string): string {
  const local = DateTime.fromJSDate(moment, { zone: keeping === 'moments' ? 'utc' : zone })
  return local.toFormat(keeping === 'days' ? 'yyyy-MM-dd' : 'yyyy-MM-dd HH:mm:ss')
}
