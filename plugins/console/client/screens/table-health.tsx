import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { changeQuery, useQuery, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { DataTable, type Column } from '../parts/table/data-table.tsx'
import { CheckMarks, RESULT_COLUMNS, STATUS_COLUMN, type Check } from '../parts/check-cells.tsx'
import { Help } from '../parts/help.tsx'
import { InvalidRows } from '../parts/invalid-rows.tsx'
import { lazy } from '../parts/lazy.tsx'
import { SeriesChart } from '../parts/series-chart.tsx'
import {
  loadComparisonSeries,
  loadMetricSeries,
  loadReferentialSeries,
  loadRuleSeries,
  type PageRequest,
} from '../parts/series.ts'
import { Empty, Loaded } from '../parts/states.tsx'
import { texts } from '../texts.ts'
import type { CheckRun } from '../checks/requests.ts'
import { Scope } from '../checks/scope.tsx'
import type { TabProps } from './props.ts'
import { HealthCharts } from './table-page/health-charts.tsx'

const POINTS = 30
/** What needs attention comes first. */
const STATUS_ORDER: readonly string[] = ['failing', 'error', 'warning', 'learning', 'pending', 'passing']

async function loadChecks(table: string, signal: AbortSignal) {
  const { data } = await api.get('/api/v1/sdk/checks/{asset_id}', {
    path: { asset_id: table },
    query: { points: POINTS, limit: 100 },
    signal,
  })
  const rank = ({ status }: { status: string }) => STATUS_ORDER.indexOf(status) + 1 || STATUS_ORDER.length + 1
  return [...data.items].sort((a, b) => rank(a) - rank(b))
}

const AddCheck = lazy(async () => (await import('../checks/add-check.tsx')).AddCheck)
const EditCheck = lazy(async () => (await import('../checks/edit-check.tsx')).EditCheck)
const ComparisonOutcome = lazy(
  async () => (await import('../checks/comparison-result.tsx')).ComparisonOutcome,
)
const CheckActions = lazy(async () => (await import('../checks/check-actions.tsx')).CheckActions)

/** The checks of a table, or the form that adds or changes one, as the address says. */
export function HealthTab({ table, reload }: TabProps) {
  const [query] = useQuery()
  const edited = query.get('edit')
  // A viewer may follow a link to a form, and sees the list.
  if (canWrite() && query.has('add')) return <AddCheck table={table} done={reload} />
  if (canWrite() && edited) return <EditCheck table={table} id={edited} done={reload} />
  return <CheckTable table={table} reload={reload} />
}

/** The checks of a table with their last values; one is opened with its chart. */
function CheckTable({ table, reload }: TabProps) {
  const [query] = useQuery()
  const openId = query.get('check')
  const checks = useData<Check[]>(`checks ${table.id}`, signal => loadChecks(table.id, signal))
  // Whatever has the table read again, such as Check now in its header, may have changed its checks.
  const shown = useRef(table)
  useEffect(() => {
    if (shown.current !== table) checks.reload()
    shown.current = table
  }, [table])
  // The last one; kept here because its check may change its place in the list.
  const [run, setRun] = useState<CheckRun & { id: string }>()
  const columns: Column<Check>[] = [
    {
      label: (
        <>
          {texts.check}
          <Help page="checks#all-checks-of-a-table-a-source-or-the-company" about={texts.checks} />
        </>
      ),
      isName: true,
      cell: check => (
        <>
          <button
            class="link"
            aria-expanded={check.id === openId}
            onClick={() => changeQuery({ check: check.id === openId ? null : check.id })}
          >
            <bdi title={check.name === check.title ? undefined : check.name}>{check.title}</bdi>
          </button>
          <CheckMarks of={check} />
        </>
      ),
    },
    STATUS_COLUMN,
    // The checks of a table are in one order.
    ...RESULT_COLUMNS.map(({ sort: _sort, ...column }) => column),
  ]
  const openCheck = (check: Check) => (
    <>
      <CheckActions
        source={table.source}
        table={table.id}
        check={check}
        ran={(run: CheckRun) => setRun({ id: check.id, ...run })}
        changed={reload}
      />
      {check.kind === 'comparison' && (
        <ComparisonOutcome
          table={table}
          check={check}
          run={run?.id === check.id ? run.comparison : undefined}
        />
      )}{' '}
      <CheckChart table={table.id} check={check} />
    </>
  )
  return (
    <section>
      <Loaded of={checks} what={texts.checks.toLowerCase()} rows={6}>
        {(found: readonly Check[]) =>
          found.length === 0 ? (
            <Empty title="No check watches this table">
              <p>{texts.noChecksText}</p>
              <p>
                {canWrite() ? (
                  <>
                    <AddLink />{' '}
                    <a class="button" href={withQuery('/recommendations', { source: table.qualified_name })}>
                      {texts.recommendations}
                    </a>
                  </>
                ) : (
                  <a class="button primary" href="/guide/validity#make-a-rule">
                    {texts.howToAddChecks}
                  </a>
                )}
              </p>
            </Empty>
          ) : (
            <>
              <AddActions table={table} />
              {openId === null && <HealthCharts table={table} checks={found} />}
              <DataTable
                label={texts.checks}
                className="checks stacked two-line"
                columns={columns}
                rows={found}
                chosen={openId}
                details={(check: Check) => check.id === openId && openCheck(check)}
              />
            </>
          )
        }
      </Loaded>
    </section>
  )
}

const LOADERS = {
  validity: loadRuleSeries,
  metric: loadMetricSeries,
  referential: loadReferentialSeries,
  comparison: loadComparisonSeries,
}

function CheckChart({ table, check }: { table: string; check: Check }) {
  // A feature of a later version may list checks of another kind.
  const load = LOADERS[check.kind as keyof typeof LOADERS] as (typeof LOADERS)['metric'] | undefined
  if (!load) return null
  const isRule = check.kind === 'validity'
  return (
    <div class="opened">
      <Scope check={check} />
      <SeriesChart
        id={`series ${check.id} ${check.last_checked_at}`}
        title={check.title}
        unit={isRule ? '%' : check.type === 'row_count' ? 'rows' : ''}
        load={(page: PageRequest) => load({ table, id: check.id }, page)}
        table={table}
      />
      {isRule && <InvalidRows table={table} id={check.id} />}
    </div>
  )
}

function AddLink() {
  return (
    <a class="button primary" href={`${location.pathname}?add`}>
      Add a check
    </a>
  )
}

function AddActions({ table }: { table: TabProps['table'] }) {
  if (!canWrite()) return null
  return (
    <p class="actions above">
      <AddLink />
      <a class="button" href={withQuery('/recommendations', { source: table.qualified_name })}>
        {texts.recommendations}
      </a>
    </p>
  )
}
