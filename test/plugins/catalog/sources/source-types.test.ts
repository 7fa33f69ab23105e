import t from 'tap'
import { startServer } from '../../../helpers/server.ts'

const app = await startServer(t)
const tenant = await app.signUp()

t.test('every engine comes with the settings of its connection, secrets as such', async t => {
  const { status, body } = await tenant.ask('GET', '/api/v1/sdk/source-types')
  t.equal(status, 200)
  const types = body.data.items as {
    source_type: string
    settings: { properties: Record<string, { writeOnly?: true; default?: unknown }>; required: string[] }
  }[]
  t.strictSame(types.map(({ source_type: name }) => name).toSorted(), app.server.connectors.names())
  const postgresql = types.find(({ source_type: name }) => name === 'postgresql')!
  t.match(postgresql, { label: 'PostgreSQL', capabilities: ['constraints'] })
  const { properties, required } = postgresql.settings
  t.strictSame(required, ['database', 'host', 'username'])
  t.equal(properties.port?.default, 5432)
  t.equal(properties.password?.writeOnly, true)
  t.ok(properties.timezone, 'the setting that all engines have')
})
