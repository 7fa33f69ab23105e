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
