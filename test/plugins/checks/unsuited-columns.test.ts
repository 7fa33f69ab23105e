import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

const stage = await makeStage(t)

t.test('a check of a column whose values do not compare is refused when it is created', async t => {
  const world = await makeWorldOn(t, stage, [
    'create domain document as xml',
    'create table t (id int primary key, j json, b jsonb, d document, p point[])',
  ])
  const { tenant, asset, source } = world
  await discover(world)
  const post = async (path: string, body: object) =>
    (await tenant.ask('POST', `/api/v1/sdk/${path}/${asset.id}`, { table_path: 'public.t', ...body })) as {
      status: number
      body: object
    }
  const rule = (column: string) => post('validity', { rule_type: 'UNIQUE', column_name: column })
  const metric = (body: object) => post('metrics', body)
  for (const column of ['j', 'd', 'p']) {
    t.match(
      await rule(column),
      { status: 400, body: refusal('column_name', /^UNIQUE compares values/) },
      column,
    )
    for (const type of ['distinct_count', 'duplicate_count'])
      t.match(
        await metric({ metric_type: type, column_name: column }),
        { status: 400, body: refusal('column_name', /compares values/) },
        `${type} ${column}`,
      )
    t.match(
      await metric({ metric_type: 'row_count', group_by_columns: [column] }),
      { status: 400, body: refusal('group_by_columns.0', /^The engine cannot group by/) },
      `group by ${column}`,
    )
  }
  t.match(await rule('b'), { status: 201 })
  t.match(await metric({ metric_type: 'row_count', group_by_columns: ['b'] }), { status: 201 })
  const { body: shown } = await tenant.ask('GET', `/api/v1/assets/shop.${source.name}.public.t`)
  const { body } = await tenant.ask('GET', `/api/v1/sdk/check-types?asset_id=${shown.id}`)
  const items = body.data.items as { type: string; columns: string[] }[]
  t.same(items.find(({ type }) => type === 'UNIQUE')?.columns, ['id', 'b'], 'nor are they offered')
})

const refusal = (field: string, error: RegExp) => ({ error: { details: { field, error } } })
