import fc from 'fast-check'
import t from 'tap'
import type { ColumnInfo, ConstraintInfo, TableInfo } from '../../../../connectors/catalog.ts'
import {
  compareTables,
  fingerprint,
  objectKeys,
  type SchemaDifference,
} from '../../../../plugins/catalog/drift/diff.ts'

/** Columns from words `name`, `name:type` or `name:type:identity`, in their order. */
function columns(text: string): ColumnInfo[] {
  return text.split(' ').map((word, index) => {
    const [name = '', type = 'integer', identity] = word.split(':')
    return {
      name,
      ordinal: index + 1,
      type,
      rawType: type,
      kind: 'other',
      nullable: true,
      default: null,
      comment: null,
      ...(identity !== undefined && { identity }),
    }
  })
}

function table(name: string, text: string, changes: Partial<TableInfo> = {}): TableInfo {
  return {
    catalog: 'shop',
    schema: 'public',
    name,
    kind: 'table',
    comment: null,
    columns: columns(text),
    constraints: [],
    ...changes,
  }
}

function key(name: string, type: ConstraintInfo['type'], ...names: string[]): ConstraintInfo {
  return { name, type, columns: names }
}

const brief = (changes: readonly SchemaDifference[]) =>
  changes.map(({ changeType, objectName }) => `${changeType} ${objectName}`)

t.test('a change carries its values, and a constraint those of its own time', async t => {
  const parents = (column: string) => table('parents', `${column}:integer:1`, { identity: '7' })
  const child = (name: string, column: string, properties: ConstraintInfo['properties'] = {}) =>
    table('children', 'id:integer:1 parent:integer:2', {
      identity: '8',
      constraints: [
        {
          ...key(name, 'foreign_key', 'parent'),
          references: { table: { catalog: 'shop', schema: 'public', name: 'parents' }, columns: [column] },
          properties,
        },
      ],
    })
  t.same(
    compareTables([parents('id'), child('parent', 'id')], [parents('number'), child('parent', 'number')]),
    [
      {
        path: 'shop.public.parents',
        changeType: 'column_renamed',
        objectName: 'id',
        objectType: 'column',
        oldValue: { name: 'id', data_type: 'integer', nullable: true },
        newValue: { name: 'number', data_type: 'integer', nullable: true },
        impact: 'high',
      },
    ],
  )
  t.same(
    compareTables(
      [parents('id'), child('old', 'id')],
      [parents('number'), child('new', 'number', { onDelete: 'cascade' })],
    )
      .filter(({ changeType }) => changeType === 'constraint_changed')
      .map(({ oldValue, newValue }) => [oldValue, newValue]),
    [
      [
        {
          name: 'old',
          type: 'foreign_key',
          columns: ['parent'],
          references: { table: 'shop.public.parents', columns: ['id'] },
        },
        null,
      ],
      [
        null,
        {
          name: 'new',
          type: 'foreign_key',
          columns: ['parent'],
          references: { table: 'shop.public.parents', columns: ['number'] },
          on_delete: 'cascade',
        },
      ],
    ],
  )
})

t.test('another kind of thing under a name is one that left and one that came, and no more', async t => {
  const before = table('orders', 'a b', { constraints: [key('orders_key', 'primary_key', 'a')] })
  for (const identity of [undefined, '7']) {
    const old = { ...before, ...(identity && { identity }) }
    const changes = compareTables(
      [old],
      [{ ...old, kind: 'view', columns: columns('b c d'), constraints: [] }],
    )
    t.same(
      changes.map(({ changeType, path, oldValue, newValue }) => ({ changeType, path, oldValue, newValue })),
      [
        {
          changeType: 'table_removed',
          path: 'shop.public.orders',
          oldValue: { name: 'orders', type: 'table', columns: 2 },
          newValue: null,
        },
        {
          changeType: 'table_added',
          path: 'shop.public.orders',
          oldValue: null,
          newValue: { name: 'orders', type: 'view', columns: 3 },
        },
      ],
    )
  }
})

