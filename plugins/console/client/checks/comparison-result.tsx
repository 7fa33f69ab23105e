import { useEffect, useRef } from 'preact/hooks'
import type { ComparisonDryRun, ComparisonExecution, ComparisonResult } from 'tidemark/client'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { Loaded } from '../parts/states.tsx'
import { DataTable, type Column } from '../parts/table/data-table.tsx'
import { Ago } from '../parts/time.tsx'
import { comparisonTexts } from './comparison-texts.ts'

/** What a comparison found; rows that differ are there only after a run. */
type ShownComparison = ComparisonResult | ComparisonExecution | ComparisonDryRun
type Sample = ComparisonDryRun['samples'][number]
type Aggregate = ComparisonResult['differing_aggregates'][number]

/** What the two tables are called. */
export interface SideNames {
  left: string
  right: string
}

interface SideTable {
  source: string
  table: string
}

/** The names of two tables: those of their sources, or on one source their own. */
export function sideNames(left: SideTable, right: SideTable): SideNames {
  return left.source === right.source
    ? { left: left.table, right: right.table }
    : { left: left.source, right: right.source }
}

const count = (value: number | null) => value?.toLocaleString('en-GB') ?? '–'

/** The newest result of a comparison with both sides beside each other; the rows of a run, while it is shown. */
export function ComparisonOutcome({
  table,
  check,
  run,
}: {
  table: { id: string; source: string }
  check: { id: string; last_checked_at: string | null }
  run: ComparisonExecution | undefined
}) {
  const path = { asset_id: table.id, comparison_id: check.id }
  const found = useData(`comparison ${check.id}`, async signal => {
    const [{ data: comparison }, { data: results }] = await Promise.all([
      api.get('/api/v1/sdk/comparisons/{asset_id}/{comparison_id}', { path, signal }),
      api.get('/api/v1/sdk/comparisons/{asset_id}/{comparison_id}/results', {
        path,
        query: { limit: 1 },
        signal,
      }),
    ])
    const { right_source: source, right_table_path: right } = comparison
    const names = sideNames({ source: table.source, table: comparison.table_path }, { source, table: right })
    return { names, result: results.items[0] }
  })
  // What is shown stays until a newer result is there.
  const shownAt = useRef(check.last_checked_at)
  useEffect(() => {
    if (shownAt.current !== check.last_checked_at) found.reload()
    shownAt.current = check.last_checked_at
  }, [check.last_checked_at])
  return (
    <section class="opened comparison">
      <Loaded of={found} what={comparisonTexts.result} rows={4}>
        {({ names, result }: { names: SideNames; result: ComparisonResult | undefined }) => {
          const shown = run ?? result
          if (!shown) return <p class="quiet">{comparisonTexts.notRun}</p>
          if (shown.status === 'error') return <p class="bad">{shown.error_message}</p>
          const hasRows = shown.only_left !== null && (shown.differing_rows ?? 0) > 0
          return (
            <>
              <p class="quiet">
                {comparisonTexts.compared} <Ago at={shown.checked_at} />
              </p>
              <Numbers found={shown} names={names} />
              {!run && hasRows && <p class="quiet">{comparisonTexts.noRows}</p>}
              <DifferingRows found={shown} names={names} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

/** How many rows each side has, has alone, and has with other values. */
function Numbers({ found, names }: { found: ShownComparison; names: SideNames }) {
  const columns = Object.entries(found.differing_columns).toSorted(([, one], [, other]) => other - one)
  const most = columns[0]?.[1] ?? 1
  return (
    <>
      <table class="sides">
        <thead>
          <tr>
            <th>
              <span class="hidden">{comparisonTexts.result}</span>
            </th>
            <th scope="col" class="right">
              <bdi>{names.left}</bdi>
            </th>
            <th scope="col" class="right">
              <bdi>{names.right}</bdi>
            </th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{comparisonTexts.rows}</th>
            <td class="right">{count(found.rows_left)}</td>
            <td class="right">{count(found.rows_right)}</td>
          </tr>
          {found.only_left !== null && (
            <>
              <tr>
                <th scope="row">{comparisonTexts.only}</th>
                <td class={`right${found.only_left ? ' differs' : ''}`}>{count(found.only_left)}</td>
                <td class={`right${found.only_right ? ' differs' : ''}`}>{count(found.only_right)}</td>
              </tr>
              <tr>
                <th scope="row">{comparisonTexts.differing}</th>
                <td class={`both${found.differing ? ' differs' : ''}`} colspan={2}>
                  {count(found.differing)}
                </td>
              </tr>
            </>
          )}
        </tbody>
      </table>
      {columns.length > 0 && (
        <>
          <p>
            <strong>{comparisonTexts.differingColumns}</strong>
          </p>
          <dl class="bars">
            {columns.map(([name, rows]) => (
              <div key={name}>
                <dt>
                  <code>
                    <bdi>{name}</bdi>
                  </code>
                </dt>
                <dd>
                  <span class="bar" style={`width: ${(60 * rows) / most}%`} /> {count(rows)}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </>
  )
}

/** Rows that differ, each value on a line of its own, or the aggregates that do. */
export function DifferingRows({
  found,
  names = { left: 'Left', right: 'Right' },
}: {
  found: ShownComparison
  names?: SideNames
}) {
  const samples = 'samples' in found ? found.samples : []
  const aggregates = found.differing_aggregates
  if (aggregates.length > 0)
    return (
      <DataTable
        className="differing"
        caption={<caption>{comparisonTexts.aggregates}</caption>}
        columns={aggregateColumns(names)}
        rows={aggregates}
        keyOf={(item: Aggregate) => aggregates.indexOf(item)}
      />
    )
  if (samples.length === 0) return null
  const lines = samples.flatMap(linesOf)
  const left = (found.differing_rows ?? 0) - samples.length
  return (
    <>
      <DataTable
        className="differing"
        caption={<caption>{comparisonTexts.samples}</caption>}
        columns={rowColumns(names)}
        rows={lines}
        keyOf={(line: Line) => lines.indexOf(line)}
      />
      {left > 0 && <p class="quiet">{comparisonTexts.more(left)}</p>}
      {lines.some(isHidden) && <p class="quiet">{comparisonTexts.hidden}</p>}
    </>
  )
}

/** A value of a row, or the row itself where one side lacks it. */
interface Line {
  /** Null below the first line of a row. */
  key: string | null
  /** Null for the row itself. */
  column: string | null
  left: string | null
  right: string | null
}

function linesOf({ key, kind, values }: Sample): Line[] {
  const name = Object.values(key).join(', ')
  const { present, missing } = comparisonTexts
  if (kind === 'only_left') return [{ key: name, column: null, left: present, right: missing }]
  if (kind === 'only_right') return [{ key: name, column: null, left: missing, right: present }]
  return values.map((value, n) => ({ ...value, key: n === 0 ? name : null }))
}

const isHidden = ({ key, left, right }: Line) => [key, left, right].some(text => text?.includes('•••'))

const rowColumns = ({ left, right }: SideNames): Column<Line>[] => [
  {
    label: 'Key',
    isName: true,
    cell: ({ key }) =>
      key !== null && (
        <code>
          <bdi>{key}</bdi>
        </code>
      ),
  },
  {
    label: 'Column',
    cell: ({ column }) =>
      column !== null && (
        <code>
          <bdi>{column}</bdi>
        </code>
      ),
  },
  valueColumn(left, line => line.left),
  valueColumn(right, line => line.right),
]

/** A value of one side is marked where it differs; the word for a row that is there is not. */
function valueColumn(label: string, valueOf: (line: Line) => string | null): Column<Line> {
  return {
    label: <bdi>{label}</bdi>,
    cellClass: line =>
      line.column !== null || valueOf(line) === comparisonTexts.missing ? 'differs' : 'quiet',
    cell: line =>
      line.column === null ? (
        valueOf(line)
      ) : (
        <code>
          <bdi>{valueOf(line) ?? 'NULL'}</bdi>
        </code>
      ),
  }
}

const aggregateColumns = ({ left, right }: SideNames): Column<Aggregate>[] => [
  {
    label: 'Group',
    isName: true,
    cell: ({ group }) =>
      Object.entries(group)
        .map(([name, value]) => `${name} = ${value ?? 'NULL'}`)
        .join(', '),
  },
  {
    label: 'Aggregate',
    cell: ({ column, measure }) =>
      column === null ? (
        measure
      ) : (
        <>
          {measure} of{' '}
          <code>
            <bdi>{column}</bdi>
          </code>
        </>
      ),
  },
  { label: <bdi>{left}</bdi>, cellClass: 'differs', cell: ({ left: value }) => value ?? 'NULL' },
  { label: <bdi>{right}</bdi>, cellClass: 'differs', cell: ({ right: value }) => value ?? 'NULL' },
]
