import { isDeepStrictEqual } from 'node:util'
import { v4, validate as isUuid } from 'uuid'
import type { Schedule } from '../../checks/detector.ts'
import type { Transaction } from '../../server/database/database.ts'
import { apiError } from '../../server/http/errors.ts'
import { presentFields } from '../../server/http/fields.ts'
import { newestFirst, type Page, pageOf } from '../../server/http/page.ts'
import { scheduleFields } from './fields.ts'
import { lockOperatingSchedule, type SchedulePurpose } from './locks.ts'
import { OperatingSchedule } from './models.ts'
import type { NewSchedule, SchedulePatch } from './schemas.ts'
import type { ScheduleUse, ScheduleUser } from './users.ts'

const MAX_LISTED_USES = 100

/** Operating schedules of the companies, and the features whose records name them. */
export function makeOperatingSchedules() {
  const users: ScheduleUser[] = []

  /** Adds a feature that is checked before a schedule is deleted, and notified when one changes. */
  function addUser(user: ScheduleUser): void {
    users.push(user)
  }

  /**
   * The hours in which a table operates: those of the one schedule that the active checks of the table name; null
   * without one, or where they name several.
   */
  async function loadHoursOfTable(trx: Transaction, tableId: string): Promise<Schedule | null> {
    const ids: string[] = []
    for (const user of users) ids.push(...(await user.listOfTable(trx, tableId)))
    const hours = await loadHours(trx, ids)
    return hours.size === 1 ? [...hours.values()][0]! : null
  }

  /** Changes what is given; notifies the features that use the schedule when its hours change. */
  async function patchSchedule(
    trx: Transaction,
    id: string,
    patch: SchedulePatch,
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

  /** What uses a schedule, by feature: how many of its records do, and the first 100. @throws 404 `SCHEDULE_NOT_FOUND` */
  async function listUses(trx: Transaction, id: string) {
    const schedule = await findSchedule(trx, id)
    const uses: { kind: string; count: number; items: ScheduleUse[] }[] = []
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
  async function deleteSchedule(trx: Transaction, id: string): Promise<OperatingSchedule> {
    const schedule = await findSchedule(trx, id, 'delete')
    const counts: { name: string; count: number }[] = []
    for (const user of users) counts.push({ name: user.name, count: await user.count(trx, schedule.id) })
    const used = counts.filter(({ count }) => count > 0)
    if (used.length === 0) {
      await OperatingSchedule.query(trx).deleteById(schedule.id)
      return schedule
    }
    const by = used.map(({ name, count }) => `${count} ${name}`).join(' and ')
    throw apiError(
      'CONFLICT',
      `The operating schedule ${schedule.name} is in use by ${by}: change their operating_schedule_id, or make it null, first`,
      {
        operating_schedule_id: schedule.id,
        ...Object.fromEntries(used.map(({ name, count }) => [name, count])),
      },
    )
  }

  return {
    addUser,
    createSchedule,
    deleteSchedule,
    find,
    findSchedule: (trx: Transaction, id: string) => findSchedule(trx, id),
    listSchedules,
    listUses,
    loadHours,
    loadHoursOfTable,
    patchSchedule,
    presentSchedules,
  }
}

/** A schedule by id. @throws 404 `SCHEDULE_NOT_FOUND`, the same for what never was and what is another company's */
async function findSchedule(
  trx: Transaction,
  id: string,
  lock?: SchedulePurpose,
): Promise<OperatingSchedule> {
  const uuid = isUuid(id) ? id.toLowerCase() : undefined
  const schedule =
    uuid &&
    (await (lock ? lockOperatingSchedule(trx, uuid, lock) : OperatingSchedule.query(trx).findById(uuid)))
  if (schedule) return schedule
  const message = 'There is no such operating schedule: GET /api/v1/operating-schedules lists them'
  throw apiError('SCHEDULE_NOT_FOUND', message, { operating_schedule_id: id })
}

/**
 * A schedule of the company, in the form that the detector takes. It cannot be changed or deleted before the
 * transaction ends.
 * @throws 404 `SCHEDULE_NOT_FOUND`, also for a malformed id
 */
async function find(trx: Transaction, scheduleId: string): Promise<{ id: string; schedule: Schedule }> {
  const schedule = await findSchedule(trx, scheduleId, 'use')
  return { id: schedule.id, schedule: hoursOf(schedule) }
}

/**
 * The hours of schedules by id, those of now and free to be changed: for who has locked the records that name them,
 * which a change of hours comes to after the schedule, so that each would wait for the other.
 */
async function loadHours(
  trx: Transaction,
  scheduleIds: readonly string[],
): Promise<ReadonlyMap<string, Schedule>> {
  if (scheduleIds.length === 0) return new Map()
  const schedules = await OperatingSchedule.query(trx).findByIds([...new Set(scheduleIds)])
  return new Map(schedules.map(schedule => [schedule.id, hoursOf(schedule)]))
}

const hoursOf = ({ timezone, rules }: OperatingSchedule): Schedule => ({ timezone, rules })

/** One page of the company's schedules, newest first, and how many there are. */
function listSchedules(trx: Transaction, page: Page) {
  return pageOf(OperatingSchedule.query(trx).orderBy(newestFirst('createdAt', 'id')), page)
}

/** Makes a schedule; several may have one name. */
async function createSchedule(trx: Transaction, body: NewSchedule): Promise<OperatingSchedule> {
  return OperatingSchedule.query(trx)
    .insert({ id: v4(), ...body })
    .returning('*')
}

function presentSchedules(_trx: Transaction, schedules: readonly OperatingSchedule[]) {
  return schedules.map(schedule => {
    // As they were written: jsonb has an order of its own for keys.
    const rules = schedule.rules.map(({ days, start, end }) => ({ days, start, end }))
    return presentFields(scheduleFields, { ...schedule, rules })
  })
}
