import { DateTime } from 'luxon'

/**
 * The first moments of the last days of a zone, and of tomorrow. Each is found by itself: where clocks change at midnight,
 * a day begins at 01:00.
 */
export function lastDays(zone: string, days: number): DateTime[] {
  const first = DateTime.now()
    .setZone(zone)
    .minus({ days: days - 1 })
  return Array.from({ length: days + 1 }, (_, day) => first.plus({ days: day }).startOf('day'))
}
