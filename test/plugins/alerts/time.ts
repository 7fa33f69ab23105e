import type { Server } from '@hapi/hapi'
import { sweepJob } from '../../../plugins/alerts/jobs.ts'
import type { SweepStep } from '../../../plugins/alerts/api.ts'
import type { TestServer } from '../../helpers/server.ts'

type Sweep = Server['plugins']['alerts']['sweep']

/** Runs a step of the sweep. The error of a company is thrown instead of logged. */
export function sweepStep(server: Server, step: keyof Sweep): Promise<number> {
  const error = ({ err }: { err: Error }) => {
    throw err
  }
  return server.plugins.alerts.sweep[step]({ error } as unknown as Parameters<SweepStep>[0])
}

/** Runs the sweep of alerts as a job, on any of the servers of a database, and waits until it is completed. @returns what it did */
export async function runSweep({ query }: TestServer, server: Server): Promise<unknown> {
  const id = await server.jobs.send(sweepJob, {})
  for (;;) {
    const [job] = await query(`select state, output from pgboss.job where id = $1`, [id])
    if (job?.state === 'completed') return job.output
    if (job?.state === 'failed') throw new Error('The sweep failed')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

/** Lets minutes pass for a company: its alerts and messages become older by as much. */
export async function passTime({ query }: TestServer, companyId: string, minutes: number): Promise<void> {
  await query(
    `update alerts set created_at = created_at - make_interval(mins => $2), resolved_at = resolved_at - make_interval(mins => $2),
            snoozed_until = snoozed_until - make_interval(mins => $2)
      where company_id = $1`,
    [companyId, minutes],
  )
  await query(
    `update deliveries set created_at = created_at - make_interval(mins => $2),
            next_attempt_at = next_attempt_at - make_interval(mins => $2)
      where company_id = $1`,
    [companyId, minutes],
  )
}
