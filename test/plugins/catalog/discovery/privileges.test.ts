import t, { type Test } from 'tap'
import { mariadbAbsent } from '../../../helpers/mariadb.ts'
import { startSource } from '../../../helpers/source.ts'
import { makeStage } from '../../../helpers/world.ts'
import { chooserOf, PrivilegesModel } from './privileges-model.ts'
import { startGrantedShop, watch, type Watched } from './privileges-world.ts'

// PRIVILEGES_SEED and PRIVILEGES_STEPS make it another and a longer one.
const SEED = Number(process.env.PRIVILEGES_SEED ?? 20_260_301)
const STEPS = Number(process.env.PRIVILEGES_STEPS ?? 20)

const skip = mariadbAbsent
const stage = await makeStage(t)

const NOTHING = { status: 'completed', unread: [], changes: [] }

t.test('columns and keys whose privilege is lost are no removals', { skip }, async t => {
  const shop = await startGrantedShop(t)
  await shop.query('create table p (id int primary key)')
  await shop.query(
    `create table b (id int primary key, x text, y int, z int, p int, unique uy (y), unique uyz (y, z),
       constraint f foreign key (p) references p (id) on delete cascade)`,
  )
  const watched = await watch(stage, { name: 'lost', type: 'mysql', config: shop.config })
  await shop.grant('select on *')
  t.same(await watched.discover(), NOTHING)
  const whole = await watched.stored('b')

  for (const rights of [
    ['select (id) on b', 'select on p'],
    ['select (y) on b', 'select on p'],
    ['select (id, x, y, z, p) on b', 'select on p'],
    ['select (id, p) on b', 'select (id) on p'],
    ['select (id, y) on b', 'insert (z) on b', 'select on p'],
  ]) {
    await shop.grant(...rights)
    t.same(await watched.discover(), { ...NOTHING, unread: ['b'] }, rights.join())
    t.same(await watched.stored('b'), { ...whole, error: 'permission' }, 'what was known stays')
    t.same(await watched.discover(), { ...NOTHING, unread: ['b'] }, 'once more')
  }
  await shop.grant('select on b')
  t.same(
    await watched.discover(),
    { ...NOTHING, unread: ['p'] },
    'a right on the parent says nothing of the child',
  )
  await shop.grant('select on *')
  t.same(await watched.discover(), NOTHING, 'the right is given back')
  t.same(await watched.stored('b'), whole)
  t.equal(await watched.alerts(), 0)
})

t.test('drops are recorded as far as they are visible while other columns are hidden', { skip }, async t => {
  const shop = await startGrantedShop(t)
  await shop.query(
    'create table b (id int primary key, x text, y int, z int, w int, v int, unique uy (y), unique uz (z), unique uid (id))',
  )
  const watched = await watch(stage, { name: 'partly', type: 'mysql', config: shop.config })
  await shop.grant('select on *')
  await watched.discover()

  await shop.grant('select (id, y, z, v) on b')
  t.same(await watched.discover(), { ...NOTHING, unread: ['b'] })
  await shop.query(
    'alter table b drop column y, drop column w, drop index uid, add column fresh text, modify v bigint',
  )
  t.same(
    await watched.discover(),
    {
      ...NOTHING,
      unread: ['b'],
      changes: [
        'column_removed b.y',
        'column_type_changed b.v',
        'constraint_changed b.uid',
        'constraint_changed b.uy',
      ],
    },
    'the server keeps the right on a column that is dropped',
  )
  await shop.grant('select on *')
  t.same(await watched.discover(), { ...NOTHING, changes: ['column_added b.fresh', 'column_removed b.w'] })
  t.same(await watched.discover(), NOTHING)
})

/** Discovers again and again, under rights and definitions that a model exchanges. */
async function follow(
  t: Test,
  model: PrivilegesModel,
  watched: Watched,
  run: { grant(...rights: string[]): Promise<void>; query(text: string): Promise<unknown> },
): Promise<void> {
  const choose = chooserOf(SEED, STEPS * 2)
  await run.grant(...model.restoreRights())
  t.same(await watched.discover(), NOTHING)
  for (const hasChanges of [false, true]) {
    for (let step = 0; step < STEPS; step++) {
      const done = model.exchangeRights(choose)
      await run.grant(...done)
      for (let changes = hasChanges ? choose(3) : 0; changes > 0; changes--) {
        const statement = model.change(choose)
        await run.query(statement)
        done.push(statement)
      }
      const expected = model.discover()
      if (!hasChanges) t.same(expected.changes, [], 'rights alone change nothing')
      t.same(await watched.discover(), { status: 'completed', ...expected }, done.join('; '))
    }
    await run.grant(...model.restoreRights())
    t.same(
      await watched.discover(),
      { status: 'completed', ...model.discover() },
      'all rights are given back',
    )
    t.same(await watched.discover(), NOTHING)
  }
}

t.test('whatever rights come and go, MariaDB only reports what changed', { skip }, async t => {
  const shop = await startGrantedShop(t)
  for (const statement of [...PrivilegesModel.setup, 'create table anchor (id int)'])
    await shop.query(statement)
  const watched = await watch(stage, { name: 'maria', type: 'mysql', config: shop.config })
  await follow(t, new PrivilegesModel(true), watched, {
    // Without any right on the database the account could not sign in.
    grant: (...rights) => shop.grant('select on anchor', ...rights),
    query: statement => shop.query(statement),
  })
})

t.test('whatever rights come and go, PostgreSQL only reports what changed', async t => {
  const source = await startSource(t)
  for (const statement of PrivilegesModel.setup) await source.query(statement)
  const role = source.config.username
  await source.query(`revoke pg_read_all_data from ${role}`)
  const watched = await watch(stage, { name: 'postgres', type: 'postgresql', config: source.config })
  await follow(t, new PrivilegesModel(false), watched, {
    async grant(...rights) {
      for (const table of ['parent', 'child']) {
        const columns = await source.query(
          `select string_agg(quote_ident(attname), ', ') as names from pg_attribute
           where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
          [table],
        )
        await source.query(`revoke all on ${table} from ${role}`)
        await source.query(`revoke all (${String(columns[0]?.names)}) on ${table} from ${role}`)
      }
      for (const right of rights) await source.query(`grant ${right} to ${role}`)
    },
    query: statement => source.query(statement),
  })
})
