/** When a table operates, as the API has it. */
export interface OperatingHours {
  timezone: string
  /** Days are 1 (Monday) to 7; an end at or before its start is on the next day. */
  rules: readonly { days: readonly number[]; start: string; end: string }[]
}

/** From and to, in milliseconds since 1970. */
export type Span = readonly [from: number, to: number]

const DAY_MS = 86_400_000

/** The spans between two moments in which a table does not operate, the earliest first. */
export function findIdleSpans(hours: OperatingHours, from: number, to: number): Span[] {
  const idle: Span[] = []
  let start = from
  for (const [opens, closes] of listOperatingSpans(hours, from, to)) {
    if (opens > start) idle.push([start, Math.min(opens, to)])
    start = Math.max(start, closes)
    if (start >= to) return idle
  }
  return start < to ? [...idle, [start, to]] : idle
}

/** The operating spans that touch a range, the earliest first; they may overlap. */
function listOperatingSpans({ timezone, rules }: OperatingHours, from: number, to: number): Span[] {
  const clock = new WallClock(timezone)
  const spans: Span[] = []
  // A period may have begun the day before; the local day of a moment is at most a day from the one in UTC.
  const firstDay = Math.floor(from / DAY_MS) - 2
  const lastDay = Math.floor(to / DAY_MS) + 1
  for (let day = firstDay; day <= lastDay; day++) {
    // 1 January 1970 was a Thursday.
    const weekday = ((((day + 3) % 7) + 7) % 7) + 1
    for (const { days, start, end } of rules) {
      if (!days.includes(weekday)) continue
      const closesOn = end <= start ? day + 1 : day
      const span: Span = [clock.toMoment(day, start), clock.toMoment(closesOn, end)]
      if (span[1] > from && span[0] < to) spans.push(span)
    }
  }
  return spans.sort(([a], [b]) => a - b)
}

/** Converts the wall-clock time of a time zone. */
class WallClock {
  readonly #format: Intl.DateTimeFormat
  /** Offsets at midnight UTC: looking one up takes most of the time. */
  readonly #offsets = new Map<number, number>()

  constructor(timezone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
  }

  /** @param day days since 1970 @param time `HH:MM` */
  toMoment(day: number, time: string): number {
    const [hours = 0, minutes = 0] = time.split(':').map(Number)
    const local = day * DAY_MS + (hours * 60 + minutes) * 60_000
    const [before, after] = [this.#offsetOn(day - 1), this.#offsetOn(day + 2)]
    if (before === after) return local - before
    // The clocks are changed about then: the offset that holds at the result.
    return local - this.#offsetAt(local - this.#offsetAt(local - before))
  }

  #offsetOn(day: number): number {
    const known = this.#offsets.get(day)
    if (known !== undefined) return known
    const offset = this.#offsetAt(day * DAY_MS)
    this.#offsets.set(day, offset)
    return offset
  }

  #offsetAt(moment: number): number {
    const parts = Object.fromEntries(
      this.#format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(moment / 60_000) * 60_000
  }
}
