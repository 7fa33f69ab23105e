/** What connectors return of the parts of a table is validated. */
import t from 'tap'
import { assertParts } from '../../../connectors/answers/sessions.ts'
import { raw } from '../../../connectors/sql.ts'

const part = { name: 'p1', version: '1', from: raw('p1') }

t.test('parts that are none are refused with what is wrong', async t => {
  for (const [answer, said] of [
    [undefined, 'null or an array of parts is required'],
    [{}, 'null or an array of parts is required'],
    [[null], 'part 0 must be an object'],
    [[part, { ...part, name: 2 }], 'part 1: name and version must be strings'],
    [[{ ...part, version: '' }], 'part 0: name and version must be strings'],
    [[{ ...part, from: 'p1' }], 'part 0: from must be SQL'],
    [[part, { ...part, version: '2' }], 'two parts have one name'],
  ] as const)
    t.throws(() => assertParts('acme', answer), {
      message: `The connector acme returned a wrong answer to listParts: ${said}`,
    })
})

t.test('parts, none and unknown ones pass', async t => {
  t.equal(assertParts('acme', null), null)
  t.strictSame(assertParts('acme', []), [])
  t.strictSame(assertParts('acme', [part]), [part])
})
