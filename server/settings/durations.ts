import Joi from 'joi'

const SECONDS = { m: 60, h: 3600, d: 86_400, w: 604_800 } as const

const DURATION = /^(\d{1,6})([mhdw])$/

/** Seconds of a duration such as `90m`, `24h`, `7d` or `1w`; null when the text is not one. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = DURATION.exec(text) ?? []
  return count === undefined ? null : Number(count) * SECONDS[unit as keyof typeof SECONDS]
}

/** A duration of whole hours as `24h`, any other in minutes, rounded up: `90m`. */
export function formatDuration(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  return minutes > 0 && minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`
}

export function sayAge(seconds: number): string {
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 72 * 3600 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`
}

/** A threshold as people say it: `24 h`, `90 min`, `7 days`. @param seconds of whole minutes */
export function sayDuration(seconds: number): string {
  if (seconds >= 3 * SECONDS.d && seconds % SECONDS.d === 0) return `${seconds / SECONDS.d} days`
  if (seconds >= SECONDS.h && seconds % SECONDS.h === 0) return `${seconds / SECONDS.h} h`
  const minutes = Math.ceil(seconds / SECONDS.m)
  const rest = minutes % 60
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${rest} min`
}

/** An age as people say it that is above a threshold, in so fine a unit that it is seen to be. */
export function sayAgeAbove(seconds: number, threshold: number): string {
  const unit = seconds < 2 * SECONDS.h ? SECONDS.m : seconds < 3 * SECONDS.d ? SECONDS.h : SECONDS.d
  const isSeen = Math.floor(seconds / unit) * unit > threshold
  if (isSeen || seconds <= threshold) return sayAge(seconds)
  const minutes = Math.floor(seconds / SECONDS.m)
  return minutes * SECONDS.m > threshold
    ? sayDuration(minutes * SECONDS.m)
    : `just over ${sayDuration(threshold)}`
}

/** A duration between two numbers of seconds, without leading zeros. */
const duration = (least: number, most: number, range: string, example: string) =>
  Joi.string()
    .max(20)
    .meta({ openapi: { pattern: '^[0-9]{1,6}[mhdw]$' } })
    .example(example)
    .custom((value: string, helpers) => {
      const seconds = parseDuration(value)
      return seconds !== null && seconds >= least && seconds <= most
        ? value.replace(/^0+/, '')
        : helpers.error('duration', { range })
    })
    .messages({ duration: '{{#label}} must be a duration from {{#range}}, such as 90m, 24h or 7d' })

export const SLA_THRESHOLD = duration(SECONDS.m, 400 * SECONDS.d, '1m to 400d', '24h')

export const CHECK_INTERVAL = duration(5 * SECONDS.m, SECONDS.w, '5m to 1w', '1h')
