import type { Payload } from './destination.ts'

/** One line of what a message tells: `Expected`, `8 to 12`. */
export interface Fact {
  name: string
  value: string
}

/** What a payload says, in words of bounded length: one line each, with nothing escaped yet. */
export interface PayloadDescription {
  /** 🔴, 🟠, 🔵, ✅ when it is over, 🧪 of a test. */
  symbol: string
  /** `Critical: Total is positive`, at most 140 UTF-16 units. */
  heading: string
  /** The sentence of the alert, at most 1,500 units. */
  sentence: string
  /** What it is about, what was found and what was expected: at most 8, with values of at most 500 units. */
  facts: Fact[]
  links: { text: string; url: string }[]
}

const SYMBOLS = { critical: '🔴', warning: '🟠', info: '🔵' }
const SEVERITY_LABELS = { critical: 'Critical', warning: 'Warning', info: 'Info' }

const ASSET_LABELS: Record<string, string> = { table: 'Table', source: 'Source', destination: 'Destination' }

const MAX_HEADING_UNITS = 140
const MAX_SENTENCE_UNITS = 1_500
const MAX_FACT_UNITS = 500

/** How the heading of an end begins: what got worse is told anew, so that nobody takes it for mended. */
function resolvedPrefix({ status, superseded_by: successor }: Payload['alert']): string {
  if (successor) return 'Worse now: '
  return status === 'dismissed' ? 'Dismissed: ' : 'Resolved: '
}

/** Puts a payload into words, for a destination type that writes for people. */
export function describePayload(payload: Payload): PayloadDescription {
  const { alert, event, links, event_type: type } = payload
  const severity = SEVERITY_LABELS[alert.severity]
  const opening = {
    'alert.triggered': `${severity}: `,
    'alert.resolved': resolvedPrefix(alert),
    'alert.test': '',
  }[type]
  const symbol = { 'alert.triggered': SYMBOLS[alert.severity], 'alert.resolved': '✅', 'alert.test': '🧪' }[
    type
  ]
  const heading = shorten(`${opening}${alert.rule_name}`, MAX_HEADING_UNITS)
  const reason = alert.reason ? `${alert.reason.replace(/[.\s]+$/, '')}. ` : ''
  const title = shorten(
    `${reason}${type === 'alert.resolved' ? 'It was: ' : ''}${alert.title}`,
    MAX_SENTENCE_UNITS,
  )
  const { qualified_name: name, asset_type: kind } = event.asset
  const facts: [string, string | null][] = [
    // What a test names is not there.
    [ASSET_LABELS[kind] ?? 'Asset', type === 'alert.test' ? null : name],
    ...told(event),
    ['Severity', severity],
    ['Opened', `${alert.created_at.slice(0, 16).replace('T', ' ')} UTC`],
  ]
  return {
    symbol,
    heading,
    sentence: title || heading,
    facts: facts.flatMap(([fact, value]) =>
      value ? [{ name: fact, value: shorten(value, MAX_FACT_UNITS) }] : [],
    ),
    links: [
      { text: 'Open the alert', url: links.alert_url },
      { text: kind === 'destination' ? 'See the destination' : 'See the asset', url: links.asset_url },
    ],
  }
}

/** Controls of the direction of text, with which a name could show the rest of a line in another order. */
const BIDI_CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

/** A text without controls of its direction. */
export function removeBidiControls(text: string): string {
  return text.replace(BIDI_CONTROLS, '')
}

/**
 * A text on one line, without controls of its direction, cut to so many UTF-16 units and never inside a character; it
 * then ends in `…`. By whichever measure a receiver counts, characters or units, it is no longer than that.
 */
export function shorten(text: string, most: number): string {
  const line = removeBidiControls(text)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  if (line.length <= most) return line
  let kept = ''
  for (const character of line) {
    if (kept.length + character.length > most - 1) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

type Details = Record<string, unknown>
type Told = [string, string | null][]

/** What the details of each type of event say; of any other nothing is told. */
const TOLD: Record<string, (details: Details) => Told> = {
  validity_failure: ({ column_name, invalid_count, total_rows, threshold, band }) => [
    ['Column', text(column_name)],
    ['Found', filled`${text(invalid_count)} of ${text(total_rows)} rows are invalid`],
    ['Expected', filled`${rangeOf(band) ?? filled`at most ${text(threshold)}`} % invalid`],
  ],
  metric_anomaly: ({ column_name, value, expected_value, range }) => [
    ['Column', text(column_name)],
    ['Found', text(value)],
    ['Expected', joined([text(expected_value), filled`from ${rangeOf(range)}`])],
  ],
  freshness_violation: ({ timestamp_column, last_updated, sla_threshold }) => [
    ['Column', text(timestamp_column)],
    ['Newest data', text(last_updated)],
    ['Expected', filled`at most ${text(sla_threshold)} old`],
  ],
  referential_failure: details => [
    ['Column', text(details.child_column_name)],
    ['Parent', joined([text(details.parent_table_path), text(details.parent_column_name)], '.')],
    ['Found', filled`${text(details.orphan_count)} of ${text(details.total_child_rows)} rows are orphans`],
    ['Expected', limitsOf(details)],
  ],
  schema_change: ({ changes, change_count, old_value, new_value }) => [
    ['Changes', changesOf(changes, change_count)],
    ['Was', typeOf(old_value)],
    ['Is', typeOf(new_value)],
  ],
  connection_failed: ({ error_code }) => [['Error', text(error_code)]],
}

function told({ type, details }: Payload['event']): Told {
  return Object.hasOwn(TOLD, type) ? TOLD[type]!(details as Details) : []
}

/** A scalar as people read it; null of what is none. */
function text(value: unknown): string | null {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number') return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)))
  return typeof value === 'string' && value !== '' ? value : null
}

/** A sentence with its values, or null where one of them is missing. */
function filled(words: TemplateStringsArray, ...values: (string | null)[]): string | null {
  return values.includes(null) ? null : String.raw({ raw: words }, ...values)
}

function joined(parts: readonly (string | null)[], between = ', '): string | null {
  return parts.filter(part => part !== null).join(between) || null
}

function rangeOf(range: unknown): string | null {
  const { low, high } = (range ?? {}) as Details
  return filled`${text(low)} to ${text(high)}`
}

function limitsOf(details: Details): string | null {
  return joined([
    filled`at most ${text(details.max_orphan_count)} orphans`,
    filled`at most ${text(details.max_orphan_percent)} % orphans`,
    filled`at least ${text(details.min_child_count)} rows of each parent`,
    filled`at most ${text(details.max_child_count)} rows of each parent`,
  ])
}

/** Changes that are named; the others are counted. */
const NAMED = 5

function changesOf(changes: unknown, count: unknown): string | null {
  if (!Array.isArray(changes)) return null
  const named = (changes.slice(0, NAMED) as Details[]).map(
    ({ change_type, object_name }) =>
      filled`${text(change_type)?.replaceAll('_', ' ') ?? null} ${text(object_name)}`,
  )
  const more = Number(count ?? changes.length) - named.length
  return joined([...named, more > 0 ? `and ${more} more` : null])
}

/** The type of a column that was changed. */
function typeOf(value: unknown): string | null {
  return text(((value ?? {}) as Details).data_type)
}
