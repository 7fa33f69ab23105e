import t from 'tap'
import { dateReader } from '../reader/strptime.ts'

t.test('dates', async t => {
  const cases: [string, string, boolean][] = [
    ['%y%j', '24366', true],
    ['%y%j', '23366', false],
    ['%I:%M %p', '12:00 PM', true],
    ['%I:%M %p', '13:00 pm', false],
    ['%d %b', '29 feb', true],
    ['%d.%m.%y', '29.02.70', false],
    ['100%% %Y', '100% 2024', true],
    ['[%Y](%m)^$', '[2024](02)^$', true],
    ['%YT', '2024t', false],
    ['%H:%M%z', '12:00+99:00', false],
    ['%H:%M%z', '12:00-05:30', true],
    ['%d %B', '31 April', false],
    ['%Y-%m-%d', '\u0662024-01-01', false],
  ]
  for (const [format, text, isDate] of cases) t.equal(dateReader(format)(text), isDate, `${format} ${text}`)
  for (const format of ['%Q', '%', '%Y%Y']) t.throws(() => dateReader(format), RangeError, format)
})
