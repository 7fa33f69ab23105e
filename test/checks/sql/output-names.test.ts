import t from 'tap'
import { findOutputName } from '../../../checks/sql/output-names.ts'
import type { TableInfo } from '../../../connectors/catalog.ts'

t.test('an expression may not name what only the statement of a scan has', async t => {
  const orders = { name: 'orders', columns: [{ name: 'm2' }, { name: 'total' }] } as TableInfo
  const of = (...columns: string[]) => findOutputName({ columns }, orders)
  t.equal(of('total', 'm1'), 'The column m1 does not exist in orders.')
  t.match(of('g0'), /g0/)
  t.equal(of('m2', 'total'), null, 'a column of that name hides it')
  t.equal(of('missing'), null, 'the engine refuses other names')
})
