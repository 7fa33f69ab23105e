import fc from 'fast-check'
import t from 'tap'
import { sayAge, sayAgeAbove, sayDuration } from '../../../server/settings/durations.ts'

const HOUR = 3_600
const DAY = 24 * HOUR

t.test('a threshold is said as people say it', async t => {
  t.equal(sayDuration(HOUR), '1 h')
  t.equal(sayDuration(90 * 60), '90 min')
  t.equal(sayDuration(DAY), '24 h')
  t.equal(sayDuration(7 * DAY), '7 days')
  t.equal(sayDuration(25 * HOUR + 600), '25 h 10 min')
})

t.test('an age above a threshold is said in so fine a unit that it is seen to be above', async t => {
  t.equal(sayAgeAbove(3 * DAY + 2 * HOUR, DAY), '3 days')
  t.equal(sayAgeAbove(24 * HOUR + 1_200, DAY), '24 h 20 min')
  t.equal(sayAgeAbove(DAY + 20, DAY), 'just over 24 h')
  t.equal(sayAgeAbove(20 * HOUR, DAY), sayAge(20 * HOUR))
  fc.assert(
    fc.property(
      fc.integer({ min: 60, max: 90 * DAY }),
      fc.integer({ min: 1, max: 90 * DAY }),
      (least, more) => {
        const threshold = Math.ceil(least / 60) * 60
        t.not(sayAgeAbove(threshold + more, threshold), sayDuration(threshold))
      },
    ),
    { numRuns: 500 },
  )
})
