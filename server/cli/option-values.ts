/** Parsers of option values; each throws InvalidArgumentError. */
import { InvalidArgumentError } from 'commander'
import { readTime } from '../times/read-time.ts'
import { readConfig } from '../settings/config.ts'

export function numberBetween(min: number, max: number): (text: string) => number {
  return text => {
    const number = text.trim() === '' ? NaN : Number(text)
    if (!(number >= min && number <= max))
      throw new InvalidArgumentError(`Give a number from ${min} to ${max}.`)
    return number
  }
}

/** Parses a whole number, written in digits only, from `min` to `max`. */
export function integerBetween(min: number, max: number): (text: string) => number {
  return text => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN
    if (!(number >= min && number <= max))
      throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`)
    return number
  }
}

/** Parses a time after now and before the year 10000; without an offset, it is in the setting `TIMEZONE`. */
export function futureTime(text: string): Date {
  const time = readTime(text, readConfig().timezone)
  if (!time)
    throw new InvalidArgumentError('Give a time before the year 10000, such as 2030-01-31T00:00:00Z.')
  if (time <= new Date()) throw new InvalidArgumentError('Give a time in the future.')
  return time
}
