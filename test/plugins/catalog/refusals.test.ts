import t from 'tap'
import { discover, makeWorld } from '../../helpers/world.ts'

const world = await makeWorld(t, ['create table orders (id int)'])
const { tenant, asset } = world

t.test('what is wrong with a config names the config and what it may hold', async t => {
  await discover(world)
  const says = async (config: object, type = 'RANGE') => {
    const body = { rule_type: type, table_path: 'public.orders', column_name: 'id', rule_config: config }
    const { body: refused } = await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, body)
    return refused.error.details.error as string
  }
  t.equal(await says({}), 'give min or max in rule_config')
  t.match(
    await says({ min: 1, mix: 2 }),
    /^unknown field `rule_config\.mix`; did you mean `min` or `max`\? Allowed are min, max$/,
  )
})
