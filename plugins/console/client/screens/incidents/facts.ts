import type { Alert } from 'tidemark/client'
import { countOf, formatNumber, formatSpan, formatTime } from '../../lib/format.ts'
import { readHours } from '../../parts/series.ts'
import { factTexts as texts } from './texts.ts'

/** The fields of the details of alerts, of any kind, that say what was found and what was expected. */
interface Details {
  metric_type?: string
  value?: number | null
  range?: { low: number | null; high: number | null } | null
  allowed?: string
  invalid_count?: number
  total_rows?: number | null
  threshold?: number | null
  band?: { low: number | null; high: number | null } | null
  last_updated?: string | null
  sla_threshold?: string | null
  data_age_minutes?: number | null
  orphan_count?: number | null
  total_child_rows?: number | null
  max_orphan_count?: number | null
  differing_rows?: number
  max_differing_rows?: number | null
}

type Fact = readonly [name: string, value: string]

/** What was found, what was expected, and how far one is from the other; empty where an alert has no numbers. */
export function listFacts({ event }: Pick<Alert, 'event'>): Fact[] {
  const details = event.details as Details
  const facts: (readonly [string, string | null])[] = FACTS[event.type]?.(details) ?? []
  return facts.filter((fact): fact is Fact => fact[1] !== null)
}

const FACTS: Record<string, (details: Details) => (readonly [string, string | null])[]> = {
  metric_anomaly: ({ metric_type: type, value, range, allowed }) => [
    [texts.value, value == null ? null : `${formatNumber(value)}${type === 'null_percent' ? ' %' : ''}`],
    [texts.expected, allowed ?? rangeOf(range)],
    [texts.deviation, allowed === undefined ? deviationOf(value, range) : null],
  ],
  validity_failure: ({ invalid_count: invalid, total_rows: total, threshold, band }) => [
    [texts.invalid, invalid === undefined ? null : shareOf(invalid, total)],
    [
      texts.expected,
      threshold == null ? percent(rangeOf(band)) : texts.atMost(`${formatNumber(threshold)} %`),
    ],
  ],
  freshness_violation: ({ last_updated: at, sla_threshold: limit, data_age_minutes: age }) => [
    [texts.newest, at ? formatTime(at) : null],
    [texts.expected, limit ? texts.every(limit) : null],
    [texts.late, lateness(age, limit)],
  ],
  referential_failure: ({ orphan_count: orphans, total_child_rows: total, max_orphan_count: most }) => [
    [texts.orphans, orphans == null ? null : shareOf(orphans, total)],
    [texts.expected, most == null ? null : texts.atMost(formatNumber(most))],
  ],
  comparison_failure: ({ differing_rows: rows, max_differing_rows: most }) => [
    [texts.differing, rows === undefined ? null : countOf(rows, 'row')],
    [texts.expected, most == null ? null : texts.atMost(formatNumber(most))],
  ],
}

const percent = (text: string | null) => text && `${text} %`

function rangeOf(range: Details['range']): string | null {
  if (range?.low == null || range.high == null) return null
  return texts.range(formatNumber(range.low), formatNumber(range.high))
}

/** How far a value lies beyond the nearer end of a range, in percent of it. */
function deviationOf(value: number | null | undefined, range: Details['range']): string | null {
  if (value == null || range?.low == null || range.high == null) return null
  const end = value > range.high ? range.high : value < range.low ? range.low : value
  if (end === 0 || end === value) return null
  const share = ((value - end) / Math.abs(end)) * 100
  return `${share > 0 ? '+' : '−'}${formatNumber(Number(Math.abs(share).toPrecision(2)))} %`
}

function shareOf(count: number, total: number | null | undefined): string {
  if (!total) return countOf(count, 'row')
  return texts.share(
    formatNumber(count),
    countOf(total, 'row'),
    formatNumber(Number(((count / total) * 100).toPrecision(2))),
  )
}

function lateness(minutes: number | null | undefined, limit: string | null | undefined): string | null {
  const hours = readHours(limit ?? null)
  if (minutes == null || hours === null || minutes <= hours * 60) return null
  return formatSpan((minutes - hours * 60) * 60)
}
