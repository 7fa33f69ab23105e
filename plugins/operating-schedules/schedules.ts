import { isDeepStrictEqual } from 'node:util'
import { v4 } from 'uuid'
import type { Schedule } from '../../checks/detector.ts'
import type { Transaction } from '../../server/database/database.ts'
import { apiError } from '../../server/http/errors.ts'
import { newestFirst, type Page, pageOf } from '../../server/http/page.ts'
import type { OperatingSchedulesApi, ScheduleUse, ScheduleUser } from './api.ts'
import { OperatingSchedule } from './models.ts'
import { lockOperatingSchedule, type SchedulePurpose } from './locks.ts'

/** The body of a new schedule, validated. */
export interface NewSchedule extends Schedule {
  name: string
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A schedule by id. @throws 404 `SCHEDULE_NOT_FOUND`, the same for what never was and what is another company's */
export async function findSchedule(
  trx: Transaction,
  id: string,
  lock?: SchedulePurpose,
): Promise<OperatingSchedule> {
  const known = UUID.test(id) ? id.toLowerCase() : undefined
  const schedule =
    known &&
    (await (lock ? lockOperatingSchedule(trx, known, lock) : OperatingSchedule.query(trx).findById(known)))
  if (schedule) return schedule
  const message = 'There is no such operating schedule: GET /api/v1/operating-schedules lists them'
  throw apiError('SCHEDULE_NOT_FOUND', message, { operating_schedule_id: id })
}

/** `find` of what other features may ask. */
export const find: OperatingSchedulesApi['find'] = async (trx, scheduleId) => {
  const found = await findSchedule(trx, scheduleId, 'use')
  return { id: found.id, schedule: hoursOf(found) }
}

/** `hours` of what other features may ask, by one statement, and by none where no schedule is asked for. */
export const loadHours: OperatingSchedulesApi['loadHours'] = async (trx, scheduleIds) => {
  if (scheduleIds.length === 0) return new Map()
  const found = await OperatingSchedule.query(trx).findByIds([...new Set(scheduleIds)])
  return new Map(found.map(schedule => [schedule.id, hoursOf(schedule)]))
}

/** `loadHoursOfTable` of what other features may ask. */
export async function loadHoursOfTable(
  trx: Transaction,
  tableId: string,
  users: readonly ScheduleUser[],
): Promise<Schedule | null> {
  const ids: string[] = []
  for (const user of users) ids.push(...(await user.listOfTable(trx, tableId)))
  const found = await loadHours(trx, ids)
  return found.size === 1 ? [...found.values()][0]! : null
}

/** One page of the company's schedules, newest first, and how many there are. */
export async function listSchedules(trx: Transaction, { limit, offset }: Page) {
  return pageOf(OperatingSchedule.query(trx).orderBy(newestFirst('createdAt', 'id')), { limit, offset })
}

/** Makes a schedule; several may have one name. */
export async function createSchedule(trx: Transaction, body: NewSchedule): Promise<OperatingSchedule> {
  return OperatingSchedule.query(trx)
    .insert({ id: v4(), ...body })
    .returning('*')
}

/** Changes what is given; notifies the features that use the schedule when its hours change. */
export async function patchSchedule(
  trx: Transaction,
  id: string,
  patch: Partial<NewSchedule>,
  users: readonly ScheduleUser[],
): Promise<OperatingSchedule> {
  const before = await findSchedule(trx, id, 'change')
  const after = await OperatingSchedule.query(trx).patchAndFetchById(before.id, {
    ...patch,
    updatedAt: new Date(),
  })
  if (!isDeepStrictEqual(hoursOf(before), hoursOf(after))) {
    for (const user of users) await user.onHoursChanged(trx, before.id)
  }
  return after
}

const hoursOf = ({ timezone, rules }: OperatingSchedule): Schedule => ({ timezone, rules })

const MAX_LISTED_USES = 100

/** What uses a schedule, by feature: how many of its records do, and the first 100. @throws 404 `SCHEDULE_NOT_FOUND` */
export async function listUses(
  trx: Transaction,
  id: string,
  users: readonly ScheduleUser[],
): Promise<{ kind: string; count: number; items: ScheduleUse[] }[]> {
  const schedule = await findSchedule(trx, id)
  const uses = []
  for (const user of users)
    uses.push({
      kind: user.name,
      count: await user.count(trx, schedule.id),
      items: await user.list(trx, schedule.id, MAX_LISTED_USES),
    })
  return uses
}

/**
 * Deletes a schedule that nothing uses. The lock keeps records that name it from being made meanwhile.
 * @throws 409 `CONFLICT` naming how many records use it
 */
export async function deleteSchedule(
  trx: Transaction,
  id: string,
  users: readonly ScheduleUser[],
): Promise<OperatingSchedule> {
  const schedule = await findSchedule(trx, id, 'delete')
  const uses: { name: string; count: number }[] = []
  for (const user of users) uses.push({ name: user.name, count: await user.count(trx, schedule.id) })
  const found = uses.filter(({ count }) => count > 0)
  if (found.length === 0) {
    await OperatingSchedule.query(trx).deleteById(schedule.id)
    return schedule
  }
  const by = found.map(({ name, count }) => `${count} ${name}`).join(' and ')
  throw apiError(
    'CONFLICT',
    `The operating schedule ${schedule.name} is in use by ${by}: change their operating_schedule_id, or make it null, first`,
    {
      operating_schedule_id: schedule.id,
      ...Object.fromEntries(found.map(({ name, count }) => [name, count])),
    },
  )
}
