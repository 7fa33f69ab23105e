import t from 'tap'
import { compareDecimals, shiftDecimal } from '../../checks/decimals.ts'
import { range } from '../../checks/rules/range.ts'

t.test('the point moves and no digit changes', async t => {
  const cases: [value: number | string, places: number, expected: string][] = [
    [99.9, -2, '0.999'],
    [33.333333, -2, '0.33333333'],
    [100, -2, '1'],
    [0, -2, '0'],
    [-0.5, 1, '-5'],
    [1e-7, -2, '0.000000001'],
    [1.5e300, 0, `15${'0'.repeat(299)}`],
    ['-000.10', 0, '-0.1'],
    ['-0.0', 3, '0'],
    ['12345678901234567890.5', 1, '123456789012345678905'],
  ]
  for (const [value, places, expected] of cases) t.equal(shiftDecimal(value, places), expected)
  for (const value of ['', '1e', 'x', NaN, Infinity]) t.throws(() => shiftDecimal(value, 0), TypeError)
})

t.test('decimals are ordered as the integers that they are parts of', async t => {
  const texts = ['-10', '-9.5', '-0.001', '0', '-0', '0.0', '1e-7', '0.1', '0.10', '1', '9.99', '10', '1e300']
  const sizeOf = (text: string) => BigInt(shiftDecimal(text, 20))
  for (const a of texts)
    for (const b of texts) {
      const [first, second] = [sizeOf(a), sizeOf(b)]
      const expected = first < second ? -1 : Number(first > second)
      t.equal(Math.sign(compareDecimals(a, b)), expected, `${a} and ${b}`)
    }
})

t.test('RANGE takes bounds in their exact order and refuses others', async t => {
  const low = '4.9999999999999999998'
  const high = '4.9999999999999999999'
  t.match(range.config.validate({ min: high, max: low }).error, { message: /min above max/ })
  for (const bounds of [
    { min: low, max: high },
    { min: high, max: high },
    { min: '-9007199254740993', max: '-9007199254740992' },
    { min: 1e-7, max: '0.0000002' },
  ])
    t.equal(range.config.validate(bounds).error, undefined, JSON.stringify(bounds))
  t.match(range.config.validate({ min: '9007199254740993', max: '9007199254740992' }).error, {
    message: /min above max/,
  })
})
