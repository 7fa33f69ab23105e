import t from 'tap'
import { prune, pruneJob } from '../../plugins/catalog/prune.ts'
import { startServer } from '../helpers/server.ts'

t.test('changes older than 400 days are deleted, of every company, some in a transaction', async t => {
  const app = await startServer(t)
  for (const name of ['Acme', 'Other']) {
    const { companyId } = await app.signUp(name)
    await app.query(
      `with source as (
         insert into sources (id, company_id, name, source_type, config)
         values (gen_random_uuid(), $1, 'shop', 'postgresql', '{}') returning id),
       made as (
         insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind,
           columns, constraints, fingerprint)
         select gen_random_uuid(), $1, id, 'shop', 'public', 'orders', 'shop.shop.public.orders', 'table', '[]',
           '[]', '' from source returning id, source_id)
       insert into schema_changes (id, company_id, source_id, table_id, table_path, change_type, object_name,
         object_type, impact, is_acknowledged, discovery_id, detected_at)
       select gen_random_uuid(), $1, source_id, id, 'shop.public.orders', 'column_added', 'c' || age, 'column',
         'low', age = 500, gen_random_uuid(), now() - make_interval(days => age)
       from made, unnest(array[0, 30, 365, 399, 401, 402, 500]) age`,
      [companyId],
    )
  }
  const kept = () => app.query('select object_name as name from schema_changes order by detected_at, name')

  t.same(await prune(app.server, { batch: 4, signal: AbortSignal.abort() }), { deleted: 0, batches: 0 })
  t.same(await prune(app.server, { batch: 4 }), { deleted: 6, batches: 2 })
  t.same(
    (await kept()).map(({ name }) => name),
    ['c399', 'c399', 'c365', 'c365', 'c30', 'c30', 'c0', 'c0'],
  )

  await app.query(
    `update schema_changes set detected_at = now() - interval '401 days' where object_name = 'c399'`,
  )
  const done = app.server.jobs.settled(pruneJob, () => true)
  await app.server.jobs.send(pruneJob, {})
  t.equal(await done, 'completed')
  t.equal((await kept()).length, 6, 'the job does it')
})
