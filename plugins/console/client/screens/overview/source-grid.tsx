import { formatNumber } from '../../lib/format.ts'
import { sourceAddress, withQuery } from '../../lib/router.ts'
import { Help } from '../../parts/help.tsx'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { Shape, Status, toneOf } from '../../parts/status.tsx'
import { alertsAddress, DIMENSIONS, type Dimension, type OverviewSource } from './data.ts'
import { ScoreCell } from './quality.tsx'
import { overviewTexts as texts } from './texts.ts'

/** Sources with what is open of each dimension, how much of them is watched, and how good they were. */
export function SourceGrid({ sources }: { sources: readonly OverviewSource[] }) {
  return (
    <section>
      <div class="section-head">
        <h2>
          {texts.grid}
          <Help page="coverage#overview-and-quality-score" about={texts.grid} />
        </h2>
        <a href="/sources">All sources</a>
      </div>
      <DataTable label={texts.grid} className="source-grid stacked" columns={COLUMNS} rows={sources} />
    </section>
  )
}

/** How many alerts are open, as a pill that leads to them. */
export function OpenPill({ source, dimension }: { source: OverviewSource; dimension: Dimension }) {
  const { alerts, severity } = source.open[dimension]
  if (severity === null)
    return (
      <span class="quiet no-alert">
        <span class="hidden">{texts.none}</span>
        <span aria-hidden="true">–</span>
      </span>
    )
  return (
    <a
      class={`open-pill ${toneOf(severity)}`}
      href={alertsAddress({ table: source.name, dimension })}
      title={texts.openOf(alerts, severity)}
    >
      <Shape tone={toneOf(severity)} />
      <span class="hidden">{severity}, </span>
      {formatNumber(alerts)}
    </a>
  )
}

/** How many tables are watched, and the next step where some are not. */
export function Watched({ source }: { source: OverviewSource }) {
  const { watched_tables: watched, table_count: total, name } = source
  const open = Math.max(0, total - watched)
  return (
    <span class="watched">
      <a href={withQuery('/catalog', { source: name })}>{texts.watchedOf(watched, total)}</a>{' '}
      {open > 0 && (
        <a class="next" href={withQuery(sourceAddress(name), { tab: 'watch' })} title={texts.unwatched(open)}>
          {texts.watchThem(open)}
        </a>
      )}
    </span>
  )
}

const COLUMNS: Column<OverviewSource>[] = [
  {
    label: 'Source',
    isName: true,
    cell: ({ name, source_type: engine, is_active: isActive }) => (
      <>
        <a href={sourceAddress(name)}>
          <bdi>{name}</bdi>
        </a>{' '}
        <span class="quiet">{engine}</span> {!isActive && <Status status="paused" />}
      </>
    ),
  },
  ...DIMENSIONS.map((dimension): Column<OverviewSource> => ({
    label: texts.dimensions[dimension],
    cell: source => (
      <>
        <span class="cell-label" aria-hidden="true">
          {texts.dimensions[dimension]}{' '}
        </span>
        <OpenPill source={source} dimension={dimension} />
      </>
    ),
  })),
  {
    label: texts.watched,
    cell: source => (
      <>
        <span class="cell-label" aria-hidden="true">
          {texts.watched}{' '}
        </span>
        <Watched source={source} />
      </>
    ),
  },
  { label: texts.quality, cell: source => <ScoreCell of={source} /> },
]
