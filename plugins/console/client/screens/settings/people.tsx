import { useState } from 'preact/hooks'
import type { User } from 'tidemark/client'
import { countOf } from '../../lib/format.ts'
import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { useQuery } from '../../lib/router.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { useSession } from '../../parts/frame.tsx'
import { notify } from '../../parts/notices.tsx'
import { pageSizeOf, Paging, readOffset, type PageOfList } from '../../parts/paging.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { peopleTexts } from './people-texts.ts'
import { texts } from '../../texts.ts'
import { Invitations, InviteButton, roleField, useInvitations } from './invitations.tsx'

interface UserPage {
  data: User[]
  pagination: PageOfList
}

/** The users of the company, and who is invited. */
export function People() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const page = { limit: pageSizeOf(preferences), offset: readOffset(query) }
  const users = useData<UserPage>(`users ${JSON.stringify(page)}`, signal =>
    api.get('/api/v1/users', { query: page, signal }),
  )
  const invitations = useInvitations()
  return (
    <>
      <div class="headline">
        <h2>{users.data ? countOf(users.data.pagination.total, 'user') : texts.people}</h2>
        <InviteButton label="Invite someone" isPrimary={true} reload={invitations.reload} />
      </div>
      <Loaded of={users} what={texts.people.toLowerCase()} rows={5}>
        {({ data, pagination }: UserPage) => (
          <>
            <UserTable users={data} reload={users.reload} />
            <Paging pagination={pagination} />
          </>
        )}
      </Loaded>
      <section>
        <h2>{peopleTexts.invitations}</h2>
        <Invitations of={invitations} />
      </section>
    </>
  )
}

/** The API changes neither the owner nor the caller's own user. */
function UserTable({ users, reload }: { users: readonly User[]; reload: () => void }) {
  const { user: self } = useSession()
  const nameOf = (user: User) => user.full_name ?? user.email
  const columns: Column<User>[] = [
    {
      label: texts.name,
      isName: true,
      cell: user => (
        <>
          <bdi>{nameOf(user)}</bdi>
          {user.id === self?.id && (
            <>
              {' '}
              <span class="quiet">({peopleTexts.isYou})</span>
            </>
          )}
          {user.full_name && (
            <span class="below quiet">
              <bdi>{user.email}</bdi>
            </span>
          )}
        </>
      ),
    },
    { label: texts.role, cell: user => user.role },
    {
      label: texts.status,
      cellClass: 'state',
      cell: ({ is_active: isActive }) => (
        <Status status={isActive ? 'ok' : 'unknown'} word={isActive ? peopleTexts.active : 'disabled'} />
      ),
    },
    { label: 'Last sign-in', cell: user => <Ago at={user.last_login_at} /> },
    { label: 'Joined', cell: user => <Ago at={user.created_at} /> },
    {
      label: peopleTexts.actions,
      isLabelHidden: true,
      cellClass: 'action',
      cell: user =>
        user.id !== self?.id &&
        user.role !== 'owner' && <UserActions user={user} name={nameOf(user)} reload={reload} />,
    },
  ]
  return <DataTable className="stacked two-line" label={texts.people} columns={columns} rows={users} />
}

const userFields: FieldSpec[] = [
  roleField,
  {
    ...{ name: 'is_active', label: 'May sign in', kind: 'flag' },
    hint: 'A disabled user is signed out everywhere. API keys that they created stay valid.',
  },
]

function UserActions({ user, name, reload }: { user: User; name: string; reload: () => void }) {
  const [open, setOpen] = useState<'change' | 'remove' | null>(null)
  const close = () => setOpen(null)
  const path = { user_id: user.id }
  const change = async (body: Record<string, unknown>) => {
    await api.patch('/api/v1/users/{user_id}', { path, body })
    notify(`${name} was changed.`)
    reload()
  }
  const remove = async () => {
    await api.delete('/api/v1/users/{user_id}', { path })
    notify(`${name} was removed.`)
    reload()
  }
  return (
    <>
      <span class="actions">
        <button class="small" aria-label={peopleTexts.editOf(name)} onClick={() => setOpen('change')}>
          Change
        </button>
        <button class="small" aria-label={peopleTexts.removeOf(name)} onClick={() => setOpen('remove')}>
          {peopleTexts.remove}
        </button>
      </span>
      {open === 'change' && (
        <FormDialog
          title={peopleTexts.editOf(name)}
          id={`user ${user.id}`}
          specs={userFields}
          record={user}
          send={change}
          close={close}
        />
      )}
      {open === 'remove' && (
        <ConfirmDialog
          title={peopleTexts.removeOf(name)}
          action={peopleTexts.remove}
          work={remove}
          close={close}
        >
          <p>{peopleTexts.removeText(user.email)}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
