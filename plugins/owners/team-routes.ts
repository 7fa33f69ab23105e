import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../server/http/audit.ts'
import { bodyOf, param, queryOf } from '../../server/http/input.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import * as schemas from './schemas.ts'
import {
  changeTeam,
  createTeam,
  findTeam,
  listTeams,
  presentTeam,
  removeTeam,
  type TeamInput,
} from './teams.ts'

const base = '/api/v1/sdk/teams'
const route = routesOf('owners')
const audit = auditorOf('team', ({ id }: { id: string }) => id)

export const teamRoutes: ServerRoute[] = [
  route('GET', base, access.read, {
    description: 'List the teams of the company, by name',
    notes: 'With their members. A team owns assets, and its members own them too.',
    validate: { query: schemas.teamList },
    response: schemas.replies.teams,
    handler: request =>
      inCompany(request, async trx => {
        const page = queryOf<Page>(request)
        const { teams, total } = await listTeams(trx, page)
        return { data: { teams: teams.map(presentTeam), pagination: pagination(total, page) } }
      }),
  }),
  route('POST', base, access.write, {
    description: 'Create a team',
    notes: 'Members are users of the company, and addresses of people without an account.',
    validate: { payload: schemas.newTeam },
    response: schemas.replies.newTeam,
    app: { errors: ['CONFLICT'] },
    handler: async (request, h) => {
      const team = await inCompany(request, async trx => {
        const created = await createTeam(trx, bodyOf<TeamInput & { name: string }>(request))
        await audit(request, trx, 'created', created, { name: created.name })
        return created
      })
      return h.response({ data: presentTeam(team) }).code(201)
    },
  }),
  route('GET', `${base}/{id}`, access.read, {
    description: 'Get a team',
    notes: 'With its members. `GET /api/v1/sdk/owners/assets` lists what it owns.',
    validate: { params: schemas.teamParams },
    response: schemas.replies.team,
    app: { errors: ['NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => ({ data: presentTeam(await findTeam(trx, param(request, 'id'))) })),
  }),
  route('PATCH', `${base}/{id}`, access.write, {
    description: 'Change a team',
    notes: 'Fields that are left out keep their values; `members` replaces all members.',
    validate: { params: schemas.teamParams, payload: schemas.teamPatch },
    response: schemas.replies.team,
    app: { errors: ['NOT_FOUND', 'CONFLICT'] },
    handler: request =>
      inCompany(request, async trx => {
        const input = bodyOf<TeamInput>(request)
        const changed = await changeTeam(trx, param(request, 'id'), input)
        await audit(request, trx, 'updated', changed, { fields: fieldsOf(input) })
        return { data: presentTeam(changed) }
      }),
  }),
  route('DELETE', `${base}/{id}`, access.write, {
    description: 'Remove a team',
    notes: 'It owns nothing from now on. An alert rule that names no other owner is switched off.',
    validate: { params: schemas.teamParams },
    response: schemas.replies.teamRemoved,
    app: { errors: ['NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => {
        const removed = await removeTeam(request.server, trx, param(request, 'id'))
        await audit(request, trx, 'removed', removed, { name: removed.name })
        return { data: { success: true, message: 'The team was removed' } }
      }),
  }),
]
