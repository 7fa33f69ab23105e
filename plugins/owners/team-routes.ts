import type { ServerRoute } from '@hapi/hapi'
import { crud } from '../../server/http/crud.ts'
import { newTeam, teamList, teamParams, teamPatch, teamRecord } from './schemas.ts'
import { changeTeam, createTeam, findTeam, listTeams, presentTeam, removeTeam } from './teams.ts'
import type { AlertsApi } from '../alerts/api.ts'

export const teamRoutes = (alerts: AlertsApi): ServerRoute[] =>
  crud({
    tag: 'owners',
    path: '/api/v1/sdk/teams',
    params: teamParams,
    record: teamRecord,
    listName: 'teams',
    kind: 'team',
    auditDetails: ({ name }) => ({ name }),
    present: (_trx, teams) => teams.map(presentTeam),
    list: {
      description: 'List the teams of the company, by name',
      notes: 'With their members. A team owns assets, and its members own them too.',
      query: teamList,
      read: listTeams,
    },
    create: {
      description: 'Create a team',
      notes: 'Members are users of the company, and addresses of people without an account.',
      errors: ['CONFLICT'],
      body: newTeam,
      write: createTeam,
    },
    get: {
      description: 'Get a team',
      notes: 'With its members. `GET /api/v1/sdk/owners/assets` lists what it owns.',
      errors: ['NOT_FOUND'],
      read: findTeam,
    },
    change: {
      method: 'PATCH',
      description: 'Change a team',
      notes: 'Fields that are left out keep their values; `members` replaces all members.',
      errors: ['NOT_FOUND', 'CONFLICT'],
      body: teamPatch,
      write: changeTeam,
    },
    remove: {
      description: 'Remove a team',
      notes: 'It owns nothing from now on. An alert rule that names no other owner is switched off.',
      errors: ['NOT_FOUND'],
      message: 'The team was removed',
      write: (trx, id) => removeTeam(trx, id, alerts),
    },
  })
