import t from 'tap'
import type { TableEvidence } from '../../../../plugins/recommendations/rules/evidence.ts'
import { columnProfile, tableOf, typesOf } from '../profiles.ts'

t.test('references need values that lie within those of the parent', t => {
  const child = (max: number) =>
    tableOf([columnProfile('customer_id', { kind: 'integer', distinct: 100, min: 1, max })])
  const parent = tableOf(
    [columnProfile('id', { kind: 'integer', distinct: 200, min: 1, max: 200, isKeyCandidate: true })],
    { id: '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6e', name: 'dim_customers' },
  )
  t.ok(typesOf(child(200), [parent]).includes('referential customer_id'))
  t.notOk(typesOf(child(201), [parent]).includes('referential customer_id'))
  t.end()
})

t.test('a column refers to the key that has its name, of the table that is called after it', t => {
  const parent = (key: string, name = 'carriers') =>
    tableOf([columnProfile(key, { kind: 'text', distinct: 16, isKeyCandidate: true })], {
      ...{ id: '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6e', name },
    })
  const flights = tableOf([columnProfile('carrier', { kind: 'text', distinct: 15 })], { name: 'flights' })
  const isOffered = (...parents: TableEvidence[]) =>
    typesOf(flights, parents, 0.7).includes('referential carrier')
  t.ok(isOffered(parent('carrier')))
  t.notOk(isOffered(parent('name')), 'a name is no key')
  t.notOk(isOffered(parent('id')), 'an id is another value')
  t.notOk(isOffered(parent('carrier', 'airlines')), 'other tables may have columns of that name')
  t.notOk(
    typesOf(flights, [parent('carrier')]).includes('referential carrier'),
    'watching at standard leaves it out',
  )
  t.end()
})
