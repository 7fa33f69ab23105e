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

/** What saving a contract would do to checks: those that it adopts, creates, changes and no longer needs. */
export function PlannedChecks({ plan: { message, clauses } }: { plan: ContractPreview }) {
  const shown = clauses.filter(({ action, status }) => action !== null || status === 'not_enforced')
  return (
    <section role="status">
      <h2 class="section">{texts.planned(message)}</h2>
      {shown.length > 0 && (
        <DataTable label={texts.clauses} columns={COLUMNS} rows={shown} keyOf={({ key }: Clause) => key} />
      )}
    </section>
  )
}

function describeAction({ action, status }: Clause): string {
  return action === null ? texts.statusWords[status] : texts.actions[action]
}
