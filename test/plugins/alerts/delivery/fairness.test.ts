import type { ServerResponse } from 'node:http'
import t from 'tap'
import type { AttemptData } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { deliverJob, retryJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import type { JobKind } from '../../../../server/jobs/jobs.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'
import { makeWorld, type World } from '../world.ts'

/** More destinations than one company has slots for retries in a process. */
const SILENT_DESTINATIONS = 36

const slotsOf = ({ concurrency }: JobKind<AttemptData>) => concurrency?.local ?? 0

/** Jobs of a kind that a company holds a worker with. */
async function held({ query }: TestServer, job: JobKind<AttemptData>, { companyId }: World): Promise<number> {
  const [found] = await query(
    `select count(*)::int as held from pgboss.job
      where name = $1 and state = 'active' and data ->> 'company_id' = $2`,
    [job.name, companyId],
  )
  return Number(found?.held)
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(resolve => setTimeout(resolve, 50))
}

const causes = (count: number, label: string) =>
  Array.from({ length: count }, (_, n) => ({ cause: `${label}:${n}` }))

t.test('silent receivers of one company hold up no attempt of another', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' } })
  const [hog, other] = [await makeWorld(app, 'Hog'), await makeWorld(app, 'Other')]
  const third = await makeWorld(app, 'Third')
  const [silent, well] = [await startReceiver(t), await startReceiver(t)]
  silent.answer(() => undefined)
  for (let n = 0; n < SILENT_DESTINATIONS; n += 1) await hog.addDestination({ url: `${silent.url}/${n}` })
  for (let n = 0; n < 12; n += 1) await third.addDestination({ url: `${silent.url}/third/${n}` })
  await other.addDestination({ url: well.url })
  const setFailing = (failing: boolean) =>
    app.query(`update destinations set failing_since = case when $1 then now() end`, [failing])
  const [first, later] = [slotsOf(deliverJob), slotsOf(retryJob)].map(slots => slots / 2)

  await hog.raiseAll(causes(4, 'first'))
  await silent.received(first!)
  await other.raise({ cause: 'first' })
  await well.received(1)
  t.equal(await held(app, deliverJob, hog), first, 'first attempts hold half of the slots')
  const ended = await app.query(`select from delivery_attempts where error_class = 'timeout'`)
  t.equal(ended.length, 0, 'before any silent receiver is given up on')

  await setFailing(true)
  await hog.raiseAll(causes(4, 'later'))
  await until(async () => (await held(app, retryJob, hog)) === later)
  await other.raise({ cause: 'later' })
  await well.received(2)
  t.equal(await held(app, retryJob, hog), later, 'later attempts hold half of the slots')

  await setFailing(false)
  await third.raiseAll(causes(4, 'first'))
  await until(async () => (await held(app, deliverJob, third)) === first! / 2)
  await other.raise({ cause: 'beside two' })
  await well.received(3)
  t.equal(await held(app, deliverJob, third), first! / 2, 'the next company holds half of what is left')
})

t.test('a backlog of one company takes turns with another, first attempts and later ones', async t => {
  const app = await startServer(t)
  await app.server.jobs.drain({ finishMs: 1_000, letGoMs: 1_000 })
  t.equal(app.server.jobs.lookedAt(), null, 'it takes up no more, so that no other test gets it')
  const [first, second] = [await makeWorld(app, 'First'), await makeWorld(app, 'Second')]
  const receiver = await startReceiver(t)
  for (const { addDestination } of [first, second]) await addDestination({ url: receiver.url })
  const order = async (job: JobKind<AttemptData>) => {
    const jobs = await app.query(
      `select data ->> 'company_id' as company from pgboss.job where name = $1 and state = 'created'
        order by priority desc, created_on`,
      [job.name],
    )
    return jobs.map(({ company }) => (company === first.companyId ? 'first' : 'second')).join(' ')
  }
  for (const job of [deliverJob, retryJob]) {
    const isFailing = job === retryJob
    await app.query('update destinations set failing_since = case when $1 then now() end', [isFailing])
    await first.raiseAll(causes(4, job.name))
    await first.raise({ cause: `${job.name} alone` })
    await second.raiseAll(causes(2, job.name))
    t.equal(await order(job), 'first second first second first first first', job.name)
  }
})

t.test('a destination has four requests in flight at most, first and later attempts together', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' } })
  const [world, other] = [await makeWorld(app), await makeWorld(app, 'Other')]
  const [receiver, well] = [await startReceiver(t), await startReceiver(t)]
  const open: ServerResponse[] = []
  let most = 0
  receiver.answer((_request, response) => {
    open.push(response)
    most = Math.max(most, open.length)
  })
  await app.startTwin()
  const { id } = await world.addDestination({ url: receiver.url })
  await other.addDestination({ url: well.url })
  await world.raiseAll(causes(12, 'first'))
  await receiver.received(3)
  await app.query('update destinations set failing_since = now()')
  await world.raiseAll(causes(6, 'later'))
  await receiver.received(4)
  // The jobs of another company come last in both queues: by then the workers have passed all that may not start.
  await other.raise({ cause: 'later' })
  await app.query('update destinations set failing_since = null where id <> $1', [id])
  await other.raise({ cause: 'first' })
  await well.received(2)
  t.equal(open.length, 4)
  const undelivered = async () =>
    (await app.query(`select from deliveries where status <> 'delivered'`)).length
  while ((await undelivered()) > 0) {
    open.splice(0).forEach(response => response.writeHead(200).end())
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  t.equal(receiver.requests.length, 18)
  t.equal(most, 4)
})
