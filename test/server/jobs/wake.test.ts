import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { discoverJob } from '../../../plugins/catalog/discovery/jobs.ts'
import { scanJob } from '../../../plugins/checks/jobs.ts'
import { wakeForDueJobs } from '../../../server/jobs/wake.ts'
import { startServer } from '../../helpers/server.ts'

t.test('one statement for all queues wakes the workers of those with a job that may start', async t => {
  const { server, query } = await startServer(t, { settings: { ROLE: 'web' } })
  const data = () => ({ company_id: randomUUID(), run_id: randomUUID() })
  await server.jobs.send(discoverJob, data(), { after: 3600 })
  const asked: string[] = []
  const woken: string[] = []
  const executeSql = async (text: string, values?: unknown[]) => {
    asked.push(text)
    return { rows: await query(text, values) }
  }
  const names = [discoverJob.name, scanJob.name]
  const end = wakeForDueJobs(
    { getDb: () => ({ executeSql }) },
    new Map(names.map(name => [name, () => void woken.push(name)])),
  )
  t.teardown(end)
  while (asked.length === 0) await wait(50)
  t.strictSame([asked.length, woken], [1, []], 'the job is for later')
  await query('update pgboss.job set start_after = now() where name = $1', [discoverJob.name])
  while (woken.length === 0) await wait(50)
  t.strictSame([asked.length, woken], [2, [discoverJob.name]])
})
