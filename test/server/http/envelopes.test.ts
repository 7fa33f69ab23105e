import t from 'tap'
import { exampleIn, exampleRecord, held, record } from '../../../server/http/envelopes.ts'

t.test('a record takes the examples of its fields for its own', async t => {
  const fields = { id: held.integer.example(7), name: held.text.allow(null).example(null), count: held.count }
  const place = exampleRecord(fields)
  t.strictSame(exampleIn(place), { id: 7, name: null })
  t.strictSame(exampleIn(exampleRecord(fields, { id: 8, count: 1 })), { id: 8, name: null, count: 1 })
  t.strictSame(place.extract('id').describe().examples, undefined, 'fields do not repeat them')
  t.strictSame(exampleIn(fields.id), 7, 'the field is as it was')

  const outer = exampleRecord({ place, other: record({ id: held.integer }).example({ id: 9 }) })
  t.strictSame(exampleIn(outer), { place: { id: 7, name: null }, other: { id: 9 } })
  t.strictSame(exampleIn(outer.extract('place')), { id: 7, name: null }, 'a record among them keeps its own')
  t.strictSame(exampleIn(outer.extract('other')), undefined)
})
