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

t.test(
  'changed constraints are of medium impact, and weakened or removed keys are known as such',
  async t => {
    const key = (
      type: ConstraintInfo['type'],
      columns: string,
      properties: ConstraintInfo['properties'] = {},
    ): ConstraintInfo => ({ name: 'k', type, columns: columns.split(' '), properties })
    const none: ConstraintInfo[] = []
    const cases: [string, ConstraintInfo[], ConstraintInfo[], boolean][] = [
      ['a unique key goes', [key('unique', 'a')], none, true],
      ['a primary key goes', [key('primary_key', 'a')], none, true],
      ['a foreign key goes', [key('foreign_key', 'a')], none, false],
      ['a unique key comes', none, [key('unique', 'a')], false],
      ['a foreign key comes', none, [key('foreign_key', 'a')], false],
      ['one more column', [key('unique', 'a')], [key('unique', 'a b')], true],
      ['one column less', [key('unique', 'a b')], [key('unique', 'a')], false],
      ['another order', [key('unique', 'a b')], [key('unique', 'b a')], false],
      ['another column', [key('unique', 'a')], [key('unique', 'b')], true],
      ['primary to unique', [key('primary_key', 'a')], [key('unique', 'a')], true],
      ['unique to primary', [key('unique', 'a')], [key('primary_key', 'a')], false],
      ['deferrable', [key('unique', 'a')], [key('unique', 'a', { deferrable: true })], true],
      ['not deferrable', [key('primary_key', 'a', { deferrable: true })], [key('primary_key', 'a')], false],
      ['NULLs again', [key('unique', 'a', { nullsNotDistinct: true })], [key('unique', 'a')], true],
      ['one NULL', [key('unique', 'a')], [key('unique', 'a', { nullsNotDistinct: true })], false],
      [
        'a longer prefix',
        [key('unique', 'a b', { prefixLengths: [10, null] })],
        [key('unique', 'a b', { prefixLengths: [20, null] })],
        true,
      ],
      ['no prefix', [key('unique', 'a', { prefixLengths: [10] })], [key('unique', 'a')], true],
      ['a prefix', [key('unique', 'a')], [key('unique', 'a', { prefixLengths: [10] })], false],
      ['a cascade', [key('foreign_key', 'a')], [key('foreign_key', 'a', { onDelete: 'cascade' })], false],
      [
        'a deferred foreign key',
        [key('foreign_key', 'a')],
        [key('foreign_key', 'a', { deferrable: true, initiallyDeferred: true })],
        false,
      ],
    ]
    for (const [what, before, after, isKeyWeakened] of cases)
      t.match(
        compareTables(holding(before), holding(after)),
        [{ changeType: 'constraint_changed', impact: 'medium', isKeyWeakened }],
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
  },
)

t.test('a constraint that only has another name is no change', async t => {
  const target = (name: string) => ({
    table: { catalog: 'shop', schema: 'public', name },
    columns: ['id'],
  })
  const unique = (name: string, ...columns: string[]): ConstraintInfo => ({
    ...{ name, type: 'unique', columns, properties: {} },
  })
  const foreign = (
    name: string,
    table?: string,
    properties?: ConstraintInfo['properties'],
  ): ConstraintInfo => ({
    ...{ name, type: 'foreign_key', columns: ['a'] },
    ...(table !== undefined && { references: target(table) }),
    ...(properties && { properties }),
  })
  const { properties: _, ...bare } = unique('u', 'a')
  const cases: [string, ConstraintInfo[], ConstraintInfo[], string[]][] = [
    ['a unique one', [unique('u', 'a')], [unique('v', 'a')], []],
    [
      'a primary key',
      [{ ...unique('p', 'a'), type: 'primary_key' }],
      [{ ...unique('q', 'a'), type: 'primary_key' }],
      [],
    ],
    ['a foreign key', [foreign('f', 'p', {})], [foreign('g', 'p', {})], []],
    [
      'names that were swapped',
      [unique('u', 'a'), unique('v', 'b')],
      [unique('v', 'a'), unique('u', 'b')],
      [],
    ],
    [
      'one of two equal ones went, the other has its name',
      [unique('u', 'a'), unique('v', 'a')],
      [unique('u', 'a')],
      ['v -> '],
    ],
    [
      'two equal ones under other names',
      [unique('u', 'a'), unique('v', 'a')],
      [unique('x', 'a'), unique('y', 'a')],
      [],
    ],
    [
      'one came under the name of another',
      [unique('u', 'a')],
      [unique('u', 'b'), unique('v', 'a')],
      [' -> u'],
    ],
    [
      'one went and another took its name',
      [unique('u', 'a'), unique('v', 'b')],
      [unique('u', 'b')],
      ['u -> '],
    ],
    ['properties unknown before', [bare], [{ ...unique('v', 'a'), properties: { deferrable: true } }], []],
    ['properties unknown now', [{ ...unique('v', 'a'), properties: { deferrable: true } }], [bare], []],
    ['a target unknown before', [foreign('f', undefined, {})], [foreign('g', 'p', {})], []],
    ['a target and properties unknown now', [foreign('f', 'p', { onDelete: 'cascade' })], [foreign('g')], []],
    ['other columns', [unique('u', 'a')], [unique('v', 'b')], ['u -> ', ' -> v']],
    ['another order of columns', [unique('u', 'a', 'b')], [unique('v', 'b', 'a')], ['u -> ', ' -> v']],
    ['another target', [foreign('f', 'p')], [foreign('g', 'q')], ['f -> ', ' -> g']],
    [
      'another property',
      [foreign('f', 'p', {})],
      [foreign('g', 'p', { onDelete: 'cascade' })],
      ['f -> ', ' -> g'],
    ],
    ['another type', [unique('u', 'a')], [{ ...unique('p', 'a'), type: 'primary_key' }], ['u -> ', ' -> p']],
  ]
  for (const [what, before, after, changes] of cases)
    t.same(
      compareTables(holding(before), holding(after)).map(({ oldValue, newValue }) =>
        [oldValue, newValue].map(value => (value as { name?: string } | null)?.name ?? '').join(' -> '),
      ),
      changes,
      what,
    )
})

t.test('keys under other names raise no alert, and removed keys raise a critical one', async t => {
  const world = await makeWorldOn(t, stage, [
    'create table p (id int constraint p_key primary key, a int constraint p_a unique, b int)',
    'create unique index p_b on p (b)',
    'create table c (p int constraint c_p references p (id) on delete cascade)',
    'create table s (id int primary key, a int unique)',
  ])
  const { app, source, tenant, asset } = world
  await discover(world)
  for (const statement of [
    'alter table p rename constraint p_key to p_pk',
    'alter table p rename constraint p_a to p_a_unique',
    'alter index p_b rename to p_b_unique',
    'alter table c rename constraint c_p to c_p_fkey',
    // The swap of tools that fill a copy of a table.
    'create table s_new (like s including all)',
    'alter table s rename to s_old',
    'alter table s_new rename to s',
    'drop table s_old',
  ])
    await source.query(statement)
  matchAll(t, await recorded(world), [])

  await source.query('alter table p add constraint p_ab unique (a, b)')
  matchAll(t, await recorded(world), [{ change_type: 'constraint_changed', impact: 'medium' }])
  await source.query('alter table p rename constraint p_ab to p_a_b')
  await source.query('alter table p add column note text')
  matchAll(t, await recorded(world), [{ change_type: 'column_added' }])
  const open = async () => {
    const { body } = await tenant.ask(
      'GET',
      `/api/v1/sdk/schema/changes?unacknowledged_only=true&asset_id=${asset.id}`,
    )
    return (body.data.data as Recorded[]).map(({ change_type: type }) => type).toSorted()
  }
  t.same(await open(), ['column_added', 'constraint_changed'], 'its addition stays open under its new name')
  const severities = async () => {
    const alerts = await app.query(
      `select severity from alerts where source_id = $1 and kind = 'schema_change' order by created_at`,
      [asset.id],
    )
    return alerts.map(({ severity }) => severity)
  }
  t.same(await severities(), ['warning'])
  await source.query('alter table p drop constraint p_a_unique')
  matchAll(t, await recorded(world), [
    { change_type: 'constraint_changed', impact: 'medium', new_value: null },
  ])
  t.same(await severities(), ['warning', 'critical'])
})