t.test('without identities a rename is assumed only where no other change is possible', async t => {
  const changesOf = (before: string, after: string) =>
    brief(compareTables([table('t', before)], [table('t', after)])).toSorted()
  t.same(changesOf('a b', 'a c'), ['column_renamed b'])
  t.same(changesOf('a b c', 'a c d'), ['column_added d', 'column_removed b'], 'another place')
  t.same(changesOf('a b', 'a c:text'), ['column_added c', 'column_removed b'], 'another type')
  t.same(changesOf('a b', 'c d'), [
    'column_added c',
    'column_added d',
    'column_removed a',
    'column_removed b',
  ])
  t.same(changesOf('a b', 'b a'), [], 'the order is nothing')
  t.same(
    brief(
      compareTables([table('t', 'a', { identity: '7' })], [table('t', 'b:integer:1', { identity: '8' })]),
    ).toSorted(),
    ['column_added b', 'column_removed a'],
    'where there are identities, nothing is guessed',
  )
})

t.test('a database restored from a dump is what it was, whatever its numbers say', async t => {
  // One column had been dropped. The table got the same number by chance; its columns are counted from one.
  const before = table('t', 'a:integer:1 c:text:3 d:date:4', { identity: '16384' })
  const restored = table('t', 'a:integer:1 c:text:2 d:date:3', { identity: '16384' })
  t.same(compareTables([before], [restored]), [])
  t.same(
    brief(compareTables([before], [table('t', 'a:integer:1 c:text:3 e:date:4', { identity: '16384' })])),
    ['column_renamed d'],
  )
  t.same(
    brief(compareTables([before], [table('t', 'a:integer:1 c:text:3 e:date:5', { identity: '16384' })])),
    ['column_removed d', 'column_added e'],
    'and a new column has a number that was never given',
  )
})

t.test('constraints of one name and two types are two', async t => {
  const [unique, foreign] = [key('same', 'unique', 'a'), key('same', 'foreign_key', 'a')]
  const having = (...constraints: ConstraintInfo[]) => [table('t', 'a', { constraints })]
  const changesOf = (before: TableInfo[], after: TableInfo[]) =>
    compareTables(before, after).map(({ oldValue, newValue }) => [oldValue, newValue])
  t.same(changesOf(having(foreign, unique), having(unique, foreign)), [])
  t.same(changesOf(having(foreign, unique), having(unique)), [[foreign, null]])
  t.same(changesOf(having(unique), having(foreign, unique)), [[null, foreign]])
  const primary = key('same', 'primary_key', 'a')
  t.same(changesOf(having(unique), having(primary)), [[unique, primary]], 'a single one was modified')
})

t.test('a change knows what it is about', async t => {
  const at = (before: string, after: string) =>
    compareTables([table('t', before, { identity: '7' })], [table('t', after, { identity: '7' })])
  const keys = (changes: readonly SchemaDifference[]) => changes.map(objectKeys)
  const column = (name: string) => JSON.stringify(['shop.public.t', 'column', name])

  t.same(keys(at('a:integer:1', 'a:text:1')), [[column('a')]])
  t.same(keys(at('a:integer:1', 'a:integer:1 b:text:2')), [[column('b')]])
  t.same(keys(at('a:integer:1', 'b:text:1')), [
    [column('a'), column('b')],
    [column('b'), column('a')],
  ])
  t.same(keys(compareTables([], [table('t', 'a')])), [[JSON.stringify(['shop.public.t', 'table'])]])
  t.same(
    keys(compareTables([table('t', 'a')], [table('t', 'a', { kind: 'view' })])),
    [[JSON.stringify(['shop.public.t', 'table'])], [JSON.stringify(['shop.public.t', 'table'])]],
    'both halves of a replacement are about one thing',
  )
  const constrained = (...constraints: ConstraintInfo[]) => [table('t', 'a', { constraints })]
  t.same(
    keys(compareTables(constrained(key('u', 'unique', 'a')), constrained(key('u', 'primary_key', 'a')))),
    [
      [
        JSON.stringify(['shop.public.t', 'constraint', 'unique', 'u']),
        JSON.stringify(['shop.public.t', 'definition', 'unique', ['a'], []]),
        JSON.stringify(['shop.public.t', 'constraint', 'primary_key', 'u']),
        JSON.stringify(['shop.public.t', 'definition', 'primary_key', ['a'], []]),
      ],
    ],
  )
  const stored = JSON.parse(JSON.stringify(at('a:integer:1', 'b:integer:1'))) as SchemaDifference[]
  t.same(keys(stored), keys(at('a:integer:1', 'b:integer:1')), 'also one that was stored')
})

