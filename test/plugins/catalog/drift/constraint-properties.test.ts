import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import type { TableInfo } from '../../../../connectors/catalog.ts'
import { compareTables, fingerprint } from '../../../../plugins/catalog/drift/diff.ts'
import { resolveHostModules } from '../../../../server/extensions.ts'
import { mariadbAbsent, startShop, withMysql } from '../../../helpers/mariadb.ts'
import { connectOptions, startSource, withSession } from '../../../helpers/source.ts'

// The template imports the host by its public name, as a third party's package does.
resolveHostModules()
const { sqlite } = await import('../../../../plugin-template/connector.ts')

/** One form of a constraint: how it is declared, and the properties that its value must hold. */
interface Form {
  sql: string
  value: object
}

const form = (sql: string, value: object = {}): Form => ({ sql, value })

/** Goes from each form to each other one and back, and reads again in between. */
async function cross(
  t: Test,
  forms: readonly Form[],
  { make, read }: { make(sql: string): Promise<void>; read(): Promise<TableInfo[]> },
): Promise<void> {
  for (const from of forms) {
    for (const to of forms.slice(forms.indexOf(from) + 1)) {
      const what = `${from.sql} -> ${to.sql}`
      await make(from.sql)
      const states = [await read()]
      await make(to.sql)
      states.push(await read(), await read())
      await make(from.sql)
      states.push(await read(), await read())
      const differences = states.slice(1).map((after, index) => {
        const before = states[index] ?? []
        const printed = after.filter((table, at) => fingerprint(table) !== fingerprint(before[at] ?? table))
        const changes = compareTables(before, after).map(({ changeType, oldValue, newValue }) => ({
          changeType,
          values: [propertiesOf(oldValue), propertiesOf(newValue)],
        }))
        return { changes, tables: printed.map(({ name }) => name) }
      })
      const change = (a: Form, b: Form) => ({
        changes: [{ changeType: 'constraint_changed', values: [a.value, b.value] }],
        tables: ['c'],
      })
      const none = { changes: [], tables: [] }
      t.same(differences, [change(from, to), none, change(to, from), none], what)
    }
  }
}

function propertiesOf(value: object | null): object | null {
  if (value === null) return null
  const {
    name: _name,
    type: _type,
    columns: _columns,
    references: _references,
    ...rest
  } = value as Record<string, unknown>
  return rest
}

const ACTIONS: [string, string][] = [
  ['restrict', 'restrict'],
  ['cascade', 'cascade'],
  ['set null', 'set_null'],
  ['set default', 'set_default'],
]

/** Foreign keys with each action on delete and on update, and some together. */
const foreignForms = (actions: readonly [string, string][]): Form[] => [
  form(''),
  ...actions.map(([sql, name]) => form(`on delete ${sql}`, { on_delete: name })),
  ...actions.map(([sql, name]) => form(`on update ${sql}`, { on_update: name })),
  form('on delete cascade on update set null', { on_delete: 'cascade', on_update: 'set_null' }),
]

t.test('PostgreSQL', async t => {
  const source = await startSource(t)
  await source.query('create table p (id int primary key, b int, unique (id, b))')
  await source.query('create table c (id int, p int, b int)')
  await withSession(source.config, async connection => {
    const stand = (declare: (sql: string) => string[], drop: string) => ({
      make: async (sql: string) => {
        await source.query(drop)
        for (const statement of declare(sql)) await source.query(statement)
      },
      read: () => connection.introspect(),
    })
    const constraint = (declare: (sql: string) => string) =>
      stand(
        sql => [`alter table c add constraint k ${declare(sql)}`],
        'alter table c drop constraint if exists k',
      )
    const deferring = [
      form('deferrable', { deferrable: true }),
      form('deferrable initially deferred', { deferrable: true, initially_deferred: true }),
    ]
    await cross(
      t,
      [...foreignForms(ACTIONS), ...deferring, form('match full', { match: 'full' })].concat(
        form('match full on delete cascade deferrable', {
          match: 'full',
          on_delete: 'cascade',
          deferrable: true,
        }),
      ),
      constraint(sql => `foreign key (p, b) references p (id, b) ${sql}`),
    )
    await cross(
      t,
      [form(''), ...deferring],
      constraint(sql => `primary key (id) ${sql}`),
    )
    const distinct = { nulls_not_distinct: true }
    await cross(
      t,
      [
        form('(p)'),
        form('nulls not distinct (p)', distinct),
        ...deferring.map(({ sql, value }) => form(`(p) ${sql}`, value)),
        form('nulls not distinct (p) deferrable', { ...distinct, deferrable: true }),
      ],
      constraint(sql => `unique ${sql}`),
    )
    await source.query('alter table c drop constraint k')
    await cross(
      t,
      [form(''), form('nulls not distinct', distinct)],
      stand(sql => [`create unique index k on c (p) ${sql}`], 'drop index if exists k'),
    )
  })
})

t.test('MariaDB', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  await shop.query('create table p (id int primary key)')
  await shop.query('create table c (id int, p int, a varchar(50), b varchar(50), index (p))')
  await withMysql(shop.config, async connection => {
    const stand = (declare: (sql: string) => string, drop: string) => ({
      make: async (sql: string) => {
        await shop.query(drop)
        await shop.query(`alter table c add ${declare(sql)}`)
      },
      read: () => connection.introspect(),
    })
    await cross(
      t,
      foreignForms(ACTIONS.filter(([sql]) => sql === 'cascade' || sql === 'set null')),
      stand(
        sql => `constraint k foreign key (p) references p (id) ${sql}`,
        'alter table c drop foreign key if exists k',
      ),
    )
    await cross(
      t,
      [
        form('a, b'),
        form('a(10), b', { prefix_lengths: [10, null] }),
        form('a(20), b', { prefix_lengths: [20, null] }),
        form('a, b(5)', { prefix_lengths: [null, 5] }),
        form('a(20), b(5)', { prefix_lengths: [20, 5] }),
      ],
      stand(sql => `constraint k unique (${sql})`, 'alter table c drop index if exists k'),
    )
    const same = stand(
      sql => `constraint k foreign key (p) references p (id) ${sql}`,
      'alter table c drop foreign key if exists k',
    )
    const read: TableInfo[][] = []
    await shop.query('alter table c drop index if exists k')
    for (const sql of ['', 'on delete restrict', 'on delete no action on update no action']) {
      await same.make(sql)
      read.push(await same.read())
    }
    t.same(compareTables(read[0] ?? [], read[1] ?? []), [], 'RESTRICT and NO ACTION are one to InnoDB')
    t.same(compareTables(read[0] ?? [], read[2] ?? []), [])
  })
})

t.test('SQLite', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-properties-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a.db')
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  database.exec('create table p (id integer primary key)')
  const connection = await sqlite.connect({ path }, connectOptions)
  t.teardown(() => connection.close())
  await cross(t, foreignForms(ACTIONS), {
    make: async sql =>
      database.exec(`drop table if exists c; create table c (id int, p int references p (id) ${sql})`),
    read: () => connection.introspect(),
  })
})
