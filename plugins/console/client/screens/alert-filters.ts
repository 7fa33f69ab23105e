import type { AlertEventType } from 'tidemark/client'
import { isCheckKind } from '../checks/requests.ts'
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

type Kind = AlertEventType['event_type']

/** What the filter calls all kinds that checks raise. */
const OF_CHECKS = 'checks'

/** The kinds of a choice of the filter: those of one type, or of all types of checks. */
const kindsOf = (choice: string, kinds: readonly AlertEventType[]): Kind[] =>
  kinds
    .filter(({ alert_type: type }) => type === choice || (choice === OF_CHECKS && isCheckKind(type)))
    .map(({ event_type: kind }) => kind)

const ASSIGNEES = [
  ['me', 'mine'],
  ['none', 'unassigned'],
] as const

const SEVERITIES = ['critical', 'warning', 'info'] as const

/** The filters of the address, as a query of the API. */
export interface AlertQuery {
  status?: Status[]
  severity?: Severity[]
  event_type?: Kind[]
  search?: string
  assignee_id?: 'me' | 'none'
  asset_id?: string
  since?: string
}

/** Reads the filters of an address; what the API does not know is left out. */
export function readFilters(query: URLSearchParams, kinds: readonly AlertEventType[]): AlertQuery {
  const tab = TABS.find(({ id }) => id === query.get('tab')) ?? TABS[0]!
  const severity = SEVERITIES.find(known => known === query.get('severity'))
  const assignee = ASSIGNEES.find(([known]) => known === query.get('assignee'))
  const selected = kindsOf(query.get('kind') ?? '', kinds)
  return {
    ...(tab.status.length > 0 && { status: tab.status }),
    ...(severity && { severity: [severity] }),
    ...(assignee && { assignee_id: assignee[0] }),
    ...(selected.length > 0 && { event_type: selected }),
    ...(query.get('search') && { search: query.get('search')! }),
    ...(query.get('table') && { asset_id: query.get('table')! }),
    ...(query.get('since') && { since: query.get('since')! }),
  }
}

export const isFiltered = (query: URLSearchParams): boolean =>
  ['severity', 'kind', 'assignee', 'search', 'table', 'since'].some(name => query.has(name))

export function AlertFilters({ kinds }: { kinds: readonly AlertEventType[] }) {
  const [query] = useQuery()
  const current = query.get('tab') ?? 'open'
  const clear = {
    severity: null,
    kind: null,
    assignee: null,
    search: null,
    table: null,
    since: null,
    offset: null,
  }
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
      options=${[OF_CHECKS, ...new Set(kinds.map(({ alert_type: type }) => type).sort())].map(type => [type, type] as const)}
    />
    <${Choice} name="assignee" label="Assigned to" none="Any assignee" options=${ASSIGNEES} />
    <${SearchField} label="Search alerts" />
    ${isFiltered(query) && html`<button class="link" onClick=${() => changeQuery(clear)}>${texts.clearFilters}</button>`}
  </div>`
}
