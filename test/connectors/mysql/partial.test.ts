import t from 'tap'
import { tablePath, type TableRef } from '../../../connectors/catalog.ts'
import type { Connection } from '../../../connectors/connector.ts'
import { MAX_PROBES } from '../../../connectors/hidden-tables.ts'
import { findHiddenTables, findHiddenParts } from '../../../connectors/mysql/hidden-tables.ts'
import { classifyMysqlError } from '../../../connectors/mysql/errors.ts'
import { sql } from '../../../connectors/sql.ts'
import { mariadbAbsent, startShop, withMysql, type Shop } from '../../helpers/mariadb.ts'
import { failure } from '../../helpers/source.ts'
import { startMysqlProxy } from '../../helpers/mysql-proxy.ts'

const skip = mariadbAbsent

const refs = ({ name: schema }: Shop, ...names: string[]): TableRef[] =>
  names.map(name => ({ catalog: schema, schema, name }))

/** The codes by which tables are hidden, by their names. */
async function hidden(connection: Connection, tables: TableRef[]): Promise<Record<string, string>> {
  const found = (await connection.findHiddenTables?.(tables)) ?? new Map()
  return Object.fromEntries(
    tables.flatMap(table => {
      const error = found.get(tablePath(table))
      return error ? [[table.name, `${error.kind} ${error.code}`]] : []
    }),
  )
}

async function shown(connection: Connection): Promise<string[]> {
  return (await connection.introspect()).map(({ name }) => name)
}

t.test('what is there and cannot be read says why', { skip }, async t => {
  const shop = await startShop(t)
  const owner = `${shop.name}_o`
  await shop.query(`create user ${owner} identified by 'owner-1'`)
  t.teardown(() => shop.query(`drop user ${owner}`))
  for (const statement of [
    'create table gone (id int, b int)',
    'create table part (id int, b int)',
    'create table fine (id int)',
    'create function one() returns int return 1',
    'create view of_gone as select * from gone',
    'create view of_part as select b from part',
    'create view of_view as select * from of_gone',
    'create view of_function as select one() as one',
    'create view of_fine as select * from fine',
    `create definer = ${owner}@'%' view of_owner as select * from fine`,
    `create definer = no_such_user@'%' view without_definer as select * from fine`,
    `create table merged (id int) engine = merge union = (nothing) comment 'Many in one'`,
    'drop table gone',
    'alter table part drop column b',
    'drop function one',
  ])
    await shop.query(statement)

  await withMysql(shop.config, async connection => {
    const tables = await connection.introspect()
    const unread = tables.filter(table => table.columnsError)
    t.same(
      unread.map(({ name }) => name),
      ['merged', 'of_function', 'of_gone', 'of_part', 'of_view'],
      'a view whose owner may not read, or is gone, still has its columns',
    )
    for (const { kind, comment, columns, columnsError: error } of unread.slice(1)) {
      t.same([kind, comment, columns], ['view', null, []])
      t.match(error, {
        kind: 'invalid-query',
        code: '1356',
        engine: 'mysql',
        message: /references invalid table/,
      })
    }
    t.match(unread[0], { comment: null, columnsError: { message: /Unable to open underlying table/ } })
    t.match(await connection.introspect({ tables: refs(shop, 'of_gone') }), [
      { columnsError: { code: '1356' } },
    ])
    t.match(
      await failure(connection.query(sql`select * from without_definer`, { timeoutMs: 10_000 })),
      { kind: 'invalid-query', message: /whose owner .* does not exist/ },
      'and the account of the source is not to blame for it',
    )
  })

  await shop.query(`revoke all privileges, grant option from ${shop.config.username}`)
  await shop.query(`grant trigger on ${shop.name}.fine to ${shop.config.username}`)
  await withMysql(shop.config, async connection => {
    t.match(await connection.introspect(), [
      {
        name: 'fine',
        kind: 'table',
        columns: [],
        columnsError: { kind: 'permission', message: /grant the account SELECT/ },
      },
    ])
  })
})

