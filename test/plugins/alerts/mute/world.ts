import type { Tenant, TestServer } from '../../../helpers/server.ts'
import { passTime, sweepStep } from '../time.ts'
import { ALERTS } from '../world.ts'

export const WINDOWS = `${ALERTS}/mute-windows`

export const fromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()

export async function mute(ask: Tenant['ask'], filters: object = {}, minutes = 60): Promise<string> {
  const { status, body } = await ask('POST', WINDOWS, { name: 'Move', ends_at: fromNow(minutes), ...filters })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.data.id
}

/** Lets the windows, alerts and messages of a company become older, and sends what is due. */
export async function wait(app: TestServer, companyId: string, minutes: number): Promise<number> {
  await passTime(app, companyId, minutes)
  await app.query(
    `update mute_windows set starts_at = starts_at - make_interval(mins => $2), ends_at = ends_at - make_interval(mins => $2)
      where company_id = $1`,
    [companyId, minutes],
  )
  return sweepStep(app.server, 'postponed')
}

/** The messages to a destination that are not postponed, oldest first. */
export async function listSent(app: TestServer, destinationId: string): Promise<string[]> {
  const messages = await app.query(
    `select event_type from deliveries d
      where destination_id = $1 and status <> 'stopped' and (job_id is not null or attempt > 0) order by id`,
    [destinationId],
  )
  return messages.map(({ event_type: type }) => String(type))
}
