import { setTimeout as wait } from 'node:timers/promises'
import { rows } from '../../server/database/database.ts'
import type { DemoDeps } from './deps.ts'
import { PEOPLE, type PastStep } from './past-faults.ts'

/**
 * Does something now that counts as done at another time: what it stored is moved there at once, so that what comes after
 * finds it in the past.
 * @returns the ids of the incidents that are open then
 */
export async function asOf(
  { db, alerts, catalog }: Pick<DemoDeps, 'db' | 'alerts' | 'catalog'>,
  companyId: string,
  at: Date,
  work: () => Promise<void>,
): Promise<string[]> {
  const since = await db.company(companyId, async trx => {
    const [clock] = await rows<{ now: Date }>(trx, 'select clock_timestamp() as now', {})
    return clock!.now
  })
  await work()
  return db.company(companyId, async trx => {
    const open = await alerts.demo.past.group(trx, since)
    await catalog.demo.move(trx, since, at)
    await alerts.demo.past.move(trx, since, at)
    return open
  })
}

/** The ids of the people, by their short names. */
export function findPeople(
  { db }: Pick<DemoDeps, 'db'>,
  companyId: string,
): Promise<Record<keyof typeof PEOPLE, string>> {
  return db.company(companyId, async trx => {
    const users = await rows<{ id: string; email: string }>(
      trx,
      'select id, email from users where company_id = :companyId',
      { companyId },
    )
    const idOf = (person: keyof typeof PEOPLE) => {
      const user = users.find(({ email }) => email === PEOPLE[person].email)
      if (!user) throw new Error(`The demo has no user ${PEOPLE[person].email}`)
      return user.id
    }
    return { ana: idOf('ana'), li: idOf('li') }
  })
}

/** Does what a person did about an incident. */
export async function takeStep(
  { alerts }: Pick<DemoDeps, 'alerts'>,
  {
    companyId,
    incident,
    step,
    userId,
  }: { companyId: string; incident: string; step: PastStep; userId: string },
): Promise<void> {
  const { after: _after, by: _by, takesOn, acceptsSchema: _accepts, ...done } = step
  await alerts.demo.past.act(companyId, incident, `user:${userId}`, {
    ...done,
    ...(takesOn && { assigneeId: userId }),
  })
}

const POLL_INTERVAL_MS = 100
const MAX_POLLS = 300

/** Waits until the messages about the past were sent, and moves their attempts there. */
export async function settleMessages({ db, alerts }: Pick<DemoDeps, 'db' | 'alerts'>, companyId: string) {
  for (let n = 0; n < MAX_POLLS; n++) {
    const pending = await db.company(companyId, trx => alerts.demo.past.moveAttempts(trx))
    if (pending === 0) return
    await wait(POLL_INTERVAL_MS)
  }
}
