import t from 'tap'
import { makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { sentDuring } from '../../../helpers/sent-statements.ts'

const stage = await makeStage(t)
const { tenant } = stage

t.test('patterns are tried before a source is discovered, with one reading of its catalog', async t => {
  const { asset } = await makeWorldOn(t, stage, [
    'create schema sales',
    'create table sales.orders (id int)',
    'create table sales.tmp_orders (id int)',
    'create table customers (id int)',
  ])
  const preview = async (body: object) =>
    (await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/preview-tables`, body)).body.data
  t.strictSame(await preview({}), {
    total: 3,
    matched: 3,
    schemas: [
      { schema: 'public', total: 1, matched: 1 },
      { schema: 'sales', total: 2, matched: 2 },
    ],
    tables: ['public.customers', 'sales.orders', 'sales.tmp_orders'],
    error_code: null,
    error_message: null,
  })
  const sent = await sentDuring(async () => {
    t.match(await preview({ include_patterns: ['sales.*'], exclude_patterns: ['tmp_*'] }), {
      matched: 1,
      tables: ['sales.orders'],
    })
  })
  // Before a source is dialled it is looked up whether it may be.
  t.notOk(
    sent.some(({ text }) => /case\s+when dial_after/.test(text)),
    'from the catalog as it was read a moment ago',
  )
  t.match(
    await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/preview-tables`, {
      include_patterns: ['a.b.c.d'],
    }),
    { status: 400, body: { error: { details: { field: 'include_patterns.0' } } } },
  )
})

t.test('a database that cannot be read is the answer', async t => {
  const { asset } = await makeWorldOn(t, stage, [])
  const changed = await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, {
    connection_config: { database: 'no_such', password: 'wrong' },
  })
  t.equal(changed.status, 200)
  const { body } = await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/preview-tables`, {})
  t.match(body.data, { total: null, matched: null, tables: [], error_message: String })
})
