import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { formatName, parseName, sortTables, tablePath, type TableInfo } from '../../connectors/catalog.ts'

t.test('names are quoted only where they must be', async t => {
  t.equal(tablePath({ catalog: 'shop', schema: 'public', name: 'orders' }), 'shop.public.orders')
  t.equal(
    tablePath({ catalog: 'a.b', schema: 'say "hi"', name: 'two words' }),
    '"a.b"."say ""hi"""."two words"',
  )
  t.equal(formatName(['', 'Ünïcode🦆']), '"".Ünïcode🦆')
})

t.test('parsing gives back what was formatted, whatever the parts hold', async t => {
  const part = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('.', '"', ' ', 'a') }),
  )
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), parts => {
      assert.deepEqual(parseName(formatName(parts)), parts)
    }),
    { numRuns: 500 },
  )
})

t.test('two lists of parts never have one name', async t => {
  const part = fc.string({ unit: fc.constantFrom('.', '"', ' ', 'a'), maxLength: 4 })
  const parts = fc.array(part, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      if (JSON.stringify(a) !== JSON.stringify(b)) assert.notEqual(formatName(a), formatName(b))
    }),
    { numRuns: 500 },
  )
})

t.test('what is no qualified name is refused, and nothing throws', async t => {
  for (const text of ['', '.', 'a.', '.a', 'a..b', '"a', 'a"', 'a"b', '"a"b', '"a"".b', 'a."b']) {
    t.equal(parseName(text), null, JSON.stringify(text))
  }
  t.same(parseName('a.b c'), ['a', 'b c'], 'white space needs no quotes to be read')
  fc.assert(fc.property(fc.string(), text => void parseName(text)))
})

t.test('tables are sorted level by level in code-unit order, and columns by ordinal', async t => {
  const table = (catalog: string, schema: string, name: string, ordinals: number[] = []): TableInfo => ({
    catalog,
    schema,
    name,
    kind: 'table',
    comment: null,
    constraints: [],
    columns: ordinals.map(ordinal => ({
      name: `c${ordinal}`,
      ordinal,
      type: 'integer',
      rawType: 'integer',
      kind: 'integer',
      nullable: true,
      default: null,
      comment: null,
    })),
  })
  const sorted = sortTables([
    table('a', 'b', 'z', [3, 1, 2]),
    table('b', 'a', 'a'),
    table('a', 'b.c', 'a'),
    table('a', 'b', 'Z'),
    table('a', 'b', 'é'),
    table('a', 'b', 'a'),
  ])
  t.same(
    sorted.map(({ catalog, schema, name }) => [catalog, schema, name].join('/')),
    ['a/b/Z', 'a/b/a', 'a/b/z', 'a/b/é', 'a/b.c/a', 'b/a/a'],
  )
  t.same(
    sorted[2]?.columns.map(column => column.ordinal),
    [1, 2, 3],
  )
})
