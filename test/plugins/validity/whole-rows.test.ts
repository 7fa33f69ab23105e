import t from 'tap'
import { discover, makeWorld } from '../../helpers/world.ts'

const world = await makeWorld(t, [
  'create table people (id int primary key, status text, city text, email text)',
  `insert into people values (1, 'new', 'Bonn', 'a@example.com'), (2, 'wrong', 'Kiel', 'b@example.com')`,
])
const { tenant, asset } = world
await discover(world)
const send = async (method: string, path: string, body: object) => {
  const reply = await tenant.ask(method, `/api/v1/sdk${path}`, body)
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
  return reply.body.data
}
await send('POST', '/tags', {
  ...{ asset_id: asset.id, name: 'pii' },
  object_path: 'public.people.email',
  object_type: 'column',
})
const { uuid } = await send('POST', `/validity/${asset.id}`, {
  ...{ rule_type: 'ENUM', table_path: 'people', column_name: 'status' },
  rule_config: { allowed_values: ['new'] },
})
const check = async (body: object) =>
  (await send('POST', `/validity/${asset.id}/${uuid}/check`, body)).invalid_samples

t.test('whole rows have all columns but those of personal data, and the SQL that selects them', async t => {
  const { samples, sql } = await check({ whole_rows: true })
  t.match(samples, [
    {
      ...{ row_id: 2, value: 'wrong' },
      row: { id: 2, status: 'wrong', city: 'Kiel', email: null },
      hidden_columns: ['email'],
    },
  ])
  t.notOk('is_hidden' in samples[0], 'its value is shown')
  t.match(sql.text, /^select \* from "public"."people" where .* limit 10$/)
  t.notMatch(JSON.stringify(samples), 'b@example.com')
})

t.test('rows are shown by key and value unless they are asked for whole', async t => {
  const found = await check({})
  t.strictSame(found, { samples: [{ row_id: 2, value: 'wrong' }] })
})

t.test('a column that may not be read hides no other evidence', async t => {
  await world.source.query('alter table people drop column city')
  const { samples } = await check({ whole_rows: true })
  t.strictSame(samples, [{ row_id: 2, value: 'wrong' }])
})
