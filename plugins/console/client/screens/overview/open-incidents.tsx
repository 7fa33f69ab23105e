import { formatSpan } from '../../lib/format.ts'
import { withQuery } from '../../lib/router.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { Shape, Status, toneOf } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import type { OverviewData } from './data.ts'
import { overviewTexts as texts } from './texts.ts'

type Incident = OverviewData['incidents'][number]

/** The worst open incidents, each with what it hits and who takes care of it. */
export function OpenIncidents({
  overview,
  source,
}: {
  overview: OverviewData
  /** The name of the source to which they are limited. */
  source?: string
}) {
  const { incidents, total_incidents: total } = overview
  return (
    <section>
      <div class="section-head">
        <h2>{texts.incidents}</h2>
        <Times overview={overview} />
        {total > 0 && (
          <a href={withQuery('/incidents', { table: source ?? null })}>{texts.allIncidents(total)}</a>
        )}
      </div>
      {incidents.length === 0 ? (
        <p class="card-line">
          <Shape tone="ok" /> {texts.noIncident}
        </p>
      ) : (
        <DataTable
          label={texts.incidents}
          className="open-incidents stacked"
          columns={COLUMNS}
          rows={incidents}
        />
      )}
    </section>
  )
}

/** How long incidents took, where there were some. */
function Times({ overview }: { overview: OverviewData }) {
  const times = [
    [texts.noticed, overview.minutes_to_detect],
    [texts.acknowledged, overview.minutes_to_acknowledge],
    [texts.resolved, overview.minutes_to_resolve],
  ] as const
  const known = times.flatMap(([what, minutes]) =>
    minutes === null ? [] : `${what} after ${formatSpan(60 * minutes)}`,
  )
  return known.length > 0 && <span class="quiet">{`${texts.medians}: ${known.join(', ')}`}</span>
}

const COLUMNS: Column<Incident>[] = [
  {
    label: texts.incident,
    isName: true,
    cell: ({ id, severity, title, status }) => (
      <span class="with-shape">
        <Shape tone={toneOf(severity)} />
        <span class="hidden">{severity}: </span>
        <a href={`/incidents/${id}`}>
          <bdi>{title}</bdi>
        </a>
        {status === 'acknowledged' && <Status status="acknowledged" />}
      </span>
    ),
  },
  {
    label: texts.reach,
    cell: ({ asset_count: assets, downstream_count: downstream }) => texts.reachOf(assets, downstream),
  },
  {
    label: texts.owner,
    cell: ({ owners }) =>
      owners.length === 0 ? (
        <span class="quiet">–</span>
      ) : (
        <>
          <bdi title={owners.join(', ')}>{owners[0]}</bdi>
          {owners.length > 1 && ` +${owners.length - 1}`}
        </>
      ),
  },
  {
    label: texts.assignee,
    cell: ({ assignee }) =>
      assignee === null ? <span class="quiet">{texts.unassigned}</span> : <bdi>{assignee}</bdi>,
  },
  { label: texts.age, className: 'right', cell: ({ created_at: at }) => <Ago at={at} /> },
]
