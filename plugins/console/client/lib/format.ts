import { session } from './session.ts'

/** The time zone in which the user reads times. */
export const zone = () =>
  session.value?.preferences?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
const formats = new Map<string, Intl.DateTimeFormat>()

function formatIn(style: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${style} ${zone()}`
  const known = formats.get(key)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone() })
  formats.set(key, made)
  return made
}

/** A moment in the user's time zone, such as `25 Nov 2026, 21:28`. */
export function formatTime(at: string | number | Date | null | undefined): string {
  if (at == null) return '–'
  return formatIn('time', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  }).format(new Date(at))
}

/** The hour of a moment, such as `21:00`. */
export function formatHour(at: string | number | Date): string {
  return formatIn('hour', { hour: '2-digit', minute: '2-digit' }).format(new Date(at))
}

/** The day of a moment, such as `25 Nov`. */
export function formatDay(at: string | number | Date): string {
  return formatIn('day', { day: 'numeric', month: 'short' }).format(new Date(at))
}

/** The month of a moment, such as `Nov 2026`. */
export function formatMonth(at: string | number | Date): string {
  return formatIn('month', { month: 'short', year: 'numeric' }).format(new Date(at))
}

/** The moment at which a day begins in the user's time zone. @param day such as `2026-11-25` @param later further days */
export function startOfDay(day: string, later = 0): Date {
  const midnight = Date.parse(`${day}T00:00:00Z`) + later * 86_400_000
  // The offset of the zone depends on the moment, which is not known yet: the second time it is near enough.
  let moment = midnight
  for (let round = 0; round < 2; round++) moment = midnight - offsetOf(moment)
  return new Date(moment)
}

/** How many milliseconds the clocks of the zone are ahead of UTC. */
function offsetOf(moment: number): number {
  const parts = formatIn('clock', {
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  }).formatToParts(moment)
  const part = (name: string) => parts.find(({ type }) => type === name)!.value
  const clock = `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}Z`
  return Date.parse(clock) - Math.floor(moment / 1_000) * 1_000
}

const STEPS: [limit: number, size: number, unit: string][] = [
  [60, 1, 's'],
  [3_600, 60, 'min'],
  [48 * 3_600, 3_600, 'h'],
  [60 * 86_400, 86_400, 'd'],
  [Infinity, 30 * 86_400, 'mo'],
]

/** A span in one unit: `12 min`, `3 d`. */
export function formatSpan(seconds: number): string {
  const [, size, unit] = STEPS.find(([limit]) => seconds < limit)!
  return `${Math.floor(seconds / size)} ${unit}`
}

/** How long ago a moment is, or how far ahead: `5 min ago`, `in 2 h`. */
export function formatAgo(at: string | Date | null | undefined, now = Date.now()): string {
  if (at == null) return '–'
  const seconds = (now - new Date(at).getTime()) / 1_000
  if (Math.abs(seconds) < 5) return 'now'
  return seconds >= 0 ? `${formatSpan(seconds)} ago` : `in ${formatSpan(-seconds)}`
}

const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })

/** A number with at most four significant digits, whole from a thousand on: `1,492`, `0.804`. */
export function formatNumber(value: number | string | null | undefined): string {
  if (value == null) return '–'
  const number = Number(value)
  if (!Number.isFinite(number)) return String(value)
  const isWhole = Math.abs(number) >= 1_000 || Number.isInteger(number)
  const text = isWhole ? whole.format(number) : String(Number(number.toPrecision(4)))
  return text.replace(/^-/, '−')
}

/** `180 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${Number((bytes / 1_000 ** power).toPrecision(3))} ${units[power]}`
}

/** `1 table`, `3 tables`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${whole.format(count)} ${count === 1 ? one : many}`
}

/** A code of the API in words: `metric_anomaly` becomes `metric anomaly`. */
export const inWords = (code: string): string => code.replaceAll('_', ' ')