t.test('what the account may not see is distinguished from what was dropped', { skip }, async t => {
  const shop = await startShop(t)
  const user = shop.config.username
  const all = refs(shop, 'kept', 'dropped', 'lost', 'partly', 'partly_dropped')
  for (const { name } of all) await shop.query(`create table ${name} (id int, secret int)`)

  await t.test('with rights on the whole database, by one statement', async t => {
    const proxy = await startMysqlProxy(t, shop.config)
    await withMysql({ ...shop.config, ssl: 'disable', port: proxy.port }, async connection => {
      await shop.query('create table brief (id int)')
      t.ok((await shown(connection)).includes('brief'))
      await shop.query('drop table brief')
      proxy.commands.splice(0)
      t.same(await hidden(connection, refs(shop, 'brief', 'never', `it's \`a\` "name"`)), {})
      t.equal(proxy.commands.filter(command => command.startsWith('prepare')).length, 1)
      t.same(await hidden(connection, []), {})
      t.same(await hidden(connection, [{ catalog: 'mysql', schema: 'mysql', name: 'user' }]), {}, 'not meant')
    })
  })

  await t.test('with rights on single tables and columns', async t => {
    await shop.query(`revoke all privileges, grant option from ${user}`)
    for (const name of ['kept', 'dropped', 'lost'])
      await shop.query(`grant select on ${shop.name}.${name} to ${user}`)
    for (const name of ['partly', 'partly_dropped'])
      await shop.query(`grant select (id) on ${shop.name}.${name} to ${user}`)
    await withMysql(shop.config, async connection => {
      t.same(await shown(connection), ['dropped', 'kept', 'lost', 'partly', 'partly_dropped'])
      await shop.query(`revoke select on ${shop.name}.lost from ${user}`)
      await shop.query(`revoke select (id) on ${shop.name}.partly from ${user}`)
      // The server keeps the grants on a table that is dropped.
      await shop.query('drop table dropped, partly_dropped')
      t.same(await shown(connection), ['kept'])
      t.same(await hidden(connection, refs(shop, 'dropped', 'lost', 'partly', 'partly_dropped')), {
        lost: 'permission 1142',
        partly: 'permission 1142',
      })
      await shop.query('drop table lost')
      t.same(
        await hidden(connection, refs(shop, 'lost')),
        { lost: 'permission 1142' },
        'which cannot be known',
      )
    })
  })

  await t.test('with no right left', async t => {
    await withMysql(shop.config, async connection => {
      await shop.query(`revoke all privileges, grant option from ${user}`)
      t.same(await shown(connection), [])
      t.same(await hidden(connection, refs(shop, 'kept', 'never')), {
        kept: 'permission 1044',
        never: 'permission 1044',
      })
    })
    t.match(
      await failure(withMysql(shop.config, async () => {})),
      { kind: 'permission', code: '1044' },
      'and the next session is not opened',
    )
  })

  await t.test('by a role that is revoked', async t => {
    const role = `${shop.name}_role`
    await shop.query(`create role ${role}`)
    t.teardown(() => shop.query(`drop role ${role}`))
    await shop.query(`grant select on ${shop.name}.* to ${role}`)
    await shop.query(`grant select on ${shop.name}.kept to ${user}`)
    await shop.query(`grant ${role} to ${user}`)
    await shop.query(`set default role ${role} for ${user}`)
    await withMysql(shop.config, async connection => {
      t.same(await shown(connection), ['kept', 'partly'])
      t.same(await hidden(connection, refs(shop, 'dropped')), {}, 'its rights count')
    })
    await shop.query(`revoke ${role} from ${user}`)
    await withMysql(shop.config, async connection => {
      t.same(await shown(connection), ['kept'])
      t.same(await hidden(connection, refs(shop, 'partly')), { partly: 'permission 1142' })
    })
  })

  await t.test('in a database that is dropped', async t => {
    const other = await startShop(t)
    await other.query('create table a (id int)')
    await withMysql(other.config, async connection => {
      t.same(await shown(connection), ['a'])
      await other.query(`drop database ${other.name}`)
      t.same(await shown(connection), [])
      t.same(await hidden(connection, refs(other, 'a')), {})
    })
    await other.query(`create database ${other.name}`)
  })

  await t.test('and what came back, or is no table now', async t => {
    await shop.query(`create or replace table lost (id int)`)
    await shop.query('create sequence dropped')
    for (const name of ['lost', 'dropped'])
      await shop.query(`grant select on ${shop.name}.${name} to ${user}`)
    await withMysql(shop.config, async connection => {
      t.same(await hidden(connection, refs(shop, 'lost', 'dropped')), { lost: 'other UNLISTED' })
    })
  })
})

