/** Judges freshness records for the command line: a verdict, and a line for people. */
import { formatName, parseName } from '../../../connectors/catalog.ts'
import { parseDuration, sayAge } from '../../../server/settings/durations.ts'
import { oneLine } from '../../../server/cli/terminal-text.ts'

/** A freshness record, as `GET /sdk/freshness` lists it; more fields pass through untouched. */
export interface FreshnessRecord {
  asset: string
  asset_id: string
  source_id: string
  schedule_id: string
  status: 'fresh' | 'stale' | 'unknown'
  readiness: string
  last_updated: string | null
  monitoring_mode: string
  sla_threshold: string | null
  sla_status: string | null
  /** Null before the first check. */
  last_check_at: string | null
  timestamp_column: string | null
  /** `column`, `expression` or `last_modified`; null where the age is unknown. */
  signal: string | null
  data_age_minutes: number | null
  expected_next_update: string | null
  error_message: string | null
  note: string | null
  is_active?: boolean
}

/** `unknown` (no age yet) differs from `error` (the check failed); neither is a pass. */
export type FreshnessStatus = 'fresh' | 'stale' | 'unknown' | 'error'

/** The verdict on an asset. */
export interface FreshnessVerdict {
  asset: string
  status: FreshnessStatus
  /** One line for people. */
  message: string
  /** Whether the tables were checked for this answer, instead of using the last check. */
  is_refreshed: boolean
  /** The records it is based on, with ages as of now. */
  tables: FreshnessRecord[]
}

/** Worst first: a stale table decides, whatever is unknown of others. */
const WORST_FIRST: readonly FreshnessStatus[] = ['stale', 'error', 'unknown', 'fresh']

/** Counts the age up to now: a table that was fresh at its check may have become stale since. */
export function withCurrentAge(record: FreshnessRecord, now: Date): FreshnessRecord {
  const age = ageSeconds(record, now)
  if (age === null || freshnessStatus(record) === 'error') return record
  const aged = { ...record, data_age_minutes: Math.floor(age / 60) }
  const allowed = allowedSeconds(record)
  return record.status === 'fresh' && allowed !== null && age >= allowed
    ? { ...aged, status: 'stale', readiness: 'not_ready', sla_status: 'violated' }
    : aged
}

/** Judges a table, or a source, whose monitored tables must all be fresh. */
export function judgeFreshness(
  asset: string,
  records: readonly FreshnessRecord[],
  { isRefreshed, now }: { isRefreshed: boolean; now: Date },
): FreshnessVerdict {
  const tables = records.map(record => withCurrentAge(record, now))
  const verdict = { is_refreshed: isRefreshed, tables }
  const [only] = tables
  if (only && isTableOf(asset, only)) {
    const status = freshnessStatus(only)
    const message = `${status}: ${describeTable(only, now)}${isRefreshed ? '' : describeLastCheck(only, now)}`
    return { asset: only.asset, status, message: oneLine(message), ...verdict }
  }
  const name = only ? formatName(parseName(only.asset)?.slice(0, 1) ?? [asset]) : asset
  const [worst] = tables.toSorted(
    (a, b) =>
      WORST_FIRST.indexOf(freshnessStatus(a)) - WORST_FIRST.indexOf(freshnessStatus(b)) ||
      shareOfLimit(b, now) - shareOfLimit(a, now),
  )
  if (!worst) throw new Error('A source is judged by its tables')
  const detail = `${describeTable(worst, now)}${isRefreshed ? '' : describeLastCheck(worst, now)}`
  const status = freshnessStatus(worst)
  const message = oneLine(`${status}: ${describeSource(name, tables)} ${detail}`)
  return { asset: name, status, message, ...verdict }
}

/** Whether the asset, as the caller named it, is the table of this record rather than its source. */
export function isTableOf(asset: string, record: FreshnessRecord): boolean {
  return record.asset === asset || record.asset_id === asset.toLowerCase()
}

/**
 * Whether a later check can turn out fresh: data may arrive, or the database answer again. It cannot where the age is
 * unknowable, or an expectation is still being learned.
 */
