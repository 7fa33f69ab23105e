import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { countOf, formatNumber } from '../../lib/format.ts'
import { useQuery } from '../../lib/router.ts'
import { Choice, SearchField } from '../../parts/filters.tsx'
import { EmptyUnlessNew } from '../../parts/first-source.tsx'
import { useSession } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { readOffset } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Shape, Status, toneOf } from '../../parts/status.tsx'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { ListTools } from '../../parts/table/list-tools.tsx'
import { readSort } from '../../parts/table/table-head.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { incidentTexts as texts } from './texts.ts'
import { ownersOf } from './owners.ts'
import { loadIncidents, type IncidentsPage, type ListedIncident } from './requests.ts'

const LIMIT = 50
const SEVERITIES = ['critical', 'warning', 'info'] as const
const STATUSES = {
  open: ['open', 'acknowledged', 'snoozed'],
  closed: ['resolved', 'dismissed'],
  all: [],
} as const
type Tab = keyof typeof STATUSES

/** The incidents that are open, or those that the filters select. */
export function IncidentList() {
  const [query] = useQuery()
  const { user } = useSession()
  const tab: Tab = (Object.keys(STATUSES) as Tab[]).find(known => known === query.get('tab')) ?? 'open'
  const severity = SEVERITIES.find(known => known === query.get('severity'))
  const isMine = query.get('assignee') === 'me'
  const filters = {
    ...(tab !== 'all' && { status: [...STATUSES[tab]] }),
    ...(severity && { severity: [severity] }),
    ...(isMine && user && { assignee_id: user.id }),
    ...(query.get('assignee') === 'none' && { assignee_id: 'none' }),
    ...(query.get('search') && { search: query.get('search')! }),
    ...(query.get('table') && { asset_id: query.get('table')! }),
    ...readSort(query, ['created_at', 'alert_count']),
  }
  const page = { limit: LIMIT, offset: readOffset(query) }
  const list = useData<IncidentsPage>(`incidents ${JSON.stringify([filters, page])}`, signal =>
    loadIncidents({ ...filters, ...page }, signal),
  )
  const isPlain =
    tab === 'open' && ['severity', 'assignee', 'search', 'table'].every(name => !query.has(name))
  const total = list.data?.pagination.total
  return (
    <div class="page">
      <div class="headline">
        <h1>
          {total === undefined ? texts.title : isPlain ? texts.count(total) : texts.found(total)}
          <Help page="incidents" about={texts.title} />
        </h1>
        <ListTools
          list="incidents"
          path="/incidents"
          columns={COLUMNS}
          load={async (page: { limit: number; offset: number }, signal: AbortSignal) => {
            const { incidents, pagination } = await loadIncidents({ ...filters, ...page }, signal)
            return { rows: incidents, total: pagination.total }
          }}
        />
      </div>
      <LastMonth />
      <div class="filters">
        <Tabs
          label="Status"
          current={tab}
          tabs={(Object.keys(STATUSES) as Tab[]).map(id => ({ id, name: texts.tabs[id] }))}
          filters={query}
        />
        <Choice
          name="severity"
          label="Severity"
          none="Any severity"
          options={SEVERITIES.map(known => [known, known] as const)}
        />
        <Choice
          name="assignee"
          label={texts.assignee}
          none="Any user"
          options={[...(user ? [['me', 'me'] as const] : []), ['none', texts.unassigned] as const]}
        />
        <SearchField label="Search incidents" />
      </div>
      <Loaded of={list} what={texts.title.toLowerCase()} rows={8}>
        {({ incidents, pagination }: IncidentsPage) =>
          incidents.length === 0 ? (
            isPlain ? (
              <EmptyUnlessNew text="Incidents appear here once Tidemark watches your data.">
                <Empty title="Nothing is wrong at the moment">
                  <p>Alerts that belong together appear here as one incident.</p>
                </Empty>
              </EmptyUnlessNew>
            ) : (
              <Empty title="No incident matches" />
            )
          ) : (
            <DataTable
              list="incidents"
              label={texts.title}
              className="incidents stacked two-line"
              columns={COLUMNS}
              rows={incidents}
              paging={pagination}
            />
          )
        }
      </Loaded>
    </div>
  )
}

const COLUMNS: Column<ListedIncident>[] = [
  {
    label: texts.incident,
    isName: true,
    cell: ({ id, number, severity, title }) => (
      <span class="with-shape">
        <Shape tone={toneOf(severity)} />
        <span class="hidden">{severity}: </span>
        <a href={`/incidents/${id}`} title={title}>
          <bdi>{title}</bdi>
        </a>
        {number !== null && (
          <>
            {' '}
            <span class="quiet number">{texts.numbered(number)}</span>
          </>
        )}
      </span>
    ),
  },
  {
    label: texts.state,
    cellClass: 'state',
    cell: ({ status }) => <Status status={status} word={texts.states[status]} />,
  },
  {
    label: texts.alerts,
    className: 'right',
    sort: { name: 'alert_count', first: 'desc' },
    cell: ({ alert_count: count }) => formatNumber(count),
  },
  {
    label: texts.reach,
    cell: ({ asset_count: count, downstream_count: reach }) => (
      <>
        {countOf(count, 'table')}
        {reach > 0 && <span class="quiet">, {texts.downstream(reach)}</span>}
      </>
    ),
  },
  {
    label: texts.owner,
    cell: incident => {
      const { names } = ownersOf(incident)
      if (names.length === 0) return <span class="quiet">{texts.noOwner}</span>
      return (
        <>
          <bdi title={names.join(', ')}>{names[0]}</bdi>
          {names.length > 1 && ` +${names.length - 1}`}
        </>
      )
    },
  },
  {
    label: texts.assignee,
    cell: ({ assignee }) =>
      assignee ? (
        <bdi>{assignee.full_name ?? assignee.email}</bdi>
      ) : (
        <span class="quiet">{texts.unassigned}</span>
      ),
  },
  {
    label: texts.age,
    className: 'right',
    sort: { name: 'created_at', first: 'desc', isDefault: true },
    cell: ({ created_at: at }) => <Ago at={at} />,
  },
]

/** How long incidents took, which a team looks at once in a while. */
function LastMonth() {
  const asked = useData('incidents of the month', async signal => {
    return (await api.get('/api/v1/sdk/incidents/summary', { query: { days: 30 }, signal })).data
  })
  const { data } = asked
  return (
    <p class="quiet month">
      {data && (
        <>
          {texts.lastMonth}: {texts.found(data.opened)}
          {data.minutes_to_resolve.count > 0 &&
            `; ${texts.medians(data.minutes_to_acknowledge.median, data.minutes_to_resolve.median)}`}
          .
        </>
      )}
    </p>
  )
}
