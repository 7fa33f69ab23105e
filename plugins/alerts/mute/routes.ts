import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { crud } from '../../../server/http/crud.ts'
import { exampleRecord } from '../../../server/http/envelopes.ts'
import { createKeys, patchKeys, replyKeys } from '../../../server/http/fields.ts'
import { idParams } from '../../../server/http/input.ts'
import { pageQuery, type Page } from '../../../server/http/page.ts'
import type { Deps } from '../deps.ts'
import { muteFields } from './fields.ts'
import {
  changeMuteWindow,
  createMuteWindow,
  deleteMuteWindow,
  findMuteWindow,
  listMuteWindows,
  presentMuteWindows,
  type MuteWindowPatch,
  type NewMuteWindow,
} from './windows.ts'

export const muteRoutes = ({ lookUps }: Pick<Deps, 'lookUps'>): ServerRoute[] =>
  crud({
    tag: 'alert-rules',
    path: '/api/v1/sdk/alerts/mute-windows',
    params: idParams,
    record: exampleRecord(replyKeys(muteFields)).label('MuteWindow'),
    listName: 'mute_windows',
    kind: 'mute_window',
    auditDetails: ({ name }) => ({ name }),
    present: (_trx, windows) => presentMuteWindows(windows),
    list: {
      description: 'List mute windows',
      notes: 'Newest first, also those that are over. One that is open has `muted_until`.',
      query: Joi.object<Page>(pageQuery()),
      read: listMuteWindows,
    },
    create: {
      description: 'Create a mute window: a time in which no message about its alerts is sent',
      notes:
        'When it closes, what is still open is sent; what came and went within is not. Give `ends_at` for one that is open once, or `rules` and `timezone` for every week. All filters that are given must select an alert.',
      body: Joi.object<NewMuteWindow>(createKeys(muteFields))
        .required()
        .example({
          name: 'Nightly load',
          schemas: ['shop.shop.staging'],
          timezone: 'Europe/Berlin',
          rules: [{ days: [1, 2, 3, 4, 5], start: '22:00', end: '06:00' }],
        })
        .label('NewMuteWindow'),
      errors: ['ASSET_NOT_FOUND', 'LIMIT_REACHED'],
      write: (trx, body) => createMuteWindow(lookUps, trx, body),
    },
    get: {
      description: 'Get a mute window',
      notes: 'With its filters and times.',
      errors: ['NOT_FOUND'],
      read: findMuteWindow,
    },
    change: {
      method: 'PATCH',
      description: 'Change a mute window',
      notes:
        'Takes effect within a minute, also while it is open. Fields that are left out keep their values.',
      body: Joi.object<MuteWindowPatch>(patchKeys(muteFields))
        .min(1)
        .required()
        .example({ ends_at: '2026-03-15T04:00:00.000Z' })
        .label('UpdateMuteWindowRequest'),
      errors: ['NOT_FOUND', 'ASSET_NOT_FOUND'],
      write: (trx, id, patch) => changeMuteWindow(lookUps, trx, id, patch),
    },
    remove: {
      description: 'Delete a mute window',
      notes: 'What waits for its end is sent within a minute.',
      message: 'The mute window was deleted',
      errors: ['NOT_FOUND'],
      write: deleteMuteWindow,
    },
  })
