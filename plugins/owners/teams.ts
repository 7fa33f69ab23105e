import { v7, validate as isUuid } from 'uuid'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { defineCap, enforceCap } from '../../server/database/company-caps.ts'
import { lockName } from '../../server/database/locks.ts'
import { apiError, invalidField } from '../../server/http/errors.ts'
import { presentFields, type ReplyRow } from '../../server/http/fields.ts'
import type { Page } from '../../server/http/page.ts'
import type { AlertsApi } from '../alerts/api.ts'
import { teamFields } from './fields.ts'
import { findPeople } from './people.ts'
import type { NewTeam, TeamPatch } from './schemas.ts'

const TEAM_CAP = defineCap({ name: 'teams', most: 1_000, what: 'teams', advice: 'delete one first' })

/** A team with its members. */
type TeamRow = ReplyRow<typeof teamFields>

const TEAM_QUERY = `select t.*, (
    select coalesce(jsonb_agg(jsonb_build_object('type', case when u.id is null then 'email' else 'user' end,
             'id', u.id, 'name', coalesce(nullif(u.full_name, ''), u.email, m.email), 'email', coalesce(u.email, m.email))
             order by coalesce(u.email, m.email)), '[]')
      from team_members m left join users u on u.company_id = :companyId and (u.id = m.user_id or u.email = m.email)
     where m.company_id = :companyId and m.team_id = t.id) as members
  from teams t where t.company_id = :companyId`

/** One page of the teams, by name. */
export async function listTeams(
  trx: Transaction,
  { limit, offset }: Page,
): Promise<{ results: TeamRow[]; total: number }> {
  const companyId = companyOf(trx)
  const results = await rows<TeamRow>(
    trx,
    `${TEAM_QUERY} order by lower(t.name), t.id limit :limit offset :offset`,
    { companyId, limit, offset },
  )
  const [counted] = await rows<{ total: number }>(
    trx,
    'select cast(count(*) as int) as total from teams where company_id = :companyId',
    { companyId },
  )
  return { results, total: counted?.total ?? 0 }
}

/** @throws 404 `NOT_FOUND` */
export async function findTeam(trx: Transaction, id: string): Promise<TeamRow> {
  const [team] = isUuid(id)
    ? await rows<TeamRow>(trx, `${TEAM_QUERY} and t.id = :id`, { companyId: companyOf(trx), id })
    : []
  if (team) return team
  throw apiError('NOT_FOUND', 'There is no such team: GET /api/v1/sdk/teams lists them', { team_id: id })
}

/** @throws 409 `CONFLICT` for a name that is taken, 400 for a member that is not known */
export async function createTeam(trx: Transaction, input: NewTeam): Promise<TeamRow> {
  const id = v7()
  await assertFreeName(trx, input.name, id)
  await rows(
    trx,
    'insert into teams (id, company_id, name, description) values (:id, :companyId, :name, :description)',
    { id, companyId: companyOf(trx), name: input.name, description: input.description || null },
  )
  await enforceCap(trx, companyOf(trx), TEAM_CAP)
  await setMembers(trx, id, input.members ?? [])
  return findTeam(trx, id)
}

/** Changes the given fields; `members` replaces all. @throws as `createTeam`, and 404 `NOT_FOUND` */
export async function changeTeam(trx: Transaction, id: string, input: TeamPatch): Promise<TeamRow> {
  const team = await findTeam(trx, id)
  if (input.name !== undefined) await assertFreeName(trx, input.name, team.id)
  const { name = team.name, description = team.description } = input
  await rows(
    trx,
    `update teams set name = :name, description = :description, updated_at = now()
      where company_id = :companyId and id = :id`,
    { companyId: companyOf(trx), id: team.id, name, description: description || null },
  )
  if (input.members) await setMembers(trx, team.id, input.members)
  return findTeam(trx, team.id)
}

/** Removes a team with what it owns; rules that name it are switched off if they name no other owner. @throws 404 */
export async function removeTeam(trx: Transaction, id: string, alerts: AlertsApi): Promise<TeamRow> {
  const team = await findTeam(trx, id)
  await trx.raw('delete from teams where company_id = ? and id = ?', [companyOf(trx), team.id])
  await alerts.forgetOwners(trx, [team.id])
  return team
}

async function assertFreeName(trx: Transaction, name: string, id: string): Promise<void> {
  const companyId = companyOf(trx)
  await lockName(trx, `team ${companyId} ${name.toLowerCase()}`)
  const [namesake] = await rows(
    trx,
    'select 1 from teams where company_id = :companyId and lower(name) = lower(:name) and id <> :id',
    { companyId, name, id },
  )
  if (namesake)
    throw apiError('CONFLICT', `There is a team named ${name} already: choose another name`, {
      field: 'name',
    })
}

async function setMembers(trx: Transaction, teamId: string, members: readonly string[]): Promise<void> {
  const people = await findPeople(trx, members, 'members')
  const team = people.findIndex(person => person.teamId !== null)
  if (team !== -1) throw invalidField(`members.${team}`, 'is a team: members are users and addresses')
  const companyId = companyOf(trx)
  await trx.raw('delete from team_members where company_id = ? and team_id = ?', [companyId, teamId])
  await rows(
    trx,
    `insert into team_members (company_id, team_id, user_id, email)
     select distinct cast(:companyId as uuid), cast(:teamId as uuid), "userId", email
       from jsonb_to_recordset(cast(:people as jsonb)) as p ("userId" uuid, email text)`,
    { companyId, teamId, people: JSON.stringify(people) },
  )
}

export function presentTeam(team: TeamRow) {
  return presentFields(teamFields, team)
}
