import t from 'tap'
import { discover, makeWorld } from '../../../helpers/world.ts'

t.test('a connection test by hand raises no alert, and one that succeeds resolves an open one', async t => {
  const world = await makeWorld(t, ['create table orders (id int primary key)'])
  const { app, tenant, asset, source } = world
  const path = `/api/v1/sdk/assets/${asset.id}`
  const test = async () => (await tenant.ask('POST', `${path}/test-connection`)).body.data
  const alerts = () =>
    app.query(`select status, occurrences from alerts where kind = 'connection_failed' order by created_at`)
  const status = async () => (await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body.connection_status
  const setPassword = (password: string) => tenant.ask('PATCH', path, { connection_config: { password } })

  await setPassword('mistyped')
  t.match(await test(), { success: false, error_code: 'credentials' })
  t.equal(await status(), 'failed', 'it is remembered')
  t.strictSame(await alerts(), [])

  t.match(await discover(world), { status: 'failed' })
  t.strictSame(await alerts(), [{ status: 'triggered', occurrences: 1 }], 'work in the background raises one')
  t.match(await test(), { success: false })
  t.strictSame(await alerts(), [{ status: 'triggered', occurrences: 1 }], 'and a test does not count on it')

  await setPassword(source.config.password)
  t.match(await test(), { success: true })
  t.equal(await status(), 'connected')
  t.match(await alerts(), [{ status: 'resolved' }])
})