export function mayTurnFresh(record: FreshnessRecord): boolean {
  if (freshnessStatus(record) !== 'unknown') return true
  const isRead = record.signal === 'column' || record.signal === 'expression'
  return record.last_updated === null && (isRead || record.last_check_at === null)
}

function freshnessStatus({ readiness, status }: FreshnessRecord): FreshnessStatus {
  return readiness === 'error' ? 'error' : status
}

function ageSeconds({ last_updated: updated }: FreshnessRecord, now: Date): number | null {
  return updated === null ? null : Math.max(0, (now.getTime() - Date.parse(updated)) / 1000)
}

function allowedSeconds({ sla_threshold: threshold }: FreshnessRecord): number | null {
  return parseDuration(threshold ?? '')
}

/** Age / threshold; the highest is the worst. */
function shareOfLimit(record: FreshnessRecord, now: Date): number {
  return (ageSeconds(record, now) ?? 0) / (allowedSeconds(record) ?? Infinity)
}

function describeSource(name: string, tables: readonly FreshnessRecord[]): string {
  const count = (status: FreshnessStatus) => tables.filter(table => freshnessStatus(table) === status).length
  const total = tables.length
  const tablesOf = `${total === 1 ? 'the one monitored table' : `${total} monitored tables`} of ${name}`
  if (count('fresh') === total) return `${total === 1 ? '' : 'all '}${tablesOf}; nearest to its limit:`
  const counts = [
    [count('stale'), 'stale'],
    [count('error'), 'could not be checked'],
    [count('unknown'), 'unknown'],
  ] as const
  const parts = counts.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : []))
  return `of ${tablesOf} ${parts.join(', ')}; worst:`
}

function describeTable(record: FreshnessRecord, now: Date): string {
  const { asset, note, error_message: error } = record
  const status = freshnessStatus(record)
  if (status === 'error') return `${asset} could not be checked: ${error ?? 'the reason is unknown'}`
  if (status === 'unknown') return `${asset}: ${lowerFirst(note ?? 'Nothing is known about it yet')}`
  const age = ageSeconds(record, now) ?? 0
  const updated = `${asset} was ${status === 'stale' ? 'last ' : ''}updated ${describeAge(age)} (${describeSignal(record)})`
  const limited = `${updated}, ${describeLimit(record)}`
  return status === 'stale' ? limited : `${limited}${describeNextUpdate(record.expected_next_update, now)}`
}

function describeAge(seconds: number): string {
  return seconds < 60 ? 'less than a minute ago' : `${sayAge(seconds)} ago`
}

function describeSignal({ timestamp_column: column, signal }: FreshnessRecord): string {
  return (
    column ?? (signal === 'expression' ? 'by its SQL expression' : 'by the last change its engine knows of')
  )
}

/** A threshold as it was given; a learned one, in odd minutes, rounded for reading. */
function describeLimit(record: FreshnessRecord): string {
  const { monitoring_mode: mode, sla_threshold: threshold } = record
  return mode === 'auto_learn'
    ? `learned limit ${sayAge(allowedSeconds(record) ?? 0)}`
    : `allowed ${threshold}`
}

function describeNextUpdate(expected: string | null, now: Date): string {
  if (expected === null) return ''
  const at = new Date(expected)
  return at < now
    ? `; next update was expected by ${formatClockTime(at, now)}`
    : `; next update expected by ${formatClockTime(at, now)}`
}

function describeLastCheck({ last_check_at: checkedAt }: FreshnessRecord, now: Date): string {
  if (checkedAt === null) return ''
  const at = new Date(checkedAt)
  const seconds = Math.max(0, (now.getTime() - at.getTime()) / 1000)
  return ` (as of its last check, ${describeAge(seconds)}, at ${formatClockTime(at, now)})`
}

/** `14:00 UTC`, with the date unless it is today. */
export function formatClockTime(at: Date, now: Date): string {
  const [day, time = ''] = at.toISOString().split('T')
  const clock = `${time.slice(0, 5)} UTC`
  return now.toISOString().startsWith(String(day)) ? clock : `${day} ${clock}`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
