import t from 'tap'
import { startServer } from '../../../helpers/server.ts'

const app = await startServer(t)
const tenant = await app.signUp()

t.test('every type of destination comes with its settings, and says why none can be made', async t => {
  const { status, body } = await tenant.ask('GET', '/api/v1/sdk/alerts/destination-types')
  t.equal(status, 200)
  const types = body.data.items as { destination_type: string; unavailable: string | null }[]
  t.strictSame(types.map(({ destination_type: name }) => name).toSorted(), app.server.destinations.names())
  t.match(
    types.find(({ destination_type: name }) => name === 'webhook')!,
    {
      unavailable: null,
      settings: { required: ['url'] },
    },
  )
  t.match(
    types.find(({ destination_type: name }) => name === 'email')!.unavailable,
    /SMTP/,
    'no mail server is configured',
  )
})
