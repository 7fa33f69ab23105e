import { v7 } from 'uuid'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import { columnsOf, presentFields, type CreateBody, type PatchBody } from '../../../server/http/fields.ts'
import { newestFirst, pageOf, type Page } from '../../../server/http/page.ts'
import type { LookUps } from '../api.ts'
import { reviewPostponed } from '../delivery/postponed.ts'
import { requireKnownTargets } from '../rules/rules.ts'
import { muteFields } from './fields.ts'
import { MuteWindow } from './models.ts'
import { endOfWindow } from './times.ts'

export type NewMuteWindow = CreateBody<MuteWindow, typeof muteFields>
export type MuteWindowPatch = PatchBody<MuteWindow, typeof muteFields>

const NEWEST_FIRST = newestFirst('createdAt', 'id')
const MAX_DAYS = 366
const DAY_MS = 86_400_000

export const listMuteWindows = (trx: Transaction, page: Page) =>
  pageOf(MuteWindow.query(trx).orderBy(NEWEST_FIRST), page)

/** @throws 404 `NOT_FOUND` */
export async function findMuteWindow(trx: Transaction, id: string): Promise<MuteWindow> {
  const window = await MuteWindow.query(trx).findById(id)
  if (window) return window
  const message = 'There is no mute window of this id: GET /api/v1/sdk/alerts/mute-windows lists them'
  throw apiError('NOT_FOUND', message, { mute_window_id: id })
}

/** @throws 404 for an asset that does not exist, 400 for times that make no window */
export async function createMuteWindow(
  lookUps: Partial<LookUps>,
  trx: Transaction,
  body: NewMuteWindow,
): Promise<MuteWindow> {
  await requireKnownTargets(lookUps, trx, { asset_ids: body.asset_ids ?? null })
  const window = withStart(columnsOf(muteFields, body) as Partial<MuteWindow>)
  requireTimes(window)
  return MuteWindow.query(trx)
    .insert({ id: v7(), ...window })
    .returning('*')
}

/** Changes what is given. What waits for the end of the window is looked at again. @throws as `createMuteWindow` */
export async function changeMuteWindow(
  lookUps: Partial<LookUps>,
  trx: Transaction,
  id: string,
  patch: MuteWindowPatch,
): Promise<MuteWindow> {
  const before = await findMuteWindow(trx, id)
  await requireKnownTargets(
    lookUps,
    trx,
    { asset_ids: patch.asset_ids ?? null },
    { assetIds: before.assetIds, destinationIds: [] },
  )
  const columns = columnsOf(muteFields, patch) as Partial<MuteWindow>
  const after = withStart({ ...before, ...columns })
  requireTimes(after)
  const [changed] = await MuteWindow.query(trx)
    .where({ id })
    .patch({ ...columns, startsAt: after.startsAt ?? null, updatedAt: new Date() })
    .returning('*')
  await reviewPostponed(trx)
  return changed ?? before
}

/** Deletes a window. What waits for its end is sent by the next sweep. @throws 404 `NOT_FOUND` */
export async function deleteMuteWindow(trx: Transaction, id: string): Promise<MuteWindow> {
  const window = await findMuteWindow(trx, id)
  await MuteWindow.query(trx).where({ id }).delete()
  await reviewPostponed(trx)
  return window
}

/** A window that is open once begins now unless it says otherwise. */
function withStart(window: Partial<MuteWindow>): Partial<MuteWindow> {
  return window.endsAt && !window.startsAt ? { ...window, startsAt: new Date() } : window
}

/** @throws 400 unless a window has either a start and an end, or hours and their time zone */
function requireTimes({ startsAt, endsAt, timezone, rules }: Partial<MuteWindow>): void {
  if (rules) {
    if (startsAt || endsAt)
      throw invalidField('ends_at', 'cannot stand beside rules: a window is open once or every week')
    if (!timezone) throw invalidField('timezone', 'is missing: the rules are hours of a time zone')
    return
  }
  if (timezone) throw invalidField('timezone', 'has no effect without rules: give rules too')
  if (!startsAt || !endsAt)
    throw invalidField('ends_at', 'is missing: give ends_at, or rules and timezone for every week')
  if (endsAt <= startsAt) throw invalidField('ends_at', 'must lie after starts_at')
  if (endsAt.getTime() - startsAt.getTime() > MAX_DAYS * DAY_MS)
    throw invalidField('ends_at', `must lie within ${MAX_DAYS} days after starts_at`)
}

export function presentMuteWindows(windows: readonly MuteWindow[]) {
  const now = new Date()
  return windows.map(window =>
    presentFields(muteFields, {
      ...window,
      mutedUntil: window.isActive ? endOfWindow(window, now) : null,
    }),
  )
}
