import { useAction } from '../lib/action.ts'
import { api } from '../lib/api.ts'
import type { Data } from '../lib/data.ts'
import { inWords } from '../lib/format.ts'
import { changeQuery, useQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { texts } from '../texts.ts'
import { DataTable, type Column } from './table/data-table.tsx'
import { lazy } from './lazy.tsx'
import { Severity } from './status.tsx'
import { Ago } from './time.tsx'

/** A schema change as the API lists it. */
export type SchemaChange = Awaited<
  ReturnType<typeof api.get<'/api/v1/sdk/schema/changes'>>
>['data']['data'][number]

const ChangeImpact = lazy(async () => (await import('../screens/impact/change-impact.tsx')).ChangeImpact)

/**
 * The columns of schema changes: what was before beside what is now.
 * @param tableColumn names the table of each, where they are not all of one; they are sorted there
 */
export function changeColumns(
  openId: string | null,
  accepted: (id: string) => void,
  tableColumn: Column<SchemaChange> | false,
): (Column<SchemaChange> | false)[] {
  const sortBy = (name: string, isDefault = false) =>
    tableColumn ? { name, first: 'desc' as const, isDefault, isOneWay: true } : undefined
  return [
    {
      label: 'Change',
      isName: true,
      cell: change => (
        <button
          class="link"
          title="What it hits"
          aria-expanded={change.id === openId}
          onClick={() => changeQuery({ change: change.id === openId ? null : change.id })}
        >
          <span>
            {inWords(change.change_type)}{' '}
            <code>
              <bdi>{change.object_name}</bdi>
            </code>
          </span>
        </button>
      ),
    },
    tableColumn,
    {
      label: 'Before',
      cell: change => <Definition text={change.old_value} className="removed" />,
    },
    {
      label: 'After',
      cell: change => <Definition text={change.new_value} className="added" />,
    },
    {
      label: texts.risk,
      sort: sortBy('impact', true),
      cellClass: 'state',
      cell: change => <Severity level={change.impact} />,
    },
    {
      label: 'Found',
      sort: sortBy('detected_at'),
      cell: change => <Ago at={change.detected_at} />,
    },
    {
      label: texts.accept,
      isLabelHidden: true,
      cellClass: 'action',
      cell: change => <Accept change={change} accepted={accepted} />,
    },
  ]
}

/** Schema changes; one is opened with what it hits. */
export function ChangeList({
  changes,
  tableColumn = false,
  accepted,
}: {
  changes: readonly SchemaChange[]
  tableColumn?: Column<SchemaChange> | false
  accepted: (id: string) => void
}) {
  const [query] = useQuery()
  const openId = query.get('change')
  return (
    <DataTable
      list={tableColumn ? 'changes' : undefined}
      label={texts.changes}
      className="changes stacked two-line"
      columns={changeColumns(openId, accepted, tableColumn)}
      rows={changes}
      chosen={openId}
      details={(change: SchemaChange) => change.id === openId && <ChangeImpact change={change} />}
    />
  )
}

function Definition({ text, className }: { text: string | null; className: string }) {
  return text === null ? (
    <span class="quiet">–</span>
  ) : (
    <code class={className}>
      <bdi>{text}</bdi>
    </code>
  )
}

function Accept({ change, accepted }: { change: SchemaChange; accepted: (id: string) => void }) {
  const [isBusy, accept] = useAction(texts.accept, async () => {
    await api.post('/api/v1/sdk/schema/changes/{change_id}/acknowledge', { path: { change_id: change.id } })
    accepted(change.id)
  })
  if (change.acknowledged)
    return (
      <span class="quiet">
        {texts.accepted} <Ago at={change.acknowledged_at} />
      </span>
    )
  if (!canWrite()) return null
  return (
    <button class="small" disabled={isBusy} onClick={accept}>
      {texts.accept}
    </button>
  )
}

/** Shows a change as accepted without asking for the list again. */
export function markAccepted<L extends { changes: SchemaChange[] }>(list: Data<L>, id: string): void {
  const at = new Date().toISOString()
  list.update(data => ({
    ...data,
    changes: data.changes.map(change =>
      change.id === id ? { ...change, acknowledged: true, acknowledged_at: at } : change,
    ),
  }))
}
