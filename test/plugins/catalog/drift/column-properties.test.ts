import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import type { TableInfo } from '../../../../connectors/catalog.ts'
import { completeColumns } from '../../../../plugins/catalog/drift/column-properties.ts'
import { compareTables, fingerprint } from '../../../../plugins/catalog/drift/diff.ts'
import { resolveHostModules } from '../../../../server/extensions.ts'
import { mariadbAbsent, startShop, withMysql } from '../../../helpers/mariadb.ts'
import { connectOptions, startSource, withSession } from '../../../helpers/source.ts'
import { discover, makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { matchAll, recorded } from './recorded-changes.ts'

// The template imports the host by its public name, as a third party's package does.
resolveHostModules()
const { sqlite } = await import('../../../../plugin-template/connector.ts')

/** A table `t`, what is done to it, and what its column `c` was and is of what changed; none for what is no change. */
interface Case {
  what: string
  make: string[]
  change: string[]
  values?: [object, object]
}

const changed = (what: string, make: string[], change: string[], values: [object, object]): Case => ({
  ...{ what, make, change, values },
})
const same = (what: string, make: string[], change: string[]): Case => ({ what, make, change })

interface Engine {
  run(statement: string): Promise<unknown>
  read(): Promise<TableInfo[]>
  /** Leaves nothing of the case before. */
  clear: string[]
}

/** Makes each table, reads it, changes it and reads it twice. */
async function replay(t: Test, { run, read, clear }: Engine, cases: readonly Case[]): Promise<void> {
  for (const { what, make, change, values } of cases) {
    for (const statement of [...clear, ...make]) await run(statement)
    const before = await read()
    for (const statement of change) await run(statement)
    const [after, again] = [await read(), await read()]
    const found = compareTables(before, after).map(({ changeType, objectName, oldValue, newValue }) => [
      `${changeType} ${objectName}`,
      ...[oldValue, newValue].map(value => {
        const {
          name: _name,
          data_type: _type,
          nullable: _nullable,
          ...rest
        } = value as Record<string, unknown>
        return Object.fromEntries(Object.entries(rest).filter(([, property]) => property !== null))
      }),
    ])
    t.same(found, values ? [['column_type_changed c', ...values]] : [], what)
    const differs = (a: TableInfo[], b: TableInfo[]) =>
      JSON.stringify(a.map(fingerprint)) !== JSON.stringify(b.map(fingerprint))
    if (values) t.ok(differs(before, after), `${what}: seen by its fingerprint`)
    t.same([compareTables(after, again), differs(after, again)], [[], false], `${what}: nothing afterwards`)
  }
}

t.test('whatever decides the values of a PostgreSQL column is a change of it', async t => {
  const source = await startSource(t)
  const st = `create type st as enum ('open', 'closed')`
  const money = 'create type money_amount as (currency text, amount numeric(10,2))'
  const of = (type: string) => `create table t (c ${type})`
  const labels = (...names: string[]) => ({ enum_labels: names })
  await withSession(source.config, connection =>
    replay(
      t,
      {
        run: statement => source.query(statement),
        read: () => connection.introspect(),
        clear: ['drop schema public cascade', 'create schema public'],
      },
      [
        changed(
          'a label is added',
          [st, of('st')],
          [`alter type st add value 'lost' before 'closed'`],
          [labels('open', 'closed'), labels('open', 'lost', 'closed')],
        ),
        changed(
          'a label is renamed',
          [st, of('st')],
          [`alter type st rename value 'open' to 'new'`],
          [labels('open', 'closed'), labels('new', 'closed')],
        ),
        changed(
          'of an array',
          [st, of('st[]')],
          [`alter type st add value 'lost'`],
          [labels('open', 'closed'), labels('open', 'closed', 'lost')],
        ),
        changed(
          'under a domain, in an array of another domain',
          [st, 'create domain d as st', 'create domain ds as d[]', of('ds')],
          [`alter type st add value 'lost'`],
          [
            { base_type: 'd[]', ...labels('open', 'closed') },
            { base_type: 'd[]', ...labels('open', 'closed', 'lost') },
          ],
        ),
        changed(
          'an attribute is added',
          [money, of('money_amount')],
          ['alter type money_amount add attribute note text'],
          [
            { attributes: ['currency text', 'amount numeric(10,2)'] },
            { attributes: ['currency text', 'amount numeric(10,2)', 'note text'] },
          ],
        ),
        changed(
          'an attribute is renamed, of an array',
          [money, of('money_amount[]')],
          ['alter type money_amount rename attribute currency to unit'],
          [
            { attributes: ['currency text', 'amount numeric(10,2)'] },
            { attributes: ['unit text', 'amount numeric(10,2)'] },
          ],
        ),
        changed(
          'a label within a composite type within another',
          [
            st,
            'create type inside as (state st, n int)',
            'create type outside as (a inside[])',
            of('outside'),
          ],
          [`alter type st add value 'lost'`],
          [
            { attributes: [`a inside[] (state st ('open', 'closed'), n integer)`] },
            { attributes: [`a inside[] (state st ('open', 'closed', 'lost'), n integer)`] },
          ],
        ),
        changed(
          'the collation',
          [of('text')],
          ['alter table t alter c type text collate "C"'],
          [{}, { collation: 'C' }],
        ),
        changed(
          'the collation is the default again',
          [of('text collate "POSIX"')],
          ['alter table t alter c type text'],
          [{ collation: 'POSIX' }, {}],
        ),
        changed(
          'an identity comes',
          [of('int not null')],
          ['alter table t alter c add generated always as identity'],
          [{}, { auto_increment: 'always' }],
        ),
        changed(
          'an identity takes the values of rows',
          [of('int generated always as identity')],
          ['alter table t alter c set generated by default'],
          [{ auto_increment: 'always' }, { auto_increment: 'by_default' }],
        ),
        changed(
          'an identity goes',
          [of('int generated by default as identity')],
          ['alter table t alter c drop identity'],
          [{ auto_increment: 'by_default' }, {}],
        ),
        changed(
          'an expression is dropped',
          ['create table t (a int, c int generated always as (a + 1) stored)'],
          ['alter table t alter c drop expression'],
          [{ default: '(a + 1)', generated: 'stored' }, {}],
        ),
        changed(
          'a default becomes an expression',
          ['create table t (c int default 1)'],
          ['alter table t drop c', 'alter table t add c int generated always as (1) stored'],
          [{ default: '1' }, { default: '1', generated: 'stored' }],
        ),
        same(
          'comments, storage, statistics, checks, indexes and the counter of an identity',
          [of('int generated by default as identity'), 'create domain d as text', 'alter table t add d d'],
          [
            `comment on column t.c is 'a number'`,
            'alter table t alter d set storage external',
            'alter table t alter c set statistics 10',
            'alter table t alter c restart with 1000',
            'alter table t add constraint positive check (c > 0)',
            `alter domain d add constraint filled check (value <> '')`,
            'create index on t (c)',
          ],
        ),
      ],
    ),
  )
})

t.test(
  'whatever decides the values of a MariaDB column is a change of it',
  { skip: mariadbAbsent },
  async t => {
    const shop = await startShop(t)
    const of = (column: string) =>
      `create table t (c ${column}) character set latin1 collate latin1_swedish_ci`
    const to = (column: string) => `alter table t modify c ${column}`
    await withMysql(shop.config, connection =>
      replay(
        t,
        {
          run: statement => shop.query(statement),
          read: () => connection.introspect(),
          clear: ['drop table if exists t'],
        },
        [
          changed(
            'AUTO_INCREMENT is lost',
            [of('int not null auto_increment, key (c)')],
            [to('int not null')],
            [{ auto_increment: 'by_default' }, {}],
          ),
          changed(
            'ON UPDATE is lost',
            [of('datetime(3) on update current_timestamp(3)')],
            [to('datetime(3)')],
            [{ on_update: 'current_timestamp(3)' }, {}],
          ),
          changed(
            'ON UPDATE comes',
            [of('datetime')],
            [to('datetime on update current_timestamp')],
            [{}, { on_update: 'current_timestamp' }],
          ),
          changed(
            'the collation',
            [of('varchar(20)')],
            [to('varchar(20) collate latin1_bin')],
            [{ collation: 'latin1_swedish_ci' }, { collation: 'latin1_bin' }],
          ),
          changed(
            'the character set',
            [of('text')],
            [to('text character set utf8mb4 collate utf8mb4_bin')],
            [
              { character_set: 'latin1', collation: 'latin1_swedish_ci' },
              { character_set: 'utf8mb4', collation: 'utf8mb4_bin' },
            ],
          ),
          changed(
            'the collation of an enum',
            [of(`enum('a', 'b')`)],
            [to(`enum('a', 'b') collate latin1_bin`)],
            [{ collation: 'latin1_swedish_ci' }, { collation: 'latin1_bin' }],
          ),
          changed(
            'virtual becomes stored',
            ['create table t (a int, c int as (a + 1) virtual)'],
            ['alter table t drop c', 'alter table t add c int as (a + 1) stored'],
            [
              { default: '"a" + 1', generated: 'virtual' },
              { default: '"a" + 1', generated: 'stored' },
            ],
          ),
          changed(
            'an expression',
            ['create table t (a int, c int as (a + 1) virtual)'],
            ['alter table t modify c int as (a + 2) virtual'],
            [{ default: '"a" + 1' }, { default: '"a" + 2' }],
          ),
          same(
            'comments, visibility, the next number, the collation of new columns, checks and indexes',
            [of('int not null auto_increment, d varchar(9), primary key (c)')],
            [
              `alter table t modify d varchar(9) comment 'a word'`,
              'alter table t modify d varchar(9) invisible',
              'alter table t auto_increment = 1000',
              'alter table t default character set utf8mb4',
              'alter table t add constraint filled check (length(d) > 0)',
              'create index by_d on t (d)',
            ],
          ),
        ],
      ),
    )
  },
)

t.test('whatever decides the values of an SQLite column is a change of it', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-columns-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a.db')
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  const connection = await sqlite.connect({ path }, connectOptions)
  t.teardown(() => connection.close())
  const swap = (columns: string) => ['drop table t', `create table t (${columns})`]
  const of = (columns: string) => [`create table t (${columns})`]
  await replay(
    t,
    {
      run: async statement => database.exec(statement),
      read: () => connection.introspect(),
      clear: ['drop table if exists t'],
    },
    [
      changed('the collation', of('a int, c text'), swap('a int, c text collate nocase'), [
        {},
        { collation: 'NOCASE' },
      ]),
      changed('a quoted collation', of('c collate "rtrim" not null'), swap('c not null'), [
        { collation: 'RTRIM' },
        {},
      ]),
      changed(
        'an expression, within comments and quotes',
        of(
          `a int, "as (" text default ') as (', /* c as (1) */ c int generated always as (a + ')' || 1) -- as (2)\n`,
        ),
        swap(`a int, "as (" text default ') as (', c int generated always as (a + 2)`),
        [{ default: `a + ')' || 1` }, { default: 'a + 2' }],
      ),
      changed('virtual becomes stored', of('a int, c int as (a)'), swap('a int, c int as (a) stored'), [
        { default: 'a', generated: 'virtual' },
        { default: 'a', generated: 'stored' },
      ]),
      changed(
        'AUTOINCREMENT is lost',
        of('c integer primary key autoincrement, b'),
        swap('c integer primary key, b'),
        [{ auto_increment: 'by_default' }, {}],
      ),
      same(
        'how it is written',
        of(
          `[a] int, 'b' int, c text check (c <> ', x collate nocase') collate binary, unique (a, b collate nocase)`,
        ),
        swap('a int, "b" int, `c` text, unique (a, b)'),
      ),
    ],
  )
})

