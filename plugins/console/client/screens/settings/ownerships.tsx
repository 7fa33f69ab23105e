import { useState } from 'preact/hooks'
import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec, Values } from '../../forms/schema.ts'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { sourceAddress, tableAddress, useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { useSession } from '../../parts/frame.tsx'
import { Icon } from '../../parts/icons.tsx'
import { notify } from '../../parts/notices.tsx'
import { pageSizeOf, Paging, readOffset, type PageOfList } from '../../parts/paging.tsx'
import { Loaded } from '../../parts/states.tsx'
import { teamsTexts } from './teams-texts.ts'

const loadOwnerships = async (page: { limit: number; offset: number }, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/owners', { query: page, signal })).data
type Ownership = Awaited<ReturnType<typeof loadOwnerships>>['ownerships'][number]

const subjectField: FieldSpec = {
  ...{ name: 'subject', label: teamsTexts.owned, kind: 'choice', isRequired: true },
  ...{ initial: 'asset', choices: Object.entries(teamsTexts.choices) },
}
const assetField: FieldSpec = {
  name: 'asset_id',
  label: 'Name of the source',
  kind: 'text',
  isRequired: true,
}
const schemaField: FieldSpec = {
  ...{ name: 'schema', label: 'Schema', kind: 'text', isRequired: true },
  hint: 'Such as public, or db.public.',
}
const tagField: FieldSpec = {
  ...{ name: 'tag', label: 'Tag', kind: 'text', isRequired: true, maxLength: 100 },
}
const ownersField: FieldSpec = {
  ...{ name: 'owners', label: teamsTexts.owners, kind: 'lines' },
  hint: 'One in each line: the address of a user, or the name of a team. Leave it empty to remove all owners.',
}
const SUBJECT_FIELDS: Record<string, FieldSpec[]> = {
  asset: [
    { ...assetField, label: 'Name of the source or table', hint: 'Such as shop, or shop.db.public.orders.' },
  ],
  schema: [assetField, schemaField],
  tag: [tagField],
}
const fieldsOf = ({ subject }: Values) => [
  subjectField,
  ...(SUBJECT_FIELDS[String(subject)] ?? []),
  ownersField,
]

/** What people, dbt, OpenLineage and comments say of who owns what, and the form that sets it. */
export function Ownerships() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const page = { limit: pageSizeOf(preferences), offset: readOffset(query) }
  const found = useData(`ownerships ${JSON.stringify(page)}`, signal => loadOwnerships(page, signal))
  const [isOpen, setOpen] = useState(false)
  const set = async ({ owners, subject: _chosen, ...body }: Record<string, unknown>) => {
    await api.put('/api/v1/sdk/owners', { body: { ...body, owners: (owners as string[] | null) ?? [] } })
    notify('The owners were set.')
    found.reload()
  }
  return (
    <section>
      <div class="headline">
        <h2>{teamsTexts.owners}</h2>
        {canWrite() && <button onClick={() => setOpen(true)}>{teamsTexts.set}</button>}
      </div>
      <p class="quiet">
        The most specific object that has owners decides: a table, then its tags, its schema and its source.
      </p>
      {isOpen && (
        <FormDialog
          title={teamsTexts.set}
          id="ownership"
          specs={[subjectField, assetField, schemaField, tagField, ownersField]}
          shown={fieldsOf}
          label={teamsTexts.set}
          send={set}
          close={() => setOpen(false)}
        >
          Replaces those that people set for the same object before. They go before what dbt, OpenLineage and
          comments say of it.
        </FormDialog>
      )}
      <Loaded of={found} what={teamsTexts.owners.toLowerCase()} rows={3}>
        {({ ownerships, pagination }: { ownerships: readonly Ownership[]; pagination: PageOfList }) =>
          pagination.total === 0 ? (
            <p class="quiet">No owner is named yet.</p>
          ) : (
            <>
              <OwnershipTable ownerships={ownerships} reload={found.reload} />
              <Paging pagination={pagination} />
            </>
          )
        }
      </Loaded>
    </section>
  )
}

interface OwnershipProps {
  ownership: Ownership
  reload: () => void
}

/** The page of what is owned; schemas and tags have none. */
function addressOf({ type, name }: Ownership['subject']): string | null {
  if (type === 'table') return tableAddress(name)
  return type === 'source' ? sourceAddress(name) : null
}

function OwnershipTable({ ownerships, reload }: { ownerships: readonly Ownership[]; reload: () => void }) {
  const columns: Column<Ownership>[] = [
    {
      label: teamsTexts.owned,
      isName: true,
      cell: ({ subject }) => {
        const address = addressOf(subject)
        const name = <bdi>{subject.name}</bdi>
        return (
          <>
            {address ? <a href={address}>{name}</a> : name}{' '}
            <span class="quiet">{teamsTexts.subjects[subject.type]}</span>
          </>
        )
      },
    },
    {
      label: 'Owner',
      cell: ({ owner }) => (
        <>
          <bdi title={owner.email ?? ''}>{owner.name}</bdi>{' '}
          <span class="quiet">{teamsTexts.types[owner.type]}</span>
        </>
      ),
    },
    {
      label: 'Named by',
      cell: ({ origin, reported_by: reporter }) => (
        <>
          {teamsTexts.origins[origin]}
          {origin === 'dbt' && reporter && (
            <>
              {' '}
              <span class="quiet">
                <bdi>{reporter}</bdi>
              </span>
            </>
          )}
        </>
      ),
    },
    {
      label: teamsTexts.actions,
      isLabelHidden: true,
      cellClass: 'action',
      cell: ownership =>
        ownership.origin === 'manual' && canWrite() && <RemoveOwner ownership={ownership} reload={reload} />,
    },
  ]
  return (
    <DataTable className="stacked two-line" label={teamsTexts.owners} columns={columns} rows={ownerships} />
  )
}

function RemoveOwner({ ownership: { id, owner, subject }, reload }: OwnershipProps) {
  const label = `Remove ${owner.name} from ${subject.name}`
  const [isBusy, remove] = useAction(label, async () => {
    await api.delete('/api/v1/sdk/owners/{id}', { path: { id } })
    notify(`${owner.name} no longer owns ${subject.name}.`)
    reload()
  })
  return (
    <button class="plain small" aria-label={label} title={label} disabled={isBusy} onClick={remove}>
      <Icon name="close" />
    </button>
  )
}