const word = fc.constantFrom('a', 'b', 'c', 'a b', '')
const anyColumns = fc
  .uniqueArray(
    fc.record({
      name: word,
      ordinal: fc.constantFrom(1, 2, 3),
      type: fc.constantFrom('integer', 'text'),
      rawType: fc.constantFrom('integer', 'text'),
      kind: fc.constantFrom('integer' as const, 'text' as const),
      nullable: fc.boolean(),
      default: fc.option(word),
      comment: fc.option(word),
      identity: fc.constantFrom('1', '2', '3'),
    }),
    { selector: ({ name }) => name, maxLength: 3 },
  )
  // No number is given twice.
  .map(list => list.filter((one, at) => list.findIndex(other => other.identity === one.identity) === at))
const anyTable: fc.Arbitrary<TableInfo> = fc.record({
  catalog: fc.constant('shop'),
  schema: fc.constant('public'),
  name: fc.constantFrom('t', 'u'),
  kind: fc.constantFrom('table' as const, 'view' as const),
  comment: fc.option(word),
  columns: anyColumns,
  constraints: fc.uniqueArray(
    fc.record(
      {
        name: word,
        type: fc.constantFrom('primary_key' as const, 'foreign_key' as const, 'unique' as const),
        columns: fc.array(word, { maxLength: 2 }),
        references: fc.record({
          table: fc.record({
            catalog: fc.constant('shop'),
            schema: fc.constant('public'),
            name: fc.constantFrom('t', 'u'),
          }),
          columns: fc.array(word, { maxLength: 2 }),
        }),
      },
      { requiredKeys: ['name', 'type', 'columns'] },
    ),
    { selector: ({ name }) => name, maxLength: 2 },
  ),
  identity: fc.constantFrom('7', '8'),
})
const anyCatalog = fc.uniqueArray(anyTable, { selector: ({ name }) => name, maxLength: 2 })

t.test(
  'tables of equal fingerprints do not differ, and a stored one has the fingerprint it had',
  async () => {
    fc.assert(
      fc.property(anyTable, anyTable, (a, b) => {
        const stored = JSON.parse(JSON.stringify(a, Object.keys(flatKeys(a)).toReversed())) as TableInfo
        const isSame =
          a.name !== b.name || fingerprint(a) !== fingerprint(b) || compareTables([a], [b]).length === 0
        return isSame && fingerprint(stored) === fingerprint(a)
      }),
      { seed: 1, numRuns: 2_000 },
    )
  },
)

t.test('a catalog does not differ from itself, in whatever order it is listed', async () => {
  fc.assert(
    fc.property(anyCatalog, tables => {
      const other = tables.map(one => ({
        ...one,
        comment: 'another',
        columns: one.columns.toReversed().map((column, index) => ({ ...column, ordinal: index + 7 })),
        constraints: one.constraints.toReversed(),
      }))
      return (
        compareTables(tables, tables).length === 0 && compareTables(tables, other.toReversed()).length === 0
      )
    }),
    { seed: 2, numRuns: 1_000 },
  )
})

/** All names of fields of a value, in any depth. */
function flatKeys(value: object): Record<string, true> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]): [string, true][] => [
      ...(Array.isArray(value) ? [] : [[name, true] as [string, true]]),
      ...(inner !== null && typeof inner === 'object'
        ? (Object.entries(flatKeys(inner as object)) as [string, true][])
        : []),
    ]),
  )
}