t.test('columns stored before their properties were known do not change by the upgrade', async t => {
  const stage = await makeStage(t)
  const world = await makeWorldOn(t, stage, [
    `create type st as enum ('open')`,
    'create type money_amount as (currency text, amount numeric)',
    'create table p (id int generated always as identity, s st[], m money_amount, n text collate "C")',
    'create table q (a int, b int generated always as (a + 1) stored)',
  ])
  const { app, source, tenant, asset } = world
  await discover(world)
  await source.query('alter table p add column note text')
  t.equal((await recorded(world)).length, 1)
  // What is open at the upgrade is compared with a baseline of the same age.
  const strip = `(select jsonb_agg(e - 'properties') from jsonb_array_elements(X) e)`
  await app.query(
    `update tables set columns = ${strip.replace('X', 'columns')}, fingerprint = 'of the version before',
       baseline = case when baseline is not null
         then jsonb_set(baseline, '{columns}', ${strip.replace('X', `baseline -> 'columns'`)}) end
     where source_id = $1`,
    [asset.id],
  )
  t.same(await recorded(world), [], 'nothing changed')
  t.same(await recorded(world), [])
  const drift = async () => {
    const { body } = await tenant.ask('GET', `/api/v1/sdk/schema/${asset.id}`)
    return (body.data.drift as { change_type: string; object_name: string }[])
      .map(({ change_type: type, object_name: name }) => `${type} ${name}`)
      .toSorted()
  }
  t.same(await drift(), ['column_added note'])

  await source.query(`alter type st add value 'closed'`)
  await source.query('alter table p alter id drop identity')
  matchAll(t, await recorded(world), [
    { object_name: 'id', old_value: { auto_increment: 'always' } },
    {
      object_name: 's',
      old_value: { enum_labels: ['open'] },
      new_value: { enum_labels: ['open', 'closed'] },
    },
  ])
  t.same(
    await drift(),
    ['column_added note', 'column_type_changed id', 'column_type_changed s'],
    'and stays open',
  )
  await source.query('alter table p alter id add generated always as identity')
  await recorded(world)
  t.same(await drift(), ['column_added note', 'column_type_changed s'], 'until it is taken back')
})

t.test('an expression that was unknown with the properties of its column is no change', async t => {
  const column = {
    name: 'c',
    ordinal: 1,
    type: 'int',
    rawType: 'int',
    kind: 'integer',
    nullable: true,
  } as const
  const table = (changes: Partial<TableInfo['columns'][number]>): TableInfo[] => [
    {
      ...{ catalog: 'main', schema: 'main', name: 't', kind: 'table', comment: null, constraints: [] },
      columns: [{ ...column, default: null, comment: null, ...changes }],
    },
  ]
  const now = table({ default: 'a + 1', properties: { generated: 'virtual' } })
  t.same(compareTables(table({}), now), [])
  t.match(compareTables(table({ properties: {} }), now), [{ changeType: 'column_type_changed' }])
  const [accepted] = table({})
  t.same(completeColumns(accepted?.columns ?? [], [accepted?.columns, now[0]?.columns]), now[0]?.columns)
})
