import t from 'tap'
import type { ConstraintInfo, TableInfo } from '../../../../connectors/catalog.ts'
import { compareTables } from '../../../../plugins/catalog/drift/diff.ts'
import { mariadbAbsent } from '../../../helpers/mariadb.ts'
import { discover, makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { matchAll, recorded, type Recorded } from './recorded-changes.ts'
import { startGrantedShop, watch } from '../discovery/privileges-world.ts'

const stage = await makeStage(t)

const NOTHING = { status: 'completed', unread: [], changes: [] }

t.test('a modified foreign key is one record with both values', async t => {
  const world = await makeWorldOn(t, stage, [
    'create table p (id int primary key)',
    'create table c (p int constraint f references p)',
  ])
  await discover(world)
  await world.source.query('alter table c drop constraint f')
  await world.source.query('alter table c add constraint f foreign key (p) references p on delete cascade')
  const value = {
    name: 'f',
    type: 'foreign_key',
    columns: ['p'],
    references: { table: `${world.source.name}.public.p`, columns: ['id'] },
  }
  matchAll(t, await recorded(world), [
    {
      change_type: 'constraint_changed',
      object_name: 'c',
      impact: 'medium',
      old_value: value,
      new_value: { ...value, on_delete: 'cascade' },
    },
  ])
})

t.test('constraints stored before their properties were known do not change by the upgrade', async t => {
  const world = await makeWorldOn(t, stage, [
    'create table p (id int primary key deferrable, a int unique nulls not distinct)',
    'alter table p add constraint a2 unique (a, id)',
    'create table c (a int, b int, constraint f foreign key (a, b) references p (a, id) on delete cascade on update set null)',
    'create table d (id int)',
  ])
  const { app, source, tenant, asset } = world
  await discover(world)
  // What is open at the upgrade is compared with a baseline of the same age.
  await source.query('alter table c add column note text')
  t.equal((await recorded(world)).length, 1)
  const strip = `coalesce((select jsonb_agg(e - 'properties') from jsonb_array_elements(X) e), '[]')`
  await app.query(
    `update tables set constraints = ${strip.replace('X', 'constraints')}, fingerprint = 'of the version before',
       baseline = case when baseline is not null
         then jsonb_set(baseline, '{constraints}', ${strip.replace('X', `baseline -> 'constraints'`)}) end
     where source_id = $1`,
    [asset.id],
  )
  t.match(
    await app.query(
      `select name from tables where source_id = $1 and constraints::text like '%properties%'`,
      [asset.id],
    ),
    [],
  )
  t.same(await recorded(world), [], 'nothing changed')
  const drift = async () => {
    const { body } = await tenant.ask('GET', `/api/v1/sdk/schema/${asset.id}`)
    return (body.data.drift as Recorded[]).map(
      ({ change_type: type, object_name: name }) => `${type} ${name}`,
    )
  }
  t.same(await drift(), ['column_added note'])
  t.same(await recorded(world), [])

  await source.query('alter table c drop constraint f')
  await source.query(
    'alter table c add constraint f foreign key (a, b) references p (a, id) on update set null',
  )
  matchAll(t, await recorded(world), [
    { old_value: { on_delete: 'cascade', on_update: 'set_null' }, new_value: { on_update: 'set_null' } },
  ])
  t.same((await drift()).toSorted(), ['column_added note', 'constraint_changed c'], 'and stays open')
  await source.query('alter table c add column more text')
  await recorded(world)
  t.same((await drift()).toSorted(), ['column_added more', 'column_added note', 'constraint_changed c'])
  await source.query('alter table c drop column more, drop constraint f')
  await source.query(
    'alter table c add constraint f foreign key (a, b) references p (a, id) on delete cascade on update set null',
  )
  await recorded(world)
  t.same(await drift(), ['column_added note'], 'until it is taken back')
  await source.query('alter table c drop column note')
  await recorded(world)
  t.same(await drift(), [])
})

t.test('properties that came with a change are those that were accepted with it', async t => {
  const world = await makeWorldOn(t, stage, [
    'create table p (id int primary key)',
    'create table c (p int constraint f references p on delete cascade)',
  ])
  const { app, source, tenant, asset } = world
  await discover(world)
  await app.query(
    `update tables set fingerprint = 'of the version before',
       constraints = (select jsonb_agg(e - 'properties') from jsonb_array_elements(constraints) e)
     where source_id = $1 and constraints <> '[]'`,
    [asset.id],
  )
  const drift = async () => {
    await recorded(world)
    const { body } = await tenant.ask('GET', `/api/v1/sdk/schema/${asset.id}`)
    return (body.data.drift as Recorded[]).map(({ change_type: type }) => type).toSorted()
  }
  await source.query('alter table c add column note text')
  t.same(await drift(), ['column_added'])
  await source.query('alter table c drop constraint f')
  await source.query('alter table c add constraint f foreign key (p) references p')
  t.same(await drift(), ['column_added', 'constraint_changed'])
  await source.query('alter table c drop column note')
  t.same(await drift(), ['constraint_changed'])
  await source.query('alter table c drop constraint f')
  await source.query('alter table c add constraint f foreign key (p) references p on delete cascade')
  t.same(await drift(), [])
})

t.test('rules that an account may not see are unknown, not defaults', { skip: mariadbAbsent }, async t => {
  const shop = await startGrantedShop(t)
  await shop.query('create table p (id int primary key)')
  await shop.query('create table c (p int, constraint f foreign key (p) references p (id) on delete cascade)')
  const few = ['select on p', 'select on c']
  const all = ['select on *', 'show view on *']
  await shop.grant(...few)
  const watched = await watch(stage, { name: 'rules', type: 'mysql', config: shop.config })
  t.same(await watched.discover(), NOTHING)
  for (const rights of [all, few, all, few]) {
    await shop.grant(...rights)
    t.same(await watched.discover(), NOTHING, rights.join())
  }
  await shop.query('alter table c drop foreign key f')
  await shop.query('alter table c add constraint f foreign key (p) references p (id)')
  t.same(await watched.discover(), NOTHING, 'not seen')
  await shop.grant(...all)
  t.same(await watched.discover(), { ...NOTHING, changes: ['constraint_changed c.f'] }, 'seen')
  await shop.grant(...few)
  await shop.query('alter table c drop foreign key f')
  t.same(
    await watched.discover(),
    { ...NOTHING, changes: ['constraint_changed c.f'] },
    'the key itself is seen',
  )
})

const column = (name: string, ordinal: number): TableInfo['columns'][number] => ({
  ...{ name, ordinal, type: 'integer', rawType: 'integer', kind: 'integer' },
  ...{ nullable: true, default: null, comment: null },
})
const holding = (constraints: ConstraintInfo[]): TableInfo[] => [
  {
    ...{ catalog: 'shop', schema: 'public', name: 't', kind: 'table', comment: null },
    columns: ['a', 'b', 'c'].map((name, index) => column(name, index + 1)),
    constraints,
  },
]

t.test('a key that was weakened or removed is of high impact, everything else of medium', async t => {
  const key = (
    type: ConstraintInfo['type'],
    columns: string,
    properties: ConstraintInfo['properties'] = {},
  ): ConstraintInfo => ({ name: 'k', type, columns: columns.split(' '), properties })
  const none: ConstraintInfo[] = []
  const cases: [string, ConstraintInfo[], ConstraintInfo[], 'high' | 'medium'][] = [
    ['a unique key goes', [key('unique', 'a')], none, 'high'],
    ['a primary key goes', [key('primary_key', 'a')], none, 'high'],
    ['a foreign key goes', [key('foreign_key', 'a')], none, 'medium'],
    ['a unique key comes', none, [key('unique', 'a')], 'medium'],
    ['a foreign key comes', none, [key('foreign_key', 'a')], 'medium'],
    ['one more column', [key('unique', 'a')], [key('unique', 'a b')], 'high'],
    ['one column less', [key('unique', 'a b')], [key('unique', 'a')], 'medium'],
    ['another order', [key('unique', 'a b')], [key('unique', 'b a')], 'medium'],
    ['another column', [key('unique', 'a')], [key('unique', 'b')], 'high'],
    ['primary to unique', [key('primary_key', 'a')], [key('unique', 'a')], 'high'],
    ['unique to primary', [key('unique', 'a')], [key('primary_key', 'a')], 'medium'],
    ['deferrable', [key('unique', 'a')], [key('unique', 'a', { deferrable: true })], 'high'],
    ['not deferrable', [key('primary_key', 'a', { deferrable: true })], [key('primary_key', 'a')], 'medium'],
    ['NULLs again', [key('unique', 'a', { nullsNotDistinct: true })], [key('unique', 'a')], 'high'],
    ['one NULL', [key('unique', 'a')], [key('unique', 'a', { nullsNotDistinct: true })], 'medium'],
    [
      'a longer prefix',
      [key('unique', 'a b', { prefixLengths: [10, null] })],
      [key('unique', 'a b', { prefixLengths: [20, null] })],
      'high',
    ],
    ['no prefix', [key('unique', 'a', { prefixLengths: [10] })], [key('unique', 'a')], 'high'],
    ['a prefix', [key('unique', 'a')], [key('unique', 'a', { prefixLengths: [10] })], 'medium'],
    ['a cascade', [key('foreign_key', 'a')], [key('foreign_key', 'a', { onDelete: 'cascade' })], 'medium'],
    [
      'a deferred foreign key',
      [key('foreign_key', 'a')],
      [key('foreign_key', 'a', { deferrable: true, initiallyDeferred: true })],
      'medium',
    ],
  ]
  for (const [what, before, after, impact] of cases)
    t.same(
      compareTables(holding(before), holding(after)).map(change => [change.changeType, change.impact]),
      [['constraint_changed', impact]],
      what,
    )
  const unknown = { name: 'k', type: 'unique' as const, columns: ['a'] }
  t.same(
    compareTables(holding([unknown]), holding([key('unique', 'a', { deferrable: true })])),
    [],
    'unknown before',
  )
  t.same(
    compareTables(holding([key('unique', 'a', { deferrable: true })]), holding([unknown])),
    [],
    'unknown now',
  )
})
