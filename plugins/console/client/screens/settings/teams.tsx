import type { CreateTeamRequest, UpdateTeamRequest } from 'tidemark/client'
import { useState } from 'preact/hooks'
import { countOf } from '../../lib/format.ts'
import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { api, bodyOf } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { notify } from '../../parts/notices.tsx'
import type { PageOfList } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { teamsTexts } from './teams-texts.ts'
import { texts } from '../../texts.ts'
import { Ownerships } from './ownerships.tsx'

/** The longest page that the API gives. */
const MAX_TEAMS = 100
/** Members that the table names. */
const SHOWN_MEMBERS = 3

const loadTeams = async (signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/teams', { query: { limit: MAX_TEAMS }, signal })).data
type Team = Awaited<ReturnType<typeof loadTeams>>['teams'][number]

const teamFields: FieldSpec[] = [
  {
    ...{ name: 'name', label: texts.name, kind: 'text', isRequired: true, maxLength: 100 },
    hint: 'Such as Data Platform. Owners are written with it.',
  },
  { name: 'description', label: 'Description', kind: 'long', maxLength: 2_000 },
  {
    name: 'members',
    label: teamsTexts.members,
    kind: 'lines',
    hint: 'One address in each line, of a user or of a person without an account.',
  },
]

/** The teams of the company, and what people and teams own. */
export function Teams() {
  const teams = useData('teams', loadTeams)
  const [isOpen, setOpen] = useState(false)
  // The names of teams stand in the list of owners too.
  const [changes, setChanges] = useState(0)
  const reload = () => {
    teams.reload()
    setChanges(count => count + 1)
  }
  const create = async (body: Record<string, unknown>) => {
    const { data } = await api.post('/api/v1/sdk/teams', { body: bodyOf<CreateTeamRequest>(body) })
    notify(`${data.name} was created.`)
    reload()
  }
  return (
    <>
      <div class="headline">
        <h2>{teams.data ? countOf(teams.data.pagination.total, 'team') : teamsTexts.teams}</h2>
        {canWrite() && (
          <button class="primary" onClick={() => setOpen(true)}>
            {teamsTexts.create}
          </button>
        )}
      </div>
      {isOpen && (
        <FormDialog
          title={teamsTexts.create}
          id="team"
          specs={teamFields}
          label={teamsTexts.create}
          send={create}
          close={() => setOpen(false)}
        />
      )}
      <Loaded of={teams} what={teamsTexts.teams.toLowerCase()} rows={3}>
        {({ teams: found, pagination }: { teams: readonly Team[]; pagination: PageOfList }) =>
          found.length === 0 ? (
            <Empty title="There is no team">
              <p>
                A team owns sources, schemas, tables and tags. Its members own them too, and alert rules can
                be routed to it.
              </p>
            </Empty>
          ) : (
            <>
              <TeamTable teams={found} reload={reload} />
              {pagination.has_more && <p class="quiet">{teamsTexts.more(MAX_TEAMS)}</p>}
            </>
          )
        }
      </Loaded>
      <Ownerships key={changes} />
    </>
  )
}

function TeamTable({ teams, reload }: { teams: readonly Team[]; reload: () => void }) {
  const columns: Column<Team>[] = [
    {
      label: texts.name,
      isName: true,
      cell: ({ name, description }) => (
        <>
          <bdi>{name}</bdi>
          {description && <div class="quiet">{description}</div>}
        </>
      ),
    },
    { label: teamsTexts.members, cellClass: 'wraps', cell: team => <Members of={team} /> },
    {
      label: teamsTexts.actions,
      isLabelHidden: true,
      cell: team => canWrite() && <TeamActions team={team} reload={reload} />,
    },
  ]
  return <DataTable className="stacked two-line" label={teamsTexts.teams} columns={columns} rows={teams} />
}

function Members({ of: { members } }: { of: Team }) {
  if (members.length === 0) return <span class="quiet">no members yet</span>
  const shown = members.slice(0, SHOWN_MEMBERS)
  const others = members.length - shown.length
  return (
    <>
      <bdi title={members.map(({ email }) => email).join('\n')}>
        {shown.map(({ name }) => name).join(', ')}
      </bdi>
      {others > 0 && (
        <>
          {' '}
          <span class="quiet">{teamsTexts.others(others)}</span>
        </>
      )}
    </>
  )
}

function TeamActions({ team, reload }: { team: Team; reload: () => void }) {
  const [open, setOpen] = useState<'change' | 'remove' | null>(null)
  const close = () => setOpen(null)
  const path = { id: team.id }
  const change = async (given: Record<string, unknown>) => {
    // A list that was emptied is null in a form.
    const body = { ...given, ...(Object.hasOwn(given, 'members') && { members: given.members ?? [] }) }
    const { data } = await api.patch('/api/v1/sdk/teams/{id}', {
      path,
      body: bodyOf<UpdateTeamRequest>(body),
    })
    notify(`${data.name} was changed.`)
    reload()
  }
  const remove = async () => {
    await api.delete('/api/v1/sdk/teams/{id}', { path })
    notify(`${team.name} was removed.`)
    reload()
  }
  return (
    <>
      <span class="actions">
        <button class="small" aria-label={teamsTexts.changeOf(team.name)} onClick={() => setOpen('change')}>
          Change
        </button>
        <button class="small" aria-label={teamsTexts.removeOf(team.name)} onClick={() => setOpen('remove')}>
          {teamsTexts.remove}
        </button>
      </span>
      {open === 'change' && (
        <FormDialog
          title={teamsTexts.changeOf(team.name)}
          id={`team ${team.id}`}
          specs={teamFields}
          record={{ ...team, members: team.members.map(({ email }) => email) }}
          send={change}
          close={close}
        />
      )}
      {open === 'remove' && (
        <ConfirmDialog
          title={teamsTexts.removeOf(team.name)}
          action={teamsTexts.remove}
          work={remove}
          close={close}
        >
          <p>
            It owns nothing from then on. An alert rule that names no other owner is switched off. Its members
            keep their accounts.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
