/** What goes on while the product's own database can only be read, as after a failover or when its disk is full. */
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { startServer } from '../../helpers/server.ts'

t.test('while the database takes no writes, reads succeed and writes are asked to retry', async t => {
  const app = await startServer(t)
  const { db, jobs } = app.server
  const tenant = await app.signUp()
  const endings: string[] = []
  let look = () => {}
  const timers = t.intercept(globalThis, 'setInterval', {
    value: (tick: () => void) => ((look = tick), { unref() {} }),
    configurable: true,
  })
  jobs.watch({ note() {}, end: sentence => endings.push(sentence) })
  timers.restore()
  const [{ name }] = (await app.query('select current_database() as name')) as [{ name: string }]
  const path = '/api/v1/sdk/alerts/destinations'
  const payload = { name: 'hook', destination_type: 'webhook', config: { url: 'https://127.0.0.1:9/hook' } }
  const write = () => tenant.ask('POST', path, payload)
  // What was begun before would go on writing.
  const reconnect = () =>
    app.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
  await app.query(`alter database ${name} set default_transaction_read_only = on`)
  try {
    await reconnect()
    await wait(50)
    for (const credential of [tenant.key, tenant.token])
      t.match(await app.ask('GET', '/api/v1/assets', undefined, credential), { status: 200 })
    t.match(await app.ask('GET', '/api/v1/assets', undefined, `${tenant.key.slice(0, -1)}!`), { status: 401 })
    t.match(await write(), { status: 503, body: { error: { code: 'UNAVAILABLE', message: /\w/ } } })
    const { email, password } = tenant
    t.match(await app.ask('POST', '/api/v1/auth/login', { email, password }), { status: 503 })
    t.match(await app.ask('GET', '/health'), {
      status: 200,
      body: {
        data: { status: 'degraded', database: { status: 'up', writable: false } },
        message: /no writes/,
      },
    })
    for (let looks = 0; looks < 10; looks += 1) {
      look()
      await db.takesWrites()
      await wait(1)
    }
    t.strictSame(endings, [], 'that no job can be taken up ends no process that is still read from')
  } finally {
    await app.query(`alter database ${name} reset default_transaction_read_only`)
  }
  // Without any write, health notices by itself.
  let later = 0
  const { now } = performance
  const clock = t.intercept(performance, 'now', { value: () => now.call(performance) + later })
  let takesWrites = false
  for (let tries = 0; !takesWrites && tries < 20; tries += 1) {
    later += 31_000
    takesWrites = await db.takesWrites()
  }
  clock.restore()
  t.ok(takesWrites, 'health reports that it takes writes again')
  // Connections that began before are thrown away by what they refuse; some requests pay for it.
  let written = await write()
  for (let tries = 0; written.status === 503 && tries < 20; tries += 1) written = await write()
  t.equal(written.status, 201, JSON.stringify(written.body))
  // Those of jobs are thrown away in the same way, which no other test is to pay for.
  await reconnect()
})
