import t from 'tap'
import { datePattern } from '../../connectors/dates.ts'

const two = (number: number) => String(number).padStart(2, '0')
const four = (number: number) => String(number).padStart(4, '0')

/** Whether year, month and day are real, by JavaScript's own calendar. */
function isReal(year: number, month: number, day: number): boolean {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return (
    year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month >= 1 && month <= 12
  )
}

t.test('every day of every year is judged as the calendar does', async t => {
  const pattern = new RegExp(datePattern('%Y-%m-%d'))
  const wrong: string[] = []
  const years = [
    0,
    1,
    4,
    99,
    100,
    400,
    1582,
    9996,
    9999,
    ...Array.from({ length: 260 }, (_, index) => 1880 + index),
  ]
  for (const year of years) {
    for (let month = 0; month <= 13; month += 1) {
      for (let day = 0; day <= 32; day += 1) {
        const text = `${four(year)}-${two(month)}-${two(day)}`
        if (pattern.test(text) !== isReal(year, month, day)) wrong.push(text)
      }
    }
  }
  t.same(wrong, [])
})

t.test('two-digit years mean 1969 to 2068', async t => {
  const pattern = new RegExp(datePattern('%y%m%d'))
  for (let year = 0; year <= 99; year += 1) {
    const full = year < 69 ? 2000 + year : 1900 + year
    t.equal(pattern.test(`${two(year)}0229`), isReal(full, 2, 29), two(year))
  }
})

t.test('times, fractions, zones and names of months', async t => {
  const cases: [string, string, boolean][] = [
    ['%H:%M:%S', '00:00:00', true],
    ['%H:%M:%S', '23:59:60', false],
    ['%H:%M:%S', '7:00:00', false],
    ['%S.%f', '01.1234567', false],
    ['%S.%f', '01.1', true],
    ['%H%z', '12+05:30', true],
    ['%H%z', '12-0800', true],
    ['%H%z', '12+2400', false],
    ['%H%z', '12z', false],
    ['%d-%b-%Y', '01-JAN-2024', true],
    ['%d-%b-%Y', '01-January-2024', false],
    ['%d-%b-%Y', '31-Jun-2024', false],
    ['%B %Y', 'may 2024', true],
    ['%m/%d', '02/29', true],
    ['%m/%d', '02/30', false],
    ['%Y', '2024', true],
    ['%Y%%', '2024%', true],
    ['on %d.%m.%Y (at [%H])', 'on 01.02.2024 (at [03])', true],
    ['on %d.%m.%Y (at [%H])', 'on 01a02.2024 (at [03])', false],
    ['%Y^%m\\%d|$', '2024^02\\29|$', true],
    ['%d🦆%m', '01🦆02', true],
  ]
  for (const [format, text, valid] of cases) {
    t.equal(new RegExp(datePattern(format)).test(text), valid, `${format} ${text}`)
  }
})

t.test('what a format cannot mean is refused', async t => {
  for (const format of ['%Q', '%Y-%m-%d %Y', '%Y %y', '%m %b', '%', '%-d', '%d %']) {
    t.throws(() => datePattern(format), /date format/, format)
  }
})
