import type { Payload } from './payload.ts'
import { trimEnd } from '../../../connectors/trim-end.ts'
import { shorten } from '../../../server/one-line.ts'

/** One line of a message: `Expected`, `8 to 12`. */
export interface Fact {
  name: string
  value: string
}

/** A payload as parts of a readable message: one line each, of bounded length, with nothing escaped. */
export interface PayloadDescription {
  /** 🔴, 🟠, 🔵, ✅ of a resolved alert, 🧪 of a test. */
  symbol: string
  /** `orders: 587 rows, expected 501 to 514 (+14 %)`, at most 200 UTF-16 units; `Resolved: …` of what is over. */
  heading: string
  /** Why: how it was found, or why it is over; the whole sentence of the alert, if the heading was cut. At most 1,500 units, and maybe empty. */
  sentence: string
  /** What it is about, what was found and what was expected: at most 10, with values of at most 500 units. */
  facts: Fact[]
  links: { text: string; url: string }[]
}

const SYMBOLS = { critical: '🔴', warning: '🟠', info: '🔵' }
export const SEVERITY_LABELS = { critical: 'Critical', warning: 'Warning', info: 'Info' }
const ASSET_LABELS: Record<string, string> = { table: 'Table', source: 'Source', destination: 'Destination' }

const MAX_HEADING_UNITS = 200
const MAX_SENTENCE_UNITS = 1_500
const MAX_FACT_UNITS = 500

/** An alert that got worse is sent anew: readers must not take the end of the first one for a recovery. */
function resolvedPrefix({ status, superseded_by: successor }: Payload['alert']): string {
  if (successor) return 'Worse now: '
  return status === 'dismissed' ? 'Dismissed: ' : 'Resolved: '
}

/** Describes a payload for a destination type that writes for people. @param facts of the event, by its kind */
export function describePayload(payload: Payload, facts: readonly Fact[] = []): PayloadDescription {
  const { alert, event, links, event_type: type } = payload
  const severity = SEVERITY_LABELS[payload.incident?.severity ?? alert.severity]
  const [symbol, prefix] = (
    {
      'alert.triggered': [SYMBOLS[payload.incident?.severity ?? alert.severity], ''],
      'alert.resolved': [
        '✅',
        resolvedPrefix({ ...alert, status: payload.incident?.status ?? alert.status }),
      ],
      'alert.test': ['🧪', ''],
    } as const
  )[type]
  const title = `${prefix}${shorten(alert.title, MAX_SENTENCE_UNITS) || alert.rule_name}`
  const heading = shorten(title, MAX_HEADING_UNITS)
  const { explanation } = event.details as { explanation?: unknown }
  const sentences = [
    alert.reason,
    ...(heading.length < title.trim().length ? [alert.title] : []),
    ...(type === 'alert.triggered' && typeof explanation === 'string' ? [explanation] : []),
  ].filter(text => text != null && text !== '')
  const { qualified_name: name, asset_type: assetType } = event.asset
  const lines: Fact[] = [
    // A test names no existing asset.
    ...(type === 'alert.test' ? [] : [{ name: ASSET_LABELS[assetType] ?? 'Asset', value: name }]),
    ...facts,
    ...incidentFacts(payload),
    ...(type === 'alert.test' ? [] : [{ name: 'Rule', value: alert.rule_name }]),
    { name: 'Severity', value: severity },
    ...(alert.assignee
      ? [{ name: 'Assigned to', value: alert.assignee.full_name ?? alert.assignee.email }]
      : []),
    { name: 'Opened', value: `${alert.created_at.slice(0, 16).replace('T', ' ')} UTC` },
  ]
  return {
    symbol,
    heading,
    sentence: shorten(sentences.map(text => trimEnd(text ?? '', '. \n')).join('. '), MAX_SENTENCE_UNITS),
    facts: lines
      .filter(({ value }) => value !== '')
      .map(line => ({ ...line, value: shorten(line.value, MAX_FACT_UNITS) })),
    links: [
      ...(payload.incident ? [{ text: 'Open the incident', url: payload.incident.url }] : []),
      { text: 'Open the alert', url: links.alert_url },
      { text: assetType === 'destination' ? 'See the destination' : 'See the asset', url: links.asset_url },
    ],
  }
}

/** What a message says of the incident that it is about. */
function incidentFacts({ incident, event }: Payload): Fact[] {
  if (!incident) return []
  const { alert_count: count, cause, title } = incident
  if (cause === null) return [{ name: 'Incident', value: title }]
  const isElsewhere = cause !== event.asset.qualified_name
  return [
    ...(isElsewhere ? [{ name: 'Cause', value: title }] : []),
    ...(count > 1 ? [{ name: 'Incident', value: `${count} alerts belong together` }] : []),
  ]
}