t.test('tables beyond the limit are not probed, and none counts as gone', async t => {
  const denied = classifyMysqlError('mysql', { errno: 1142, sqlState: '42000', message: 'denied' })
  const missing = classifyMysqlError('mysql', { errno: 1146, sqlState: '42S02', message: 'none' })
  const tables = Array.from({ length: MAX_PROBES + 3 }, (_, index) => ({
    catalog: 'shop',
    schema: 'shop',
    name: `gone_${index}`,
  }))
  let asked = 0
  const run = async ({ strings }: { strings: readonly string[] }) => {
    const text = strings.join('')
    if (text.includes('schemata')) return [{ shown: 1 }]
    asked += 1
    throw text.includes('gone_') ? missing : denied
  }
  const found = await findHiddenTables({ database: 'shop', run, introspect: async () => [] }, tables)
  t.equal(asked, MAX_PROBES + 1)
  t.same([...found.keys()], tables.slice(MAX_PROBES).map(tablePath))
  for (const { code, message } of found.values())
    t.match(`${code} ${message}`, /^UNCHECKED .* this one was not checked/)
  const broken = classifyMysqlError('mysql', { code: 'PROTOCOL_CONNECTION_LOST' })
  t.match(
    await failure(
      findHiddenTables(
        { database: 'shop', run: () => Promise.reject(broken), introspect: async () => [] },
        tables,
      ),
    ),
    { kind: 'network' },
    'a session that broke finds nothing',
  )
})

t.test('columns are asked after with few statements', { skip }, async t => {
  const shop = await startShop(t)
  await shop.query('create table a (id int, kept int)')
  await shop.query('create table b (id int, kept int)')
  const proxy = await startMysqlProxy(t, shop.config)
  const reduced = ['a', 'b'].flatMap(name =>
    refs(shop, name).map(table => ({ ...table, missingColumns: ['kept', 'gone', 'K', `it's \`a\` "name"`] })),
  )
  // The server reads the rights on a database when a session begins.
  const ask = () =>
    withMysql({ ...shop.config, ssl: 'disable', port: proxy.port }, async connection => {
      proxy.commands.splice(0)
      const found = await connection.findHiddenParts?.(reduced)
      t.same(await connection.findHiddenParts?.([]), new Map())
      return {
        hidden: [...(found ?? [])].map(([, { columns, reason }]) => [columns.join(), reason.code]),
        statements: proxy.commands.filter(command => command.startsWith('prepare')).length,
      }
    })
  t.same(await ask(), { hidden: [], statements: 1 }, 'the whole database is granted')
  const user = shop.config.username
  await shop.query(`revoke all privileges, grant option from ${user}`)
  for (const name of ['a', 'b']) await shop.query(`grant select on ${shop.name}.${name} to ${user}`)
  t.same(await ask(), { hidden: [], statements: 3 }, 'each table is granted whole')
  await shop.query(`revoke select on ${shop.name}.a from ${user}`)
  await shop.query(`grant select (id) on ${shop.name}.a to ${user}`)
  const all = `kept,gone,K,it's \`a\` "name"`
  t.same(await ask(), { hidden: [[all, '1143']], statements: 7 }, 'no right covers them')
})

t.test('columns beyond the limit are not probed, and none counts as gone', async t => {
  const missing = classifyMysqlError('mysql', { errno: 1054, sqlState: '42S22', message: 'none' })
  const denied = classifyMysqlError('mysql', { errno: 1143, sqlState: '42000', message: 'denied' })
  const missingColumns = Array.from({ length: MAX_PROBES + 3 }, (_, index) => `gone_${index}`)
  const table = { catalog: 'shop', schema: 'shop', name: 'wide', missingColumns }
  let asked = 0
  const run = async ({ strings }: { strings: readonly string[] }) => {
    asked += 1
    // The server keeps the grants on columns that are dropped.
    throw strings.join('').includes('gone_') ? missing : denied
  }
  const parts = (await findHiddenParts({ database: 'shop', run }, [table])).get(tablePath(table))
  t.equal(asked, MAX_PROBES + 2)
  t.same(parts?.columns, missingColumns.slice(MAX_PROBES))
  t.match(`${parts?.reason.code} ${parts?.reason.message}`, /^UNCHECKED .*columns.* this one was not checked/)
})
