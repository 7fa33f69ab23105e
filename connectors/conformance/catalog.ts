import assert from 'node:assert/strict'
import { sortTables, tablePath, type TableInfo, type TableRef } from '../catalog.ts'
import { sql } from '../sql.ts'
import { awkwardNames, COMMENT, fixtureTypes, TWIN } from './fixture.ts'
import { PATIENCE, settled, type Group, type Kit } from './kit.ts'

/** Schemas of the engines themselves, never a customer's. */
const SYSTEM_SCHEMAS = ['information_schema', 'pg_catalog', 'pg_toast', 'performance_schema', 'sys']

/** What `introspect` and its companions tell. */
export const catalogGroups: readonly Group[] = [
  {
    name: 'introspection',
    async run(t, kit) {
      const { fixture } = kit
      const types = fixtureTypes(fixture)
      const all = await settled(kit.session(connection => connection.introspect()))
      const find = (name: string) => findTable(all, kit, name)

      await kit.holds(
        t,
        'tables have their columns in order, with kind, nullability and default',
        async () => {
          const table = find('conformance_values')
          assert.equal(table.kind, 'table')
          const kinds = table.columns.map(column => [column.name, column.kind])
          const optional = [
            ['decimal_value', 'decimal'],
            ['date_value', 'date'],
            ['timestamp_value', 'timestamp'],
          ].filter(([name]) => types[name?.replace('_value', '') as 'date'] !== null)
          assert.deepEqual(kinds, [
            ['id', 'integer'],
            ['big', 'integer'],
            ['ratio', 'float'],
            ['label', 'text'],
            ...optional,
          ])
          assert.deepEqual(
            table.columns.map(column => column.ordinal),
            table.columns.map((_, index) => index + 1),
          )
          assert.deepEqual(
            table.columns.map(column => column.nullable),
            table.columns.map((_, index) => index > 0),
          )
          const [id, , , label] = table.columns
          assert.equal(id?.default, null)
          assert.match(label?.default ?? '', /none/)
        },
      )
      await kit.holds(
        t,
        'types are canonical and lower case, and kept as the engine spells them',
        async () => {
          for (const { columns } of all) {
            for (const column of columns) {
              assert.equal(column.type, column.type.toLowerCase())
              assert.ok(column.type !== '' && column.rawType !== '', `${column.name} has a type`)
            }
          }
        },
      )
      await kit.holds(t, 'views are views, with columns', async () => {
        const view = find('conformance_view')
        assert.equal(view.kind, 'view')
        assert.deepEqual(
          view.columns.map(column => column.name),
          ['id', 'label'],
        )
      })
      await kit.holds(t, 'awkward names arrive as they are and can be quoted back', () =>
        kit.session(async connection => {
          const names = awkwardNames(fixture)
          for (const [label, name] of names) {
            assert.deepEqual(
              find(name).columns.map(column => column.name),
              [name],
              label,
            )
            const quoted = sql`select ${kit.connector.dialect.quote(name)} from ${kit.table(name)}`
            const rows = await connection.query(quoted, { timeoutMs: PATIENCE })
            assert.deepEqual(Object.entries(rows[0] ?? {}), [[name, 7]], label)
          }
          if (names.some(([label]) => label === 'case twin'))
            assert.ok(find(TWIN), 'the twin is a table of its own')
        }),
      )
      await kit.holds(t, 'tables are sorted and none is told twice', async () => {
        assert.deepEqual(all.map(tablePath), sortTables(structuredClone(all)).map(tablePath))
        assert.equal(new Set(all.map(tablePath)).size, all.length)
      })
      await kit.holds(t, 'system schemas are omitted', async () => {
        const system = new Set([...SYSTEM_SCHEMAS, ...(fixture.systemSchemas ?? [])])
        assert.deepEqual(all.filter(table => system.has(table.schema.toLowerCase())).map(tablePath), [])
      })
      await kit.holds(t, 'a scope limits what is read, and an unknown table in it is no error', async () => {
        const refs = ['conformance_view', 'conformance_values', 'no_such_table'].map(name =>
          reference(kit, name),
        )
        const some = await kit.session(connection => connection.introspect({ tables: refs }))
        assert.deepEqual(some, [find('conformance_values'), find('conformance_view')])
        assert.deepEqual(await kit.session(connection => connection.introspect({ tables: [] })), [])
      })
      await kit.holds(t, 'asking twice gives the same', async () => {
        assert.deepEqual(await kit.session(connection => connection.introspect()), all)
      })
      await kit.holds(t, 'lastModified and estimates are there if and only if they are claimed', () =>
        kit.session(async connection => {
          for (const name of ['lastModified', 'estimates'] as const) {
            assert.equal(connection[name] !== undefined, kit.connector.capabilities[name] === true, name)
          }
        }),
      )
    },
  },
  {
    name: 'constraints',
    needs: 'constraints',
    async run(t, kit) {
      const { integer, varchar } = fixtureTypes(kit.fixture)
      const [parent, child] = [kit.table('conformance_parent'), kit.table('conformance_child')].map(kit.text)
      await kit.fixture.execute(
        `create table ${parent} (a ${integer} not null, b ${integer} not null, code ${varchar} not null, ` +
          `primary key (b, a), unique (code))`,
      )
      await kit.fixture.execute(
        `create table ${child} (id ${integer} not null, of_a ${integer}, of_b ${integer}, ` +
          `primary key (id), foreign key (of_b, of_a) references ${parent} (b, a))`,
      )
      await kit.holds(t, 'keys and unique constraints have their columns in their own order', async () => {
        const refs = ['conformance_child', 'conformance_parent'].map(name => reference(kit, name))
        const tables = await kit.session(connection => connection.introspect({ tables: refs }))
        const told = tables.map(table =>
          table.constraints
            .map(({ type, columns, references }) => ({
              type,
              columns,
              ...(references
                ? { to: references.table.name, schema: references.table.schema, at: references.columns }
                : {}),
            }))
            .sort((a, b) => (a.type < b.type ? -1 : 1)),
        )
        const to = { to: 'conformance_parent', schema: kit.fixture.schema, at: ['b', 'a'] }
        assert.deepEqual(told, [
          [
            { type: 'foreign_key', columns: ['of_b', 'of_a'], ...to },
            { type: 'primary_key', columns: ['id'] },
          ],
          [
            { type: 'primary_key', columns: ['b', 'a'] },
            { type: 'unique', columns: ['code'] },
          ],
        ])
      })
    },
  },
  {
    name: 'comments',
    needs: 'comments',
    async run(t, kit) {
      const { fixture } = kit
      const table = kit.text(kit.table('conformance_texts'))
      const column = kit.text(kit.connector.dialect.quote('label'))
      const text = COMMENT.replaceAll("'", "''")
      const statements = fixture.comment?.(table, column, COMMENT) ?? [
        `comment on table ${table} is '${text}'`,
        `comment on column ${table}.${column} is '${text}'`,
      ]
      for (const statement of statements) await fixture.execute(statement)
      await kit.holds(t, 'comments arrive as they were written, and absent ones as null', async () => {
        const found = await introspectOne(kit, 'conformance_texts')
        assert.equal(found.comment, COMMENT)
        assert.deepEqual(
          found.columns.map(column => column.comment),
          [null, COMMENT],
        )
      })
    },
  },
  {
    name: 'estimates',
    needs: 'estimates',
    async run(t, kit) {
      const table = kit.text(kit.table('conformance_texts'))
      for (const statement of kit.fixture.analyze?.(table) ?? [`analyze ${table}`])
        await kit.fixture.execute(statement)
      await kit.holds(t, 'row estimates come by table path, and unknown tables are left out', () =>
        kit.session(async connection => {
          const refs = ['conformance_texts', 'no_such_table'].map(name => reference(kit, name))
          const found = await connection.estimates?.(refs)
          assert.deepEqual([...(found ?? [])], [[tablePath(refs[0] as TableRef), 7]])
          assert.equal((await introspectOne(kit, 'conformance_texts')).estimatedRows, 7)
          assert.equal((await introspectOne(kit, 'conformance_view')).estimatedRows, undefined)
        }),
      )
    },
  },
  {
    name: 'lastModified',
    needs: 'lastModified',
    async run(t, kit) {
      await kit.holds(t, 'times of modification come by table path, and unknown tables are left out', () =>
        kit.session(async connection => {
          const refs = ['conformance_texts', 'no_such_table'].map(name => reference(kit, name))
          const found = await connection.lastModified?.(refs)
          assert.deepEqual([...(found?.keys() ?? [])], [tablePath(refs[0] as TableRef)])
          assert.ok(
            [...(found?.values() ?? [])].every(time => time instanceof Date && !Number.isNaN(time.getTime())),
          )
        }),
      )
    },
  },
  {
    name: 'renames',
    needs: 'renames',
    async run(t, kit) {
      const { integer } = fixtureTypes(kit.fixture)
      const [table, renamed] = [kit.table('conformance_rename'), kit.table('conformance_renamed')].map(
        kit.text,
      )
      await kit.fixture.execute(`create table ${table} (first ${integer}, second ${integer})`)
      await kit.holds(
        t,
        'the identity of a column survives a rename, and a new column has a new one',
        async () => {
          const before = await introspectOne(kit, 'conformance_rename')
          await kit.fixture.execute(`alter table ${table} rename column first to renamed`)
          await kit.fixture.execute(`alter table ${table} add column first ${integer}`)
          const after = await introspectOne(kit, 'conformance_rename')
          const identity = (of: TableInfo, name: string) =>
            of.columns.find(column => column.name === name)?.identity
          assert.ok(identity(before, 'first'))
          assert.equal(identity(after, 'renamed'), identity(before, 'first'))
          assert.equal(identity(after, 'second'), identity(before, 'second'))
          assert.notEqual(identity(after, 'first'), identity(before, 'first'))
          await kit.fixture.execute(`create table ${renamed} (other ${integer})`)
          assert.notEqual((await introspectOne(kit, 'conformance_renamed')).identity, after.identity)
        },
      )
    },
  },
]

function reference(kit: Kit, name: string): TableRef {
  return { catalog: kit.fixture.catalog, schema: kit.fixture.schema, name }
}

function findTable(tables: TableInfo[], kit: Kit, name: string): TableInfo {
  const path = tablePath(reference(kit, name))
  const found = tables.filter(table => tablePath(table) === path)
  assert.equal(found.length, 1, `${path} is told once`)
  return found[0] as TableInfo
}

async function introspectOne(kit: Kit, name: string): Promise<TableInfo> {
  const tables = await kit.session(connection => connection.introspect({ tables: [reference(kit, name)] }))
  assert.equal(tables.length, 1, `${name} is told once`)
  return tables[0] as TableInfo
}
