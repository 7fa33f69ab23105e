import assert from 'node:assert/strict'
import { assertTables } from '../answers/tables.ts'
import { sortTables, tablePath, type TableInfo } from '../catalog.ts'
import { commentOf, fixtureTypes } from './fixture.ts'
import { failIfHung, type ConformanceKit, type PromiseGroup } from './kit.ts'
import { modifiedGroup } from './modified.ts'
import { partsGroup } from './parts.ts'

/** Schemas of the engines themselves, never a customer's. */
const SYSTEM_SCHEMAS = ['information_schema', 'pg_catalog', 'pg_toast', 'performance_schema', 'sys']

/** What `introspect` and its companions return. */
export const catalogGroups: readonly PromiseGroup[] = [
  {
    name: 'introspection',
    async run(kit) {
      const { fixture } = kit
      const all = await failIfHung(kit.session(connection => connection.introspect()))
      const find = (name: string) => findTable(all, kit, name)

      await kit.holds('every table has the form that the interface declares', async () => {
        await assertTables(kit.connector.name, all)
      })
      await kit.holds('tables have their columns in order, with kind, nullability and default', async () => {
        const table = find('conformance_values')
        assert.equal(table.kind, fixture.tableKind ?? 'table')
        const kinds = table.columns.map(column => [column.name, column.kind])
        assert.deepEqual(kinds, [
          ['id', 'integer'],
          ['big', 'integer'],
          ['ratio', 'float'],
          ['label', 'text'],
        ])
        assert.deepEqual(
          table.columns.map(column => column.ordinal),
          table.columns.map((_, index) => index + 1),
        )
        if (kit.withoutSql) return
        assert.deepEqual(
          table.columns.map(column => column.nullable),
          table.columns.map((_, index) => index > 0),
        )
        const [id, , , label] = table.columns
        assert.equal(id?.default, null)
        assert.match(label?.default ?? '', /none/)
      })
      await kit.holdsUnless(kit.withoutSql, 'views are views, with columns', async () => {
        const view = find('conformance_view')
        assert.equal(view.kind, 'view')
        assert.deepEqual(
          view.columns.map(column => column.name),
          ['id', 'label'],
        )
      })
      const { viewDefinitions } = await kit.session(async connection => connection)
      await kit.holdsUnless(
        kit.withoutSql ?? (viewDefinitions ? undefined : 'the engine gives no definitions of views'),
        'the definition of a view names what it is made from',
        async () => {
          const view = find('conformance_view')
          const defined = await kit.session(async connection => (await connection.viewDefinitions?.()) ?? [])
          const own = defined.filter(each => tablePath(each) === tablePath(view))
          assert.equal(own.length, 1)
          assert.match(own[0]?.definition ?? '', /conformance_values/i)
          const tables = new Set(all.filter(({ kind }) => kind === 'table').map(tablePath))
          assert.ok(!defined.some(each => tables.has(tablePath(each))), 'no table is among them')
        },
      )
      await kit.holds('tables are sorted and none is listed twice', async () => {
        assert.deepEqual(all.map(tablePath), sortTables(structuredClone(all)).map(tablePath))
        assert.equal(new Set(all.map(tablePath)).size, all.length)
      })
      await kit.holds('system schemas are omitted', async () => {
        const system = new Set([...SYSTEM_SCHEMAS, ...(fixture.systemSchemas ?? [])])
        assert.deepEqual(all.filter(table => system.has(table.schema.toLowerCase())).map(tablePath), [])
      })
      await kit.holds('a scope limits what is read, and an unknown table in it is no error', async () => {
        const other = kit.withoutSql ? 'conformance_types' : 'conformance_view'
        const some = await kit.introspect(other, 'conformance_values', 'no_such_table')
        assert.deepEqual(some, sortTables([find('conformance_values'), find(other)]))
        assert.deepEqual(await kit.introspect(), [])
      })
      await kit.holds('asking twice gives the same', async () => {
        assert.deepEqual(await kit.session(connection => connection.introspect()), all)
      })
      await kit.holdsUnless(
        fixture.countStatements ? undefined : 'the fixture counts no statements',
        'as many statements are sent, however many tables there are',
        () => countStatements(kit),
      )
      await kit.holdsInSession(
        'lastModified, estimates, estimateCost and listParts are there if and only if they are claimed',
        async connection => {
          const { capabilities } = kit.connector
          const claims = [
            ['lastModified', capabilities.lastModified],
            ['estimates', capabilities.estimates],
            ['estimateCost', capabilities.costEstimates],
            ['listParts', capabilities.partitions],
          ] as const
          for (const [name, claimed] of claims)
            assert.equal(connection[name] !== undefined, claimed !== undefined, name)
        },
      )
    },
  },
  {
    name: 'constraints',
    needs: 'constraints',
    async run(kit) {
      if (kit.withoutSql) return kit.holdsUnless(kit.withoutSql, 'keys have their columns', async () => {})
      const { integer, varchar } = fixtureTypes(kit.fixture)
      const [parent, child] = [kit.table('conformance_parent'), kit.table('conformance_child')].map(kit.text)
      const list = (...names: string[]) => names.map(name => kit.text(kit.quote(name))).join(', ')
      const declare = (name: string, type: string) => `${list(name)} ${type}`
      const unique = kit.fixture.lacksUnique ? '' : `, unique (${list('code')})`
      await kit.execute(
        `create table ${parent} (${declare('a', integer)} not null, ${declare('b', integer)} not null, ` +
          `${declare('code', varchar)} not null, primary key (${list('b', 'a')})${unique})`,
      )
      await kit.execute(
        `create table ${child} (${declare('id', integer)} not null, ${declare('of_a', integer)}, ` +
          `${declare('of_b', integer)}, primary key (${list('id')}), ` +
          `foreign key (${list('of_b', 'of_a')}) references ${parent} (${list('b', 'a')}))`,
      )
      await kit.holds('keys and unique constraints have their columns in their own order', async () => {
        const tables = await kit.introspect('conformance_child', 'conformance_parent', 'conformance_rows')
        const shown = tables.map(table =>
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
        assert.deepEqual(shown, [
          [
            { type: 'foreign_key', columns: ['of_b', 'of_a'], ...to },
            { type: 'primary_key', columns: ['id'] },
          ],
          [
            { type: 'primary_key', columns: ['b', 'a'] },
            ...(kit.fixture.lacksUnique ? [] : [{ type: 'unique', columns: ['code'] }]),
          ],
          [{ type: 'primary_key', columns: ['id'] }],
        ])
      })
    },
  },
  {
    name: 'comments',
    needs: 'comments',
    async run(kit) {
      if (kit.withoutSql) return kit.holdsUnless(kit.withoutSql, 'comments arrive', async () => {})
      const { fixture } = kit
      const table = kit.text(kit.table('conformance_texts'))
      const column = kit.text(kit.connector.dialect.quote('label'))
      const comment = commentOf(fixture)
      const text = comment.replaceAll("'", "''")
      const statements = fixture.comment?.(table, column, comment) ?? [
        `comment on table ${table} is '${text}'`,
        `comment on column ${table}.${column} is '${text}'`,
      ]
      for (const statement of statements) await kit.execute(statement)
      await kit.holds('comments arrive as they were written, and absent ones as null', async () => {
        const found = await introspectOne(kit, 'conformance_texts')
        assert.equal(found.comment, comment)
        assert.deepEqual(
          found.columns.map(column => column.comment),
          [null, comment],
        )
      })
    },
  },
  {
    name: 'estimates',
    needs: 'estimates',
    async run(kit) {
      const table = kit.text(kit.table('conformance_texts'))
      const analyze = kit.fixture.analyze?.(table) ?? [`analyze ${table}`]
      for (const statement of kit.withoutSql ? [] : analyze) await kit.execute(statement)
      await kit.holdsInSession(
        'row estimates come by table path, and unknown tables are left out',
        async connection => {
          const refs = ['conformance_texts', 'no_such_table'].map(name => kit.ref(name))
          const found = await connection.estimates?.(refs)
          assert.deepEqual([...(found ?? [])], [[tablePath(kit.ref('conformance_texts')), 7]])
          assert.equal((await introspectOne(kit, 'conformance_texts')).estimatedRows, 7)
          if (kit.withoutSql) return
          assert.equal((await introspectOne(kit, 'conformance_view')).estimatedRows, undefined)
        },
      )
    },
  },
  {
    name: 'partitioning',
    async run(kit) {
      const { fixture } = kit
      await kit.holdsUnless(
        fixture.partitionedTable ? undefined : 'the fixture makes no partitioned table',
        'a table has the columns by which its rows are kept apart, and others have none',
        async () => {
          const [table, column] = [kit.text(kit.table('conformance_partitioned')), kit.text(kit.quote('day'))]
          for (const statement of fixture.partitionedTable?.(table, column) ?? [])
            await kit.execute(statement)
          const found = await introspectOne(kit, 'conformance_partitioned')
          const { columns = [], clustering = [] } = found.partitioning ?? {}
          assert.deepEqual([...columns.map(({ name }) => name), ...clustering], ['day'])
          assert.equal((await introspectOne(kit, 'conformance_values')).partitioning, undefined)
          assert.equal((await introspectOne(kit, 'conformance_view')).partitioning, undefined)
        },
      )
    },
  },
  modifiedGroup,
  partsGroup,
  {
    name: 'renames',
    needs: 'renames',
    async run(kit) {
      const { integer } = fixtureTypes(kit.fixture)
      const table = await kit.createTable('conformance_rename', 'first', 'second')
      const column = (name: string) => kit.text(kit.quote(name))
      await kit.holds(
        'the identity of a column survives a rename, and a new column has a new one',
        async () => {
          const before = await introspectOne(kit, 'conformance_rename')
          await kit.execute(`alter table ${table} rename column ${column('first')} to ${column('renamed')}`)
          await kit.execute(`alter table ${table} add column ${column('first')} ${integer}`)
          const after = await introspectOne(kit, 'conformance_rename')
          const identity = (of: TableInfo, name: string) =>
            of.columns.find(column => column.name === name)?.identity
          assert.ok(identity(before, 'first'))
          assert.equal(identity(after, 'renamed'), identity(before, 'first'))
          assert.equal(identity(after, 'second'), identity(before, 'second'))
          assert.notEqual(identity(after, 'first'), identity(before, 'first'))
          await kit.createTable('conformance_renamed', 'other')
          assert.notEqual((await introspectOne(kit, 'conformance_renamed')).identity, after.identity)
        },
      )
    },
  },
]

function findTable(tables: TableInfo[], kit: ConformanceKit, name: string): TableInfo {
  const path = tablePath(kit.ref(name))
  const found = tables.filter(table => tablePath(table) === path)
  assert.equal(found.length, 1, `${path} is listed once`)
  return found[0] as TableInfo
}

async function introspectOne(kit: ConformanceKit, name: string): Promise<TableInfo> {
  return findTable(await kit.introspect(name), kit, name)
}

/** Reads the catalog before and after there are more tables, whole and in part. */
async function countStatements(kit: ConformanceKit): Promise<void> {
  const { fixture } = kit
  const more = Array.from({ length: 5 }, (_, index) => `conformance_more_${index}`)
  const refs = [...more, 'conformance_values', 'conformance_view'].map(name => kit.ref(name))
  await kit.session(async connection => {
    const sent = async (read: () => Promise<unknown>) => {
      const before = (await fixture.countStatements?.()) ?? 0
      await read()
      return ((await fixture.countStatements?.()) ?? 0) - before
    }
    const few = await sent(() => connection.introspect())
    const one = await sent(() => connection.introspect({ tables: refs.slice(-1) }))
    for (const name of more) await kit.createTable(name, 'id')
    assert.ok(few > 0, 'statements are counted')
    assert.equal(await sent(() => connection.introspect()), few, 'with more tables')
    const several = await sent(() => connection.introspect({ tables: refs }))
    assert.equal(several, one, 'with more of them asked for')
  })
}
