import { countOf, formatNumber } from '../../lib/format.ts'
import { tableAddress } from '../../lib/router.ts'
import { NameLink } from '../../parts/table/name-link.tsx'
import { shortNames } from '../../parts/table/short-name.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import type { PageOfList } from '../../parts/paging.tsx'
import type { Selection } from '../../parts/table/table-head.tsx'
import { recommendationTexts } from './texts.ts'
import { Details } from './details.tsx'
import type { Recommendation } from './requests.ts'

/** What a check is called before it is there. */
export const nameRecommendation = ({
  type,
  type_label: label,
  column_name: column,
  parent,
  config,
}: Recommendation) =>
  [
    parent ? column : label,
    parent && `references ${parent.table_path.split('.').at(-1)}.${parent.column_name}`,
    !parent && column && `on ${column}`,
    type === 'comparison' && `→ ${String(config.right_source)}`,
  ]
    .filter(Boolean)
    .join(' ')

export const CHECK_COLUMNS: Column<Recommendation>[] = [
  {
    label: 'Why',
    cellClass: 'reason',
    cell: ({ reason, dismiss_reason: why }) => (
      <>
        <bdi>{reason}</bdi>
        {why && (
          <>
            {' '}
            <span class="quiet">{why}</span>
          </>
        )}
      </>
    ),
  },
  {
    label: recommendationTexts.confidence,
    cellClass: 'state',
    className: 'right',
    cell: ({ confidence }) => `${Math.round(confidence * 100)} %`,
  },
  {
    label: 'Cost a day',
    cellClass: 'quiet',
    cell: ({ cost }) =>
      cost.statements_per_day === 0
        ? ''
        : `${countOf(cost.statements_per_day, 'statement')}${cost.rows_per_day === null ? '' : `, ${formatNumber(cost.rows_per_day)} rows`}`,
  },
]

interface TableProps {
  recommendations: readonly Recommendation[]
  place: number
  paging: PageOfList
  openId: string | null
  toggleDetails: (recommendation: Recommendation) => void
  selection: Selection<Recommendation> | false | undefined
}

/** Recommendations by table, with details of the one that is open. */
export function RecommendationTable({
  recommendations,
  place,
  paging,
  openId,
  toggleDetails,
  selection,
}: TableProps) {
  const columns: Column<Recommendation>[] = [
    {
      label: recommendationTexts.check,
      isName: true,
      cell: recommendation => (
        <button
          class="link"
          aria-expanded={recommendation.id === openId}
          onClick={() => toggleDetails(recommendation)}
        >
          <bdi>{nameRecommendation(recommendation)}</bdi>
        </button>
      ),
    },
    ...CHECK_COLUMNS,
  ]
  const short = shortNames(recommendations.map(({ table_path: path }) => path))
  return (
    <DataTable
      list="recommendations"
      label={recommendationTexts.title}
      className="recommendations stacked two-line"
      columns={columns}
      rows={recommendations}
      place={place}
      selection={selection}
      paging={paging}
      group={{
        keyOf: (recommendation: Recommendation) => recommendation.asset_id,
        title: ({ asset_id: table, table_path: path }: Recommendation) => (
          <NameLink href={tableAddress(table)} name={path} short={short.get(path)} />
        ),
      }}
      details={(recommendation: Recommendation) =>
        recommendation.id === openId && <Details recommendation={recommendation} />
      }
    />
  )
}
