import fc from 'fast-check'
import t from 'tap'
import { didYouMean, editsBetween, nearest, quoteName } from '../../../server/http/nearest.ts'

t.test('the names nearest to a misspelt one are suggested, and no others', t => {
  const names = ['orders', 'order_items', 'customers', 'critical', 'created_at', 'crested_at']
  for (const [given, candidates] of [
    ['ordrs', ['orders']],
    ['oredrs', ['orders']],
    ['ORDERS', ['orders']],
    ['orderitems', ['order_items']],
    ['Order-Items', ['order_items']],
    ['crit', ['critical']],
    ['crexted_at', ['created_at', 'crested_at']],
    ['cr', []],
    ['x', []],
    ['', []],
    ['payments', []],
    ['o'.repeat(5_000), []],
  ] as [string, string[]][])
    t.strictSame(nearest(given, names), candidates, given.slice(0, 20))
  t.strictSame(nearest('a', ['b', 'ab']), [], 'another letter is another name')
  t.equal(nearest('nam', ['name', 'nama', 'namb', 'namc']).length, 3, 'three at most')
  t.equal(didYouMean([]), '')
  t.equal(didYouMean(['a', 'b']), '; did you mean `a` or `b`?')
  t.equal([...quoteName('x'.repeat(500))].length, 131, 'a long name is cut')
  t.end()
})

t.test('the distance is a number of edits, the same in both directions', t => {
  const word = fc.string({ maxLength: 12, unit: fc.constantFrom('a', 'b', 'c') })
  fc.assert(
    fc.property(word, word, (a, b) => {
      const edits = editsBetween(a, b)
      const longer = Math.max(a.length, b.length)
      return (
        edits === editsBetween(b, a) &&
        edits >= Math.abs(a.length - b.length) &&
        edits <= longer &&
        (edits === 0) === (a === b)
      )
    }),
  )
  fc.assert(
    fc.property(word, fc.nat(11), (text, at) => {
      const exchanged = text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2)
      return editsBetween(text, exchanged) <= 1
    }),
  )
  t.end()
})
