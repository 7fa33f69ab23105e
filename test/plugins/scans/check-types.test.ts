import t from 'tap'
import { startServer } from '../../helpers/server.ts'

const app = await startServer(t)
const tenant = await app.signUp()

t.test('every type of rule and metric comes with its settings', async t => {
  const { status, body } = await tenant.ask('GET', '/api/v1/sdk/check-types')
  t.equal(status, 200)
  const types = body.data.items as { type: string; family: string; settings: object }[]
  t.strictSame(types.map(({ type }) => type).toSorted(), app.server.checks.names().toSorted())
  t.match(
    types.find(({ type }) => type === 'RANGE')!,
    {
      family: 'rule',
      column: 'required',
      settings: { properties: { min: Object, max: Object } },
    },
  )
  t.match(
    types.find(({ type }) => type === 'percentile')!,
    {
      family: 'metric',
      settings: { properties: { percentile_value: Object } },
    },
  )
})
