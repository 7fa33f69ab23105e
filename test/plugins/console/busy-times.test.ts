/** In which words the clock of the week says when updates arrive. */
import t from 'tap'
import { findBusyTimes } from '../../../plugins/console/client/screens/schedule/busy-times.ts'
import { watchTexts } from '../../../plugins/console/client/texts/watching.ts'

const week = (countAt: (day: number, hour: number) => number) =>
  Array.from({ length: 7 }, (_, day) => Array.from({ length: 24 }, (_, hour) => countAt(day, hour)))
const sentence = (counts: number[][]) => {
  const { days, hours } = findBusyTimes(counts)
  return watchTexts.clockSentence(
    counts.flat().reduce((sum, count) => sum + count, 0),
    days,
    hours.map(String),
  )
}

t.test('a table that is loaded each hour has no busy times, whichever hours are ahead by one', async t => {
  const hourly = week((day, hour) => (day === 3 && hour < 3 ? 9 : 8))
  t.strictSame(findBusyTimes(hourly), { days: [], hours: [] })
  t.equal(sentence(hourly), '1,347 updates, spread over the week.')
})

t.test('the hour of a daily load is named without its days, and the day of a weekly one with it', async t => {
  t.equal(sentence(week((_, hour) => (hour === 6 ? 8 : 0))), '56 updates, most of them at 6.')
  t.equal(
    sentence(week((day, hour) => (day === 0 && hour === 6 ? 9 : day === 4 && hour === 20 ? 1 : 0))),
    '10 updates, most of them on Monday at 6.',
  )
  t.equal(sentence(week((day, hour) => (day === 6 && hour === 2 ? 1 : 0))), '1 update on Sunday at 2.')
})
