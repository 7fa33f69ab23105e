import type { ContractPreview } from 'tidemark/client'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { contractTexts as texts } from './texts.ts'

type Clause = ContractPreview['clauses'][number]

const COLUMNS: Column<Clause>[] = [
  {
    label: 'Clause',
    isName: true,
    cellClass: 'clause',
    cell: ({ title, reason }) => (
      <>
        <bdi>{title}</bdi>
        {reason !== null && (
          <div class="quiet">
            <bdi>{reason}</bdi>
          </div>
        )}
      </>
    ),
  },
  { label: 'What happens', cell: describeAction },
]

/** What saving a contract would do to checks: by clause, with what the catalog says already. */
export function PlannedChecks({ plan: { message, clauses } }: { plan: ContractPreview }) {
  const rank = ({ action, status }: Clause) => (status === 'failing' ? 0 : action !== null ? 1 : 2)
  const shown = clauses.toSorted((one, other) => rank(one) - rank(other))
  return (
    <section role="status">
      <h2 class="section">{texts.planned(message)}</h2>
      {shown.length > 0 && (
        <DataTable
          className="stacked two-line"
          label={texts.clauses}
          columns={COLUMNS}
          rows={shown}
          keyOf={({ key }: Clause) => key}
        />
      )}
    </section>
  )
}

function describeAction({ action, status }: Clause): string {
  return action === null ? texts.byCatalog[status] : texts.actions[action]
}
