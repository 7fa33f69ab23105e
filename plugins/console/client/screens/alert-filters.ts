import { html } from '../lib/html.ts'
import { changeQuery, useQuery } from '../lib/router.ts'
import { Choice, SearchField } from '../parts/filters.ts'
import { Tabs } from '../parts/tabs.ts'
import { texts } from '../texts.ts'

type Status = 'triggered' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
type Severity = 'info' | 'warning' | 'critical'

const TABS: readonly { id: string; name: string; status: Status[] }[] = [
  { id: 'open', name: 'Open', status: ['triggered', 'acknowledged'] },
  { id: 'snoozed', name: 'Snoozed', status: ['snoozed'] },
  { id: 'closed', name: 'Closed', status: ['resolved', 'dismissed'] },
  { id: 'all', name: texts.all, status: [] },
]

/** Kinds of alerts as people choose them, with the kinds of the API. */
const KINDS = {
  checks: ['validity_failure', 'metric_anomaly', 'referential_failure'],
  validity: ['validity_failure'],
  metric: ['metric_anomaly'],
  referential: ['referential_failure'],
  schema: ['schema_change'],
  freshness: ['freshness_violation'],
  connection: ['connection_failed'],
  destination: ['destination_disabled'],
} as const
type Kind = (typeof KINDS)[keyof typeof KINDS][number]

const SEVERITIES = ['critical', 'warning', 'info'] as const

/** The filters of the address, as a query of the API. */
export interface AlertQuery {
  status?: Status[]
  severity?: Severity[]
  event_type?: Kind[]
  search?: string
  asset_id?: string
  since?: string
}

/** Reads the filters of an address; what the API does not know is left out. */
export function readFilters(query: URLSearchParams): AlertQuery {
  const tab = TABS.find(({ id }) => id === query.get('tab')) ?? TABS[0]!
  const severity = SEVERITIES.find(known => known === query.get('severity'))
  const kind = query.get('kind') ?? ''
  const kinds = Object.hasOwn(KINDS, kind)
    ? (KINDS[kind as keyof typeof KINDS] as readonly Kind[])
    : undefined
  return {
    ...(tab.status.length > 0 && { status: tab.status }),
    ...(severity && { severity: [severity] }),
    ...(kinds && { event_type: [...kinds] }),
    ...(query.get('search') && { search: query.get('search')! }),
    ...(query.get('table') && { asset_id: query.get('table')! }),
    ...(query.get('since') && { since: query.get('since')! }),
  }
}

export const isFiltered = (query: URLSearchParams): boolean =>
  ['severity', 'kind', 'search', 'table', 'since'].some(name => query.has(name))

export function AlertFilters() {
  const [query] = useQuery()
  const current = query.get('tab') ?? 'open'
  const clear = { severity: null, kind: null, search: null, table: null, since: null, offset: null }
  return html`<div class="filters">
    <${Tabs} label=${texts.status} current=${current} tabs=${TABS} filters=${query} />
    <${Choice}
      name="severity"
      label="Severity"
      none="Any severity"
      options=${SEVERITIES.map(known => [known, known] as const)}
    />
    <${Choice}
      name="kind"
      label=${texts.kind}
      none=${texts.anyKind}
      options=${Object.keys(KINDS).map(known => [known, known] as const)}
    />
    <${SearchField} label="Search alerts" />
    ${isFiltered(query) && html`<button class="link" onClick=${() => changeQuery(clear)}>${texts.clearFilters}</button>`}
  </div>`
}
