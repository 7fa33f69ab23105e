import { useEffect } from 'preact/hooks'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatNumber } from '../../lib/format.ts'
import { navigate, useQuery } from '../../lib/router.ts'
import { Choice, SearchField } from '../../parts/filters.tsx'
import { EmptyUnlessNew } from '../../parts/first-source.tsx'
import { useSession, useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { readOffset } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Shape, toneOf } from '../../parts/status.tsx'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { incidentTexts as texts } from './texts.ts'
import type { ScreenProps } from '../props.ts'
import { IncidentPage } from './incident-page.tsx'

const LIMIT = 50
const SEVERITIES = ['critical', 'warning', 'info'] as const
const STATUSES = {
  open: ['open', 'acknowledged', 'snoozed'],
  closed: ['resolved', 'dismissed'],
  all: [],
} as const
type Tab = keyof typeof STATUSES

/** What belongs together of all alerts: the incidents, one of them, or that of an alert. */
export function Incidents({ name }: ScreenProps) {
  const [query] = useQuery()
  useTitle(texts.title)
  if (name) return <IncidentPage key={name} id={name} />
  const alert = query.get('alert')
  return alert ? <OfAlert key={alert} alert={alert} /> : <IncidentList />
}

/** Goes on to the incident of an alert: the list of alerts does not know it, and need not ask for each. */
function OfAlert({ alert }: { alert: string }) {
  const asked = useData(`incident of ${alert}`, async signal => {
    const { data } = await api.get('/api/v1/sdk/incidents', { query: { alert_id: alert, limit: 1 }, signal })
    return data.incidents
  })
  const id = asked.data?.[0]?.id
  useEffect(() => {
    if (id) navigate(`/incidents/${id}`, { replace: true })
  }, [id])
  return (
    <div class="page">
      <Loaded of={asked} what={texts.incident.toLowerCase()} rows={6}>
        {() =>
          !id && (
            <Empty title="No incident has this alert" isScreen={true}>
              <p>Alerts are grouped some seconds after they are raised.</p>
              <p>
                <a class="button" href={`/alerts/${encodeURIComponent(alert)}`}>
                  {texts.alerts}
                </a>
              </p>
            </Empty>
          )
        }
      </Loaded>
    </div>
  )
}

const loadIncidents = async (query: object, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/incidents', { query, signal })).data
type IncidentsPage = Awaited<ReturnType<typeof loadIncidents>>

function IncidentList() {
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
    ...{ limit: LIMIT, offset: readOffset(query) },
  }
  const list = useData<IncidentsPage>(`incidents ${JSON.stringify(filters)}`, signal =>
    loadIncidents(filters, signal),
  )
  const isPlain =
    tab === 'open' && ['severity', 'assignee', 'search', 'table'].every(name => !query.has(name))
  const total = list.data?.pagination.total
  return (
    <div class="page">
      <h1>
        {total === undefined ? texts.title : isPlain ? texts.count(total) : texts.found(total)}
        <Help page="incidents" about={texts.title} />
      </h1>
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

const COLUMNS: Column<IncidentsPage['incidents'][number]>[] = [
  {
    label: texts.incident,
    isName: true,
    cell: ({ id, severity, title }) => (
      <span class="with-shape">
        <Shape tone={toneOf(severity)} />
        <span class="hidden">{severity}: </span>
        <a href={`/incidents/${id}`} title={title}>
          <bdi>{title}</bdi>
        </a>
      </span>
    ),
  },
  {
    label: texts.state,
    cellClass: 'state',
    cell: ({ status }) => <span class="chip">{texts.states[status]}</span>,
  },
  { label: texts.alerts, className: 'right', cell: ({ alert_count: count }) => formatNumber(count) },
  { label: texts.tables, className: 'right', cell: ({ asset_count: count }) => formatNumber(count) },
  {
    label: texts.assignee,
    cell: ({ assignee }) =>
      assignee ? (
        <bdi>{assignee.full_name ?? assignee.email}</bdi>
      ) : (
        <span class="quiet">{texts.unassigned}</span>
      ),
  },
  { label: texts.age, className: 'right', cell: ({ created_at: at }) => <Ago at={at} /> },
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
