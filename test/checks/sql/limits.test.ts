import fc from 'fast-check'
import t from 'tap'
import { limitsOf, type NumberComparison, type NumberRange } from '../../../checks/sql/limits.ts'

const HOLDS: Record<string, (value: number, number: number) => boolean> = {
  '<': (value, number) => value < number,
  '<=': (value, number) => value <= number,
  '=': (value, number) => value === number,
  '>=': (value, number) => value >= number,
  '>': (value, number) => value > number,
  '<>': (value, number) => value !== number,
}

const comparison = fc.record({
  sign: fc.constantFrom(...Object.keys(HOLDS)),
  number: fc.integer({ min: -6, max: 240 }).map(halves => halves / 2),
})

t.test('limits hold exactly where all comparisons do', async t => {
  const values: Record<NumberRange, number[]> = {
    whole: Array.from({ length: 130 }, (_, n) => n),
    percent: Array.from({ length: 401 }, (_, n) => n / 4),
    any: Array.from({ length: 520 }, (_, n) => n / 4 - 5),
  }
  let found = 0
  fc.assert(
    fc.property(
      fc.constantFrom<NumberRange>('whole', 'percent', 'any'),
      fc.array(comparison, { minLength: 1, maxLength: 2 }),
      (range, comparisons) => {
        const limits = limitsOf(comparisons, range)
        if (!limits) return
        found += 1
        const { min = -Infinity, max = Infinity } = limits
        for (const value of values[range]) {
          const isAllowed = comparisons.every(({ sign, number }: NumberComparison) =>
            HOLDS[sign]!(value, number),
          )
          t.equal(value >= min && value <= max, isAllowed, JSON.stringify({ range, comparisons, value }))
        }
      },
    ),
    { numRuns: 60 },
  )
  t.ok(found > 10)
})

t.test('there are none where limits cannot say it, or no value keeps them', async t => {
  t.equal(limitsOf([{ sign: '<>', number: 3 }], 'whole'), null)
  t.equal(limitsOf([{ sign: '<', number: 10 }], 'percent'), null, 'the share next to 10 has no name')
  t.equal(limitsOf([{ sign: '<', number: 0 }], 'whole'), null)
  t.equal(limitsOf([{ sign: '>=', number: 101 }], 'percent'), null)
  t.strictSame(limitsOf([{ sign: '<', number: 10 }], 'whole'), { max: 9 })
})
