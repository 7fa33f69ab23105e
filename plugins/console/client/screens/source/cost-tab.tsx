import type { Source } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatNumber } from '../../lib/format.ts'
import { useQuery } from '../../lib/router.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { Choice } from '../../parts/filters.tsx'
import { Help } from '../../parts/help.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { costTexts as texts } from './cost-texts.ts'
import { CostlyTables, loadCosts, type TableCost } from './costly-tables.tsx'
import { DayChart } from './day-chart.tsx'

const PERIODS = [7, 90] as const
const DEFAULT_DAYS = 30
const MEASURES = ['statements', 'seconds', 'rows', 'bytes'] as const
type Measure = (typeof MEASURES)[number]
const PURPOSES = ['scan', 'freshness', 'discovery', 'profile', 'test', 'dry_run'] as const

const loadUsage = async (id: string, days: number, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/assets/{asset_id}/usage', { path: { asset_id: id }, query: { days }, signal }))
    .data
type Usage = Awaited<ReturnType<typeof loadUsage>>

/** What a source was asked for, by day and by purpose, and the tables that cost it most. */
export function CostTab({ source }: { source: Source }) {
  const [query] = useQuery()
  const days = PERIODS.find(period => String(period) === query.get('days')) ?? DEFAULT_DAYS
  const measure = MEASURES.find(name => name === query.get('measure')) ?? 'statements'
  const usage = useData(`usage ${source.id} ${days}`, signal => loadUsage(source.id, days, signal))
  const tables = useData(`costs ${source.id} ${days} ${measure}`, signal =>
    loadCosts({ asset_id: source.id, days, order_by: measure }, signal),
  )
  return (
    <section class="costs">
      <div class="filters">
        <Choice
          name="days"
          label="Days"
          none={texts.lastDays(DEFAULT_DAYS)}
          options={PERIODS.map(period => [String(period), texts.lastDays(period)] as const)}
        />
        <Choice
          name="measure"
          label="Measure"
          none={texts.measures.statements}
          options={MEASURES.slice(1).map(name => [name, texts.measures[name]] as const)}
        />
        <Help page="checks" about={texts.tab} />
      </div>
      <Loaded of={usage} what={texts.tab.toLowerCase()} rows={8}>
        {(used: Usage) => <Use usage={used} measure={measure} />}
      </Loaded>
      <h2>{texts.tables}</h2>
      <p class="quiet">{texts.sharedNote}</p>
      <Loaded of={tables} what={texts.tables.toLowerCase()} rows={4}>
        {(found: readonly TableCost[]) =>
          found.length === 0 ? (
            <p>No table was scanned for checks in these days.</p>
          ) : (
            <CostlyTables tables={found} reload={tables.reload} />
          )
        }
      </Loaded>
    </section>
  )
}

function Use({ usage, measure }: { usage: Usage; measure: Measure }) {
  const { days, total, by_purpose: byPurpose } = usage
  if (total.sessions === 0) return <Empty title="This source was not used in these days." />
  const used = PURPOSES.filter(purpose => byPurpose[purpose].sessions > 0)
  return (
    <>
      <h2>{texts.total(total.statements, days.length)}</h2>
      <DayChart
        title={`${texts.measures[measure]} by day, UTC`}
        days={days.map(day => ({ day: day.day, value: day[measure] }))}
      />
      <Numbers
        label="By purpose"
        first="Purpose"
        lines={[
          ...used.map(purpose => ({ name: texts.purposes[purpose], ...byPurpose[purpose] })),
          { name: 'All', ...total },
        ]}
      />
      {total.bytes === 0 && <p class="quiet">{texts.noBytes}</p>}
      <details>
        <summary>{texts.numbers}</summary>
        <Numbers
          label={texts.numbers}
          first="Day"
          lines={days
            .filter(({ sessions }) => sessions > 0)
            .map(day => ({ name: day.day, ...day }))
            .reverse()}
        />
      </details>
    </>
  )
}

const COLUMNS = ['sessions', ...MEASURES, 'failures'] as const
const titles = { ...texts.measures, sessions: 'Sessions', failures: 'Failures' }

type Line = { name: string } & Record<(typeof COLUMNS)[number], number>

function Numbers({ label, first, lines }: { label: string; first: string; lines: readonly Line[] }) {
  const columns: Column<Line>[] = [
    { label: first, isName: true, cell: line => line.name },
    ...COLUMNS.filter(name => name !== 'bytes' || lines.some(({ bytes }) => bytes > 0)).map(name => ({
      label: titles[name],
      className: 'right',
      cell: (line: Line) => formatNumber(line[name]),
    })),
  ]
  return <DataTable label={label} columns={columns} rows={lines} keyOf={(line: Line) => line.name} />
}
