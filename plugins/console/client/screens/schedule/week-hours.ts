/** Hours of the week as a set of minutes, and as the periods that the API has. */

/** A period as the API has it: it starts on these days, 1 is Monday. An end at or before the start is on the next day. */
export interface Period {
  days: number[]
  start: string
  end: string
}

/** Whether each minute of the week is active, from Monday 00:00. */
export type WeekMinutes = readonly boolean[]

const DAYS = 7
const HOUR = 60
const DAY = 24 * HOUR
const WEEK = DAYS * DAY

const START = /^([01]\d|2[0-3]):[0-5]\d$/
const END = /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/

export type PeriodProblem = 'noDays' | 'badStart' | 'badEnd'

/** What is wrong with a period; undefined for a good one. */
export function findPeriodProblem({ days, start, end }: Period): PeriodProblem | undefined {
  if (days.length === 0) return 'noDays'
  if (!START.test(start)) return 'badStart'
  return END.test(end) ? undefined : 'badEnd'
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * HOUR + Number(time.slice(3))
const timeOf = (minutes: number) =>
  `${String(Math.floor(minutes / HOUR)).padStart(2, '0')}:${String(minutes % HOUR).padStart(2, '0')}`

/** The minutes of periods that are good. */
export function minutesOfPeriods(periods: readonly Period[]): WeekMinutes {
  const minutes = Array.from({ length: WEEK }, () => false)
  for (const period of periods) {
    if (findPeriodProblem(period)) continue
    const start = minutesOf(period.start)
    const end = minutesOf(period.end)
    const length = end > start ? end - start : end + DAY - start
    for (const day of period.days)
      for (let n = 0; n < length; n++) minutes[((day - 1) * DAY + start + n) % WEEK] = true
  }
  return minutes
}

/** The fewest periods with these minutes: a run of more than a day is cut at midnight, equal times share their days. */
export function periodsOfMinutes(minutes: WeekMinutes): Period[] {
  const days = new Map<string, number[]>()
  for (const [from, length] of runsOf(minutes))
    for (const [start, end] of cutRun(from, length)) {
      const key = `${timeOf(start % DAY)} ${timeOf((end - 1) % DAY === DAY - 1 ? DAY : end % DAY)}`
      days.set(key, [...(days.get(key) ?? []), (Math.floor(start / DAY) % DAYS) + 1])
    }
  return [...days].map(([key, some]) => {
    const [start = '', end = ''] = key.split(' ')
    return { days: some.sort((a, b) => a - b), start, end }
  })
}

/** Runs of active minutes: where each starts and how long it is. One over Sunday's midnight is one run. */
function runsOf(minutes: WeekMinutes): [from: number, length: number][] {
  const firstQuiet = minutes.indexOf(false)
  if (firstQuiet === -1) return [[0, WEEK]]
  const runs: [number, number][] = []
  let length = 0
  for (let n = 1; n <= WEEK; n++) {
    const at = (firstQuiet + n) % WEEK
    if (minutes[at]) length++
    else if (length > 0) {
      runs.push([(at - length + WEEK) % WEEK, length])
      length = 0
    }
  }
  return runs.sort(([a], [b]) => a - b)
}

function cutRun(from: number, length: number): [start: number, end: number][] {
  if (length <= DAY) return [[from, from + length]]
  const parts: [number, number][] = []
  for (let start = from; start < from + length;) {
    const end = Math.min(from + length, (Math.floor(start / DAY) + 1) * DAY)
    parts.push([start, end])
    start = end
  }
  return parts
}

export type CellState = 'all' | 'some' | 'none'

/** Whether an hour is active, in part, or quiet. @param day 0 is Monday */
export function cellState(minutes: WeekMinutes, day: number, hour: number): CellState {
  const from = day * DAY + hour * HOUR
  const active = minutes.slice(from, from + HOUR).filter(Boolean).length
  return active === HOUR ? 'all' : active > 0 ? 'some' : 'none'
}

/** The minutes with an hour switched on or off. */
export function withHour(minutes: WeekMinutes, day: number, hour: number, isActive: boolean): WeekMinutes {
  return minutes.toSpliced(day * DAY + hour * HOUR, HOUR, ...Array.from({ length: HOUR }, () => isActive))
}

/** Active hours of a week. */
export const countHours = (minutes: WeekMinutes) => minutes.filter(Boolean).length / HOUR
