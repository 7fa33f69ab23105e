import t from 'tap'
import type { ColumnInfo, TableInfo } from '../../../../connectors/catalog.ts'
import type { SchemaDifference } from '../../../../plugins/catalog/drift/diff.ts'
import { computeDrift, type TableDrift } from '../../../../plugins/catalog/drift/drift.ts'

/** A table whose columns are written `name:type`; a column is the same one in all states by its place in `all`. */
function table(all: readonly string[], columns: string): TableInfo {
  return {
    catalog: 'db',
    schema: 'public',
    name: 'orders',
    kind: 'table',
    comment: null,
    identity: '1',
    constraints: [],
    columns: columns.split(' ').map((text): ColumnInfo => {
      const [id = '', name = id, type = 'integer'] = text.split(':')
      const ordinal = all.indexOf(id) + 1
      return {
        name,
        ordinal,
        type,
        rawType: type,
        kind: 'integer',
        nullable: true,
        default: null,
        comment: null,
        identity: String(ordinal),
      }
    }),
  }
}

/** Goes through states of a table, each a discovery, and keeps what is open as a catalog does. */
function live(first: string | null, ...states: (string | null)[]) {
  const all = ['a', 'b', 'c', 'd']
  const made = (state: string | null) => (state === null ? null : table(all, state))
  let [before, accepted] = [made(first), made(first)]
  let open: SchemaDifference[] = []
  let last: TableDrift | undefined
  for (const state of states) {
    const now = made(state)
    ;[last] = computeDrift([{ path: 'db.public.orders', accepted, before, now }])
    if (!last) throw new Error('nothing changed')
    open = [...open.filter(change => last?.standing(open).has(change)), ...last.news]
    if (last.isReverted) accepted = now
    before = now
  }
  return {
    isReverted: last?.isReverted,
    open: open.map(({ changeType, objectName }) => `${changeType} ${objectName}`),
  }
}

t.test('what is taken back is no longer open, and the rest is', async t => {
  t.same(live('a b', 'a'), { isReverted: false, open: ['column_removed b'] })
  t.same(live('a b', 'a', 'a b'), { isReverted: true, open: [] })
  t.same(live('a b', 'a c', 'a b c'), { isReverted: false, open: ['column_added c'] })
  t.same(live('a b', 'a c', 'a b'), { isReverted: true, open: [] }, 'two at once')
  t.same(live('a:a:int', 'a:a:text', 'a:a:int'), { isReverted: true, open: [] })
  t.same(live('a:a:int', 'a:a:text', 'a:a:json'), {
    isReverted: false,
    open: ['column_type_changed a', 'column_type_changed a'],
  })
})

t.test('a chain of renames stays open until its end is what its start was', async t => {
  t.same(live('a:x', 'a:y', 'a:y:text', 'a:z:text').open, [
    'column_renamed x',
    'column_type_changed y',
    'column_renamed y',
  ])
  t.same(live('a:x', 'a:y', 'a:z', 'a:x'), { isReverted: true, open: [] })
})

t.test('a table that came or left stands for all that is in it', async t => {
  t.same(live(null, 'a'), { isReverted: false, open: ['table_added orders'] })
  t.same(
    live(null, 'a', 'a b').open,
    ['table_added orders', 'column_added b'],
    'not accepted yet, still open',
  )
  t.same(live(null, 'a', null), { isReverted: true, open: [] })
  t.same(live('a', null, 'a'), { isReverted: true, open: [] })
  t.same(live('a', null, 'a b').open, ['table_removed orders', 'table_added orders'], 'it is not what it was')
  t.same(live('a', null, 'a b', 'a'), { isReverted: true, open: [] })
})
