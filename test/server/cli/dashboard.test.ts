/** The job engine's own web page, as `tidemark dashboard` shows it of a database with queues. */
import { readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { runCommand } from '../../../server/cli/cli.ts'
import {
  DASHBOARD,
  DASHBOARD_RELEASE,
  findMismatches,
  openedSchemas,
} from '../../../server/cli/dashboard-pair.ts'
import { listDead, listQueues } from '../../../server/jobs/dead-letters.ts'
import type { Job } from '../../../server/jobs/jobs.ts'
import { flaky, hopeless, type Probe } from '../../helpers/extensions/probe-jobs.ts'
import { freePort } from '../../helpers/machine.ts'
import { SECRET_KEY, startServer } from '../../helpers/server.ts'

const EXTENSIONS = new URL('../../helpers/extensions/probe-jobs.ts', import.meta.url).href
const { server, query } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
const PASSWORD = 'a password of operators'
const authorization = `Basic ${Buffer.from(`operator:${PASSWORD}`).toString('base64')}`

/** Runs the command until the test ends, and gives its address and what it writes. */
async function openDashboard(words: string[]) {
  const port = await freePort()
  const written = { out: '', err: '' }
  const stop = new AbortController()
  const shown = Promise.withResolvers<void>()
  const complaints: { pattern: RegExp; resolve(): void }[] = []
  Object.assign(process.env, {
    LOG_LEVEL: 'silent',
    DATABASE_URL: server.config.databaseUrl,
    SECRET_KEY,
    DASHBOARD_PASSWORD: PASSWORD,
  })
  const ended = runCommand(['dashboard', '--port', String(port), ...words], {
    out(line) {
      written.out += `${line}\n`
      if (line.startsWith('sign-in')) shown.resolve()
    },
    err(line) {
      written.err += `${line}\n`
      for (const { pattern, resolve } of complaints) if (pattern.test(written.err)) resolve()
    },
    signal: stop.signal,
  })
  void ended.then(code => shown.reject(new Error(`ended with ${code}: ${written.err}`)))
  await shown.promise
  const ask = async (path: string, init: RequestInit = {}) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { authorization, ...init.headers },
    })
    return { status: reply.status, text: await reply.text() }
  }
  /** Resolves when it has written to the error stream what matches. */
  const complains = (pattern: RegExp) =>
    new Promise<void>(resolve => {
      complaints.push({ pattern, resolve })
      if (pattern.test(written.err)) resolve()
    })
  async function retry(queue: string, job: string): Promise<void> {
    const body = new URLSearchParams({ intent: 'retry' })
    const { status, text } = await ask(`/queues/${queue}/jobs/${job}`, { method: 'POST', body })
    if (status !== 200) throw new Error(text)
  }
  async function close(): Promise<number> {
    stop.abort(new Error('SIGINT'))
    return ended
  }
  return { ask, written, complains, retry, close }
}

const letters = async (job: Job<Probe>) => (await listDead(server, { queue: job.name }, { limit: 10 })).dead

/** Waits until a try of the probe ends in this way after an act. */
async function settles(job: Job<Probe>, probe: string, state: string, act: () => Promise<unknown>) {
  server.jobs.forgetSettled()
  await act()
  while ((await server.jobs.settled(job, ({ id }) => id === probe)) !== state) server.jobs.forgetSettled()
}

/** A job that failed for good, with an error that an operator looks for. */
async function failedJob(): Promise<string> {
  const id = randomUUID()
  await query(
    `insert into pgboss.job (id, name, data, state, output, retry_limit, started_on, completed_on)
     values ($1, 'scans.run', '{"table_id": "the-table"}', 'failed', '{"message": "the cause of it"}', 0, now(), now())`,
    [id],
  )
  return id
}

async function storedSchema(): Promise<number> {
  const [stored] = await query('select version from pgboss.version')
  return Number(stored?.version)
}

t.test('the dashboard opens a job and shows its error and its data', async t => {
  const dashboard = await openDashboard(['--changes'])
  const id = await failedJob()
  const page = await dashboard.ask(`/queues/scans.run/jobs/${id}`)
  t.equal(page.status, 200, dashboard.written.err)
  t.match(page.text, 'the cause of it')
  t.match(page.text, 'the-table')
  t.equal(dashboard.written.err, '', 'without a complaint')
  for (const path of ['/', '/queues', '/jobs', '/schedules', '/warnings', '/queues/scans.run'])
    t.equal((await dashboard.ask(path)).status, 200, path)
  t.equal(await dashboard.close(), 0)
})

t.test('a job that fails again after a Retry in the dashboard is one dead letter, not two', async t => {
  const dashboard = await openDashboard(['--changes'])
  const probe = randomUUID()
  const retry = (job: string) => settles(hopeless, probe, 'failed', () => dashboard.retry(hopeless.name, job))
  let first = ''
  await settles(hopeless, probe, 'failed', async () => {
    first = await server.jobs.send(hopeless, { id: probe })
  })
  const [letter] = await letters(hopeless)
  await retry(first)
  const [later, ...more] = await letters(hopeless)
  t.ok(letter && later && letter.id !== later.id, 'the later failure')
  t.strictSame(more, [])
  const counted = (await listQueues(server.jobs, server)).find(({ queue }) => queue === hopeless.name)
  t.equal(counted?.dead, 1)

  // Redriven, it is another job.
  await settles(hopeless, probe, 'failed', () => server.jobs.redrive({ queue: hopeless.name }))
  const [redriven] = await query(
    `select id from pgboss.job where name = $1 and state = 'failed' and id <> $2`,
    [...[hopeless.name, first]],
  )
  await retry(String(redriven?.id))
  t.equal((await letters(hopeless)).length, 1)
  t.equal(await dashboard.close(), 0)
})

t.test('a job that succeeds after a Retry in the dashboard is no dead letter', async t => {
  const dashboard = await openDashboard(['--changes'])
  const probe = randomUUID()
  const id = await server.jobs.send(flaky, { id: probe, failures: 3 })
  while ((await letters(flaky)).length === 0) await wait(20)
  await settles(flaky, probe, 'completed', () => dashboard.retry(flaky.name, id))
  t.strictSame(await letters(flaky), [])
  t.equal(await dashboard.close(), 0)
})

t.test('what the dashboard complains about is written by the command', async t => {
  const dashboard = await openDashboard([])
  const id = await failedJob()
  const version = await storedSchema()
  await query('update pgboss.version set version = 9000')
  t.teardown(() => query('update pgboss.version set version = $1', [version]))
  t.equal((await dashboard.ask(`/queues/scans.run/jobs/${id}`)).status, 500)
  await dashboard.complains(/requires migrations/)
  t.equal(await dashboard.close(), 0)

  const again = await openDashboard([])
  t.match(
    again.written.err,
    /^warning: The queues have schema 9000, .* schema 42 and 43: run this command of/,
  )
  t.equal(await again.close(), 0)
})

t.test(
  'the release that is tested is the one that is advised, and it knows the schema of this version',
  async t => {
    const { devDependencies } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    ) as { devDependencies: Record<string, string> }
    t.equal(devDependencies[DASHBOARD], DASHBOARD_RELEASE)
    const version = await storedSchema()
    t.ok(openedSchemas.includes(version), `schema ${version}`)
    t.strictSame(findMismatches(DASHBOARD_RELEASE, version), [])
    t.match(findMismatches('1.7.0', version), [
      /^The dashboard 1\.7\.0 is installed, .*: npm install @pg-boss\/dashboard@1\.9\.0$/,
    ])
  },
)
