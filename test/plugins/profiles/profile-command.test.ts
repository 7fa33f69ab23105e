import t from 'tap'
import { command as tidemark } from '../../helpers/command.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
import { discover, makeWorld } from '../../helpers/world.ts'

const world = await makeWorld(t, [
  `create table customers (id int primary key, email text, city text)`,
  `insert into customers
     select n, 'c' || n || '@example.com', (array['Oslo', 'Rome'])[1 + n % 2] from generate_series(1, 40) n`,
  `create table tmp_load (id int)`,
])
await discover(world)
const { app, tenant, source, asset } = world
const named = (table: string) => `shop.${source.name}.public.${table}`
const afar = { TIDEMARK_URL: app.server.info.uri, TIDEMARK_API_KEY: tenant.key }
const near = { DATABASE_URL: String(app.server.config.databaseUrl), SECRET_KEY, EGRESS_ALLOW: '127.0.0.0/8' }

const ways = [
  ['from afar', (...words: string[]) => tidemark(['profile', ...words], afar)],
  [
    'on the database of the settings',
    (...words: string[]) => tidemark(['profile', ...words, '--company', tenant.companyId], near),
  ],
] as const

for (const [where, profile] of ways) {
  t.test(`${where}, a table is profiled and its columns are printed`, async t => {
    const { code, out, err } = await profile(named('customers'))
    t.match({ code, err }, { code: 0, err: '' })
    const lines = out.trimEnd().split('\n')
    t.match(lines[0], /^column +type +nulls +distinct +range +pattern$/)
    t.match(lines[1], /^id +integer +0 % +40 +1 – 40 +key$/)
    t.match(lines[2], /^email +text +0 % +40 +14 – 15 characters +email 100 % +key$/)
    t.match(lines[3], /^city +text +0 % +2 +4 – 4 characters +enum 100 %$/)
    t.equal(lines[4], `${named('customers')}: 40 rows`)
    const byPath = await profile('shop', '--table', 'customers', '--json')
    t.match(JSON.parse(byPath.out), {
      profiled: 1,
      failed: 0,
      profile: { row_count: 40, columns: [{}, {}, {}] },
    })
  })

  t.test(`${where}, tables of a source are chosen, and one that cannot be read fails`, async t => {
    const all = await profile('shop')
    t.match(all, { code: 0, out: '2 tables of shop were profiled\n' })
    const some = await profile('shop', '--exclude', 'tmp_*', '--json')
    t.match(JSON.parse(some.out), { profiled: 1, findings: [{ asset: named('customers') }] })
    await source.query('alter table tmp_load rename to gone')
    t.teardown(() => source.query('alter table gone rename to tmp_load'))
    const { code, out } = await profile('shop')
    t.equal(code, 1)
    t.match(out, /^error +\S+tmp_load .*tmp_load/)
    t.match(out, /1 tables of shop were profiled, 1 could not be\n$/)
    t.match(await profile(named('tmp_load')), { code: 5, err: /failed: .*tmp_load/ })
  })

  t.test(`${where}, a wrong request has another exit code`, async t => {
    t.match(await profile('no.such.table.here'), { code: 3, out: '', err: /no such asset/ })
    t.match(await profile('shop', '--table', 'nowhere'), { code: 2, err: /there is no table `nowhere`/ })
    t.match(await profile('shop', '--include', 'nowhere'), { code: 2, err: /match no table/ })
    await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { query_access_level: 'schema_only' })
    t.match(await profile('shop'), { code: 2, err: /schema_only/ })
    await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { query_access_level: 'full' })
  })
}

t.test('a key that only reads may not profile', async t => {
  const { body } = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  const reading = { ...afar, TIDEMARK_API_KEY: body.data.key }
  t.match(await tidemark(['profile', 'shop'], reading), { code: 2, err: /require a key of scope read-write/ })
})
