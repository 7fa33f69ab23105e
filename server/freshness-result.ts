/** What freshness records mean for whoever waits for the data: a verdict, and a line that a person understands. */
import { formatName, parseName } from '../connectors/catalog.ts'
import { parseDuration, sayAge } from './settings/durations.ts'
import { oneLine } from './cli/terminal-text.ts'

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
  checked_at: string | null
  timestamp_column: string | null
  /** `column`, `expression` or `last_modified`; null where nothing tells the age. */
  signal: string | null
  data_age_minutes: number | null
  expected_next_update: string | null
  error_message: string | null
  note: string | null
  is_active?: boolean
}

/** Not knowing is told from a check that failed; neither is a pass. */
export type Status = 'fresh' | 'stale' | 'unknown' | 'error'

/** What is to be said of an asset. */
export interface Verdict {
  asset: string
  status: Status
  /** One line for people. */
  message: string
  /** Whether the tables were checked for this answer; else it goes by the last check. */
  is_refreshed: boolean
  /** The records that it was drawn from, as of now. */
  tables: FreshnessRecord[]
}

/** The worst first: what is known to be stale needs no more to be known. */
const WORST_FIRST: readonly Status[] = ['stale', 'error', 'unknown', 'fresh']

/** A record with its age counted up to now: what was fresh when it was checked may be too old since. */
export function asOf(record: FreshnessRecord, now: Date): FreshnessRecord {
  const age = ageOf(record, now)
  if (age === null || statusOf(record) === 'error') return record
  const aged = { ...record, data_age_minutes: Math.floor(age / 60) }
  const allowed = allowedOf(record)
  return record.status === 'fresh' && allowed !== null && age >= allowed
    ? { ...aged, status: 'stale', readiness: 'not_ready', sla_status: 'violated' }
    : aged
}

/** The verdict on a table, or on a source whose monitored tables must all be fresh. */
export function judgeAsset(
  asset: string,
  records: readonly FreshnessRecord[],
  { isRefreshed, now }: { isRefreshed: boolean; now: Date },
): Verdict {
  const tables = records.map(record => asOf(record, now))
  const verdict = { is_refreshed: isRefreshed, tables }
  const [only] = tables
  if (only && isTable(asset, only)) {
    const status = statusOf(only)
    const message = `${status}: ${sayTable(only, now)}${isRefreshed ? '' : sayChecked(only, now)}`
    return { asset: only.asset, status, message: oneLine(message), ...verdict }
  }
  const name = only ? formatName(parseName(only.asset)?.slice(0, 1) ?? [asset]) : asset
  const [worst] = tables.toSorted(
    (a, b) =>
      WORST_FIRST.indexOf(statusOf(a)) - WORST_FIRST.indexOf(statusOf(b)) ||
      shareOf(b, now) - shareOf(a, now),
  )
  if (!worst) throw new Error('A source is judged by its tables')
  const detail = `${sayTable(worst, now)}${isRefreshed ? '' : sayChecked(worst, now)}`
  const status = statusOf(worst)
  const message = oneLine(`${status}: ${saySource(name, tables)} ${detail}`)
  return { asset: name, status, message, ...verdict }
}

/** Whether an asset, named as it was asked for, is the table of this record rather than its source. */
export function isTable(asset: string, record: FreshnessRecord): boolean {
  return record.asset === asset || record.asset_id === asset.toLowerCase()
}

/**
 * Whether a later look can find what this one did not: data that comes, or a database that answers again. It cannot
 * where nothing tells the age, or an expectation is still being learned.
 */
export function mayTurnFresh(record: FreshnessRecord): boolean {
  if (statusOf(record) !== 'unknown') return true
  const isRead = record.signal === 'column' || record.signal === 'expression'
  return record.last_updated === null && (isRead || record.checked_at === null)
}

function statusOf({ readiness, status }: FreshnessRecord): Status {
  return readiness === 'error' ? 'error' : status
}

function ageOf({ last_updated: updated }: FreshnessRecord, now: Date): number | null {
  return updated === null ? null : Math.max(0, (now.getTime() - Date.parse(updated)) / 1000)
}

function allowedOf({ sla_threshold: threshold }: FreshnessRecord): number | null {
  return parseDuration(threshold ?? '')
}

/** The share of its threshold that a table's age is; the highest is the worst. */
function shareOf(record: FreshnessRecord, now: Date): number {
  return (ageOf(record, now) ?? 0) / (allowedOf(record) ?? Infinity)
}

function saySource(name: string, tables: readonly FreshnessRecord[]): string {
  const count = (status: Status) => tables.filter(table => statusOf(table) === status).length
  const total = tables.length
  const tablesOf = `${total === 1 ? 'the one monitored table' : `${total} monitored tables`} of ${name}`
  if (count('fresh') === total) return `${total === 1 ? '' : 'all '}${tablesOf}; nearest to its limit:`
  const said = [
    [count('stale'), 'stale'],
    [count('error'), 'could not be checked'],
    [count('unknown'), 'unknown'],
  ] as const
  const parts = said.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : []))
  return `of ${tablesOf} ${parts.join(', ')}; worst:`
}

function sayTable(record: FreshnessRecord, now: Date): string {
  const { asset, note, error_message: error } = record
  const status = statusOf(record)
  if (status === 'error') return `${asset} could not be checked: ${error ?? 'nobody knows why'}`
  if (status === 'unknown') return `${asset}: ${lowerFirst(note ?? 'Nothing is known of it yet')}`
  const age = ageOf(record, now) ?? 0
  const updated = `${asset} was ${status === 'stale' ? 'last ' : ''}updated ${sayAgo(age)} (${saySignal(record)})`
  const limited = `${updated}, ${sayAllowed(record)}`
  return status === 'stale' ? limited : `${limited}${sayExpected(record.expected_next_update, now)}`
}

function sayAgo(seconds: number): string {
  return seconds < 60 ? 'less than a minute ago' : `${sayAge(seconds)} ago`
}

function saySignal({ timestamp_column: column, signal }: FreshnessRecord): string {
  return (
    column ?? (signal === 'expression' ? 'by its SQL expression' : 'by the last change its engine knows of')
  )
}

/** A threshold as it was given; one that was learned, in odd minutes, as people say it. */
function sayAllowed(record: FreshnessRecord): string {
  const { monitoring_mode: mode, sla_threshold: threshold } = record
  return mode === 'auto_learn' ? `learned limit ${sayAge(allowedOf(record) ?? 0)}` : `allowed ${threshold}`
}

function sayExpected(expected: string | null, now: Date): string {
  if (expected === null) return ''
  const at = new Date(expected)
  return at < now
    ? `; next update was expected by ${sayTime(at, now)}`
    : `; next update expected by ${sayTime(at, now)}`
}

function sayChecked({ checked_at: checkedAt }: FreshnessRecord, now: Date): string {
  if (checkedAt === null) return ''
  const at = new Date(checkedAt)
  const seconds = Math.max(0, (now.getTime() - at.getTime()) / 1000)
  return ` (as of its last check, ${sayAgo(seconds)}, at ${sayTime(at, now)})`
}

/** `14:00 UTC`, with the date unless it is today. */
export function sayTime(at: Date, now: Date): string {
  const [day, time = ''] = at.toISOString().split('T')
  const clock = `${time.slice(0, 5)} UTC`
  return now.toISOString().startsWith(String(day)) ? clock : `${day} ${clock}`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
