/** dbt's source freshness as a schedule. */
import { refuseTemplates } from './dbt-config.ts'
import { Inconvertible, type DraftCheck } from './import-draft.ts'
import { isRecord, type Fields } from './values.ts'

const PERIODS: Record<string, { unit: 'm' | 'h' | 'd'; minutes: number }> = {
  minute: { unit: 'm', minutes: 1 },
  hour: { unit: 'h', minutes: 60 },
  day: { unit: 'd', minutes: 1_440 },
}

interface Age {
  text: string
  minutes: number
}

/**
 * The schedule of a table, made when it is asked for, and what of the construct it does not have.
 * @param freshness an object, or a Jinja expression of one
 */
export function freshnessOf(
  table: string,
  freshness: unknown,
  loadedAt: unknown,
): { checks: () => DraftCheck[]; left: string[] } {
  const { error_after: error, warn_after: warn, filter } = isRecord(freshness) ? freshness : {}
  const isBoth = isRecord(error) && isRecord(warn)
  const left = isBoth ? ['a table has one threshold: warn_after is left out, error_after is kept'] : []
  return {
    left,
    checks() {
      refuseTemplates([freshness, loadedAt])
      const isWarning = error === undefined || error === null
      const age = ageOf(isWarning ? warn : error)
      return [
        {
          kind: 'freshness',
          table,
          key: ['freshness'],
          body: explicitSchedule(age, signalOf(loadedAt, filter)),
          ...(isWarning && { note: 'dbt only warns after warn_after; a schedule alerts as critical' }),
        },
      ]
    },
  }
}

function ageOf(after: unknown): Age {
  if (!isRecord(after)) throw new Inconvertible('it has neither error_after nor warn_after')
  const period = Object.hasOwn(PERIODS, String(after.period)) ? PERIODS[String(after.period)] : undefined
  const { count } = after
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1 || !period)
    throw new Inconvertible('a threshold has a whole count and the period minute, hour or day')
  return { text: `${count}${period.unit}`, minutes: count * period.minutes }
}

function signalOf(loadedAt: unknown, filter: unknown): Fields {
  if (loadedAt === undefined || loadedAt === null) {
    if (typeof filter === 'string') throw new Inconvertible('its filter needs a loaded_at_field')
    return { freshness_signal: 'last_modified' }
  }
  const text = String(loadedAt)
  if (typeof filter === 'string') return { freshness_expression: `case when ${filter} then ${text} end` }
  return /^\w+$/.test(text) ? { freshness_column: text } : { freshness_expression: text }
}

/** The fields of a schedule with a threshold. @param age the threshold; without a text, in whole hours or minutes */
export function explicitSchedule(
  { minutes, text }: { minutes: number; text?: string },
  signal: Fields,
): Fields {
  return {
    monitoring_mode: 'explicit',
    sla_threshold: text ?? (minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`),
    ...signal,
    check_interval: checkIntervalFor(minutes),
  }
}

/** How often to look, so that a table that is too old is noticed within a quarter of its threshold. */
function checkIntervalFor(minutes: number): string {
  if (minutes >= 240) return '1h'
  return minutes >= 60 ? '15m' : '5m'
}
