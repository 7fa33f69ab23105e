import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

const stage = await makeStage(t)

/** Each row takes longer than a hundredth of what a scan may take, and there are thousands. */
const SLOW = 'sum(length(md5(repeat(label, 10000000))))'

t.test(
  'a slow aggregate of a user takes the checks of its table down once, and what is innocent comes back',
  async t => {
    const world = await makeWorldOn(t, stage, [
      'create table payments (id int, paid numeric, label text)',
      `insert into payments select n, n, 'abcd' from generate_series(1, 3000) n`,
    ])
    await discover(world)
    const { app, tenant, asset } = world
    const ask = async (method: string, path: string, body?: object) => {
      const reply = await tenant.ask(method, `/api/v1/sdk/${path}`, body)
      if (reply.status >= 300) throw new Error(JSON.stringify(reply.body))
      return reply.body.data
    }
    await ask('PATCH', `assets/${asset.id}`, { statement_timeout_seconds: 3 })
    const metric = (body: object) => ask('POST', `metrics/${asset.id}`, { table_path: 'payments', ...body })
    const rule = (body: object) => ask('POST', `validity/${asset.id}`, { table_path: 'payments', ...body })
    await metric({ metric_type: 'row_count', name: 'rows' })
    await rule({ rule_type: 'NOT_NULL', column_name: 'paid', name: 'plain' })
    await metric({ metric_type: 'custom_sql', sql_expression: 'sum(paid)', name: 'quick' })
    await rule({ rule_type: 'CUSTOM_SQL', rule_config: { sql_expression: 'paid > 0' }, name: 'condition' })
    await rule({ rule_type: 'NOT_NULL', column_name: 'label', filter: 'paid > 5', name: 'filtered' })
    const slow = await metric({ metric_type: 'custom_sql', sql_expression: SLOW, name: 'slow' })
    const [table] = await app.query('select id from tables where source_id = $1', [asset.id])
    const run = () => app.server.plugins.checks.runTable(tenant.companyId, String(table?.id), 'active', {})
    const failing = async () => {
      const found = await app.query(
        `select name from checks where source_id = $1 and status = 'error' order by name`,
        [asset.id],
      )
      return found.map(({ name }) => name)
    }

    await run()
    t.same(await failing(), ['condition', 'filtered', 'plain', 'quick', 'rows', 'slow'])
    const apart = await run()
    t.same(await failing(), ['slow'], 'the others have their numbers again')
    const rejoined = await run()
    t.same(await failing(), ['slow'], 'and keep them')
    t.equal(apart.statements - rejoined.statements, 3, 'what is innocent shares the statement of all again')

    await ask('DELETE', `metrics/${asset.id}/${slow.id}`)
    const shared = await run()
    t.same(await failing(), [])
    // As a suspect leaves it that took long and was measured all the same.
    await app.query(
      `update check_results set details = details || '{"isSlow": true}' where check_id in
       (select id from checks where source_id = $1 and name = 'quick')`,
      [asset.id],
    )
    t.equal((await run()).statements, shared.statements + 1, 'one that is slow stays apart')
    t.equal((await run()).statements, shared.statements, 'until it no longer is')
  },
)
