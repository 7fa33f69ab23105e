import t from 'tap'
import type { ConstraintInfo, TableInfo } from '../../../connectors/catalog.ts'
import { introspect } from '../../../connectors/postgresql/introspect.ts'
import { reducedTable, withUnread } from '../../../plugins/catalog/discovery/unreadable.ts'
import { completeConstraints } from '../../../plugins/catalog/drift/constraint-changes.ts'
import { compareTables } from '../../../plugins/catalog/drift/diff.ts'

const COUNT = 2_000
/** How often the name of a constraint is read for each: some dozens, and not once for each other constraint. */
const MAX_READINGS = 50

let readings = 0

/** A table with many constraints, whose names count how often they are read. */
function table(changes: Partial<ConstraintInfo> = {}): TableInfo {
  const constraints = Array.from({ length: COUNT }, (_, index): ConstraintInfo => ({
    get name() {
      readings++
      return `c${index}`
    },
    type: 'unique',
    columns: ['a'],
    ...changes,
  }))
  return {
    catalog: 'shop',
    schema: 'public',
    name: 'orders',
    kind: 'table',
    comment: null,
    columns: [],
    constraints,
  }
}

/** In the order in which looking for each among all takes longest. */
const reversed = (given: TableInfo): TableInfo => ({ ...given, constraints: given.constraints.toReversed() })

for (const [what, work] of [
  ['compared', () => compareTables([table()], [reversed(table({ columns: ['b'] }))]).length],
  ['completed', () => completeConstraints(table().constraints, [table({ properties: {} })])?.length],
  ['asked after', () => reducedTable(table(), table()) ?? COUNT],
  [
    'put back',
    () =>
      withUnread(table(), table({ columns: ['a', 'b'] }), { columns: ['b'], foreignKeys: false } as never)
        .table.constraints.length,
  ],
] as const)
  t.test(`constraints of a table are ${what} in linear time`, async t => {
    readings = 0
    t.equal(work(), COUNT)
    t.ok(readings <= MAX_READINGS * COUNT, `${readings} readings`)
  })

t.test('constraints refer to columns by their numbers', async t => {
  const rows = [
    { part: 'table', oid: 1, name: 'child', a: 'r', b: 'public', c: null, d: null },
    ...[1, 2, 3].map(number => ({
      part: 'target',
      oid: 9,
      number,
      name: `c${number}`,
      a: 'parent',
      b: 'public',
    })),
    { part: 'constraint', oid: 1, number: 1, name: 'f', a: 'f', b: '1', c: '9', d: '3 7 1' },
  ]
  const read = async (_: unknown, take?: (row: never) => void) => {
    for (const row of rows) take?.(row as never)
    return []
  }
  const [child] = await introspect(read as never, 'shop')
  t.match(child, { constraints: [{ columns: ['1'], references: { columns: ['c3', '7', 'c1'] } }] })
})
