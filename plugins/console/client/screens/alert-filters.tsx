import type { AlertEventType } from 'tidemark/client'
import { isCheckKind } from '../checks/requests.ts'
import { formatDay } from '../lib/format.ts'
import { changeQuery, useQuery } from '../lib/router.ts'
import { Choice, SearchField } from '../parts/filters.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { texts } from '../texts.ts'
import { ANY_DIMENSION, DIMENSIONS, type Dimension } from './overview/data.ts'

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

const HOUR_MS = 3_600_000
const SEVERITIES = ['critical', 'warning', 'info'] as const

/** The filters of the address, as a query of the API. */
export interface AlertQuery {
  status?: Status[]
  severity?: Severity[]
  event_type?: Kind[]
  search?: string
  assignee_id?: 'me' | 'none'
  asset_id?: string
  dimension?: Dimension[]
  since?: string
  until?: string
}

/** Reads the filters of an address; what the API does not know is left out. */
export function readFilters(query: URLSearchParams, kinds: readonly AlertEventType[]): AlertQuery {
  const tab = TABS.find(({ id }) => id === query.get('tab')) ?? TABS[0]!
  const severity = SEVERITIES.find(known => known === query.get('severity'))
  const assignee = ASSIGNEES.find(([known]) => known === query.get('assignee'))
  const about = query.get('dimension')
  const dimensions = DIMENSIONS.filter(known => about === known || about === ANY_DIMENSION)
  const selected = kindsOf(query.get('kind') ?? '', kinds)
  return {
    ...(tab.status.length > 0 && { status: tab.status }),
    ...(severity && { severity: [severity] }),
    ...(assignee && { assignee_id: assignee[0] }),
    ...(selected.length > 0 && { event_type: selected }),
    ...(query.get('search') && { search: query.get('search')! }),
    ...(query.get('table') && { asset_id: query.get('table')! }),
    ...(dimensions.length > 0 && { dimension: dimensions }),
    ...(query.get('since') && { since: query.get('since')! }),
    ...(query.get('until') && { until: query.get('until')! }),
  }
}

export const isFiltered = (query: URLSearchParams): boolean =>
  ['severity', 'kind', 'assignee', 'search', 'table', 'since', 'until', 'dimension'].some(name =>
    query.has(name),
  )

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
    until: null,
    dimension: null,
    offset: null,
  }
  return (
    <div class="filters">
      <Tabs label={texts.status} current={current} tabs={TABS} filters={query} />
      <Choice
        name="severity"
        label="Severity"
        none="Any severity"
        options={SEVERITIES.map(known => [known, known] as const)}
      />
      <Choice
        name="kind"
        label={texts.kind}
        none={texts.anyKind}
        options={[OF_CHECKS, ...new Set(kinds.map(({ alert_type: type }) => type).sort())].map(
          type => [type, type] as const,
        )}
      />
      <Choice name="assignee" label="Assigned to" none="Any assignee" options={ASSIGNEES} />
      <SearchField label="Search alerts" />
      <AddressFilters />
      {isFiltered(query) && (
        <button class="link" onClick={() => changeQuery(clear)}>
          {texts.clearFilters}
        </button>
      )}
    </div>
  )
}

/** What links set and no field shows: the table, what alerts are about, and when they were opened. */
function AddressFilters() {
  const [query] = useQuery()
  const { table, dimension, since, until } = Object.fromEntries(query)
  const chip = (text: string | undefined, names: readonly string[]) =>
    text && (
      <button
        key={names[0]}
        class="chip"
        onClick={() => changeQuery(Object.fromEntries([...names, 'offset'].map(name => [name, null])))}
      >
        <bdi>{text}</bdi> <span aria-hidden="true">×</span>
      </button>
    )
  const isDay = since && until && Date.parse(until) - Date.parse(since) <= 25 * HOUR_MS
  return (
    <>
      {chip(table, ['table'])}
      {chip(DIMENSIONS.find(known => known === dimension) && `about ${dimension}`, ['dimension'])}
      {chip(since && (isDay ? `opened on ${formatDay(since)}` : `opened since ${formatDay(since)}`), [
        'since',
        'until',
      ])}
    </>
  )
}
