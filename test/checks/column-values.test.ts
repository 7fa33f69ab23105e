import t from 'tap'
import { readDateFormat } from '../../checks/date-format.ts'
import { parseMoment } from '../../checks/moments.ts'
import { NotFiniteError, numberLiteral, toNumber } from '../../checks/measures.ts'
import { toPresentable } from '../../checks/samples.ts'

t.test('date formats in letters become strptime formats', async t => {
  const formats: [string, string][] = [
    ['%Y-%m-%d', '%Y-%m-%d'],
    ['%F %T', '%Y-%m-%d %H:%M:%S'],
    ['%d%%%Y', '%d%%%Y'],
    ['YYYY-MM-DD', '%Y-%m-%d'],
    ['YYYY-MM-DD HH:mm:ss', '%Y-%m-%d %H:%M:%S'],
    ['YYYY-MM-DDTHH:mm:ss.SSSZ', '%Y-%m-%dT%H:%M:%S.%f%z'],
    ['YYYY-MM-DD HH24:MI:SS', '%Y-%m-%d %H:%M:%S'],
    ['dd/MM/yyyy', '%d/%m/%Y'],
    ['DD MMM YY', '%d %b %y'],
    ['MMMM DD, YYYY', '%B %d, %Y'],
    ['YYYYMMDD', '%Y%m%d'],
    ['[week of] DD.MM.YYYY', 'week of %d.%m.%Y'],
    ["yyyy-MM-dd'T'HH:mm", '%Y-%m-%dT%H:%M'],
    ['HH:mm', '%H:%M'],
    ['[100%] YYYY', '100%% %Y'],
  ]
  for (const [format, strptime] of formats) t.strictSame(readDateFormat(format), { strptime }, format)
})

t.test('a format that cannot be read is refused with a sentence', async t => {
  const refused: [string, RegExp][] = [
    ['YYYY-QQ', /"QQ", which is no date part/],
    ['%Y-%q', /"%q", which is not supported/],
    ['%Y%', /"%", which is not supported/],
    ['%Y %Y', /twice: %Y and %Y/],
    ['MMM MM YYYY', /twice: %b and %m/],
    ['dd/mm/yyyy', /minutes without hours/],
    ['---', /no date part/],
    ['%%', /no date part/],
    ['y', /"y", which is no date part/],
  ]
  for (const [format, sentence] of refused) {
    const read = readDateFormat(format)
    t.match('error' in read ? read.error : read.strptime, sentence, format)
  }
})

t.test('moments are real days and times, in UTC', async t => {
  t.match(parseMoment('2024-02-29'), { isDay: true, text: '2024-02-29', nextDay: '2024-03-01' })
  t.match(parseMoment('2024-12-31T23:30:00-01:00'), { isDay: false, text: '2025-01-01 00:30:00' })
  t.match(parseMoment('2024-01-01 00:00:00.000001Z'), { text: '2024-01-01 00:00:00.000001' })
  t.match(parseMoment('2024-01-01T10:00'), { text: '2024-01-01 10:00:00' })
  t.match(parseMoment('9999-12-30'), { nextDay: '9999-12-31' })
  t.match(parseMoment('9999-12-31'), { text: '9999-12-31', nextDay: null })
  t.match(parseMoment('9999-12-31T23:59:59.999999Z'), { text: '9999-12-31 23:59:59.999999' })
  t.match(parseMoment('0001-01-01'), { text: '0001-01-01', nextDay: '0001-01-02', from: -62_135_596_800_000 })
  t.match(parseMoment('0099-12-31T23:00:00-01:00'), { text: '0100-01-01 00:00:00' })
  t.match(parseMoment('0004-02-29'), { text: '0004-02-29' }, 'a leap year')
  for (const text of [
    '9999-12-31T23:00:00-01:00',
    '0001-01-01T00:00:00+01:00',
    '0001-02-29',
    '2023-02-29',
    '2024-13-01',
    '2024-1-1',
    '2024-01-01T24:00',
    '0000-01-01',
    '2024-01-01x',
    'now',
    '',
  ]) {
    t.equal(parseMoment(text), null, text)
  }
})

t.test('numbers arrive in many forms; only finite ones are numbers', async t => {
  const numbers: [unknown, number | null][] = [
    [5, 5],
    ['5', 5],
    ['12.5000000000000000', 12.5],
    ['-.5', -0.5],
    ['1e3', 1000],
    ['9007199254740993', 9007199254740992],
    [9007199254740993n, 9007199254740992],
    [null, null],
    [undefined, null],
  ]
  for (const [value, number] of numbers) t.equal(toNumber(value as string), number)
  for (const value of [
    NaN,
    Infinity,
    'NaN',
    '-Infinity',
    '1e999',
    '',
    ' 5',
    '0x10',
    'abc',
    true,
    new Date(),
    {},
  ]) {
    t.throws(() => toNumber(value), NotFiniteError, String(value))
  }
  t.equal(numberLiteral(-0.5).strings[0], '-0.5')
  for (const text of ['1; drop', '1e5e', '--1', 'NaN', '', '1 or 1'])
    t.throws(() => numberLiteral(text), TypeError)
  t.throws(() => numberLiteral(Infinity), TypeError)
})

t.test('sample values are what JSON carries and a database stores', async t => {
  t.equal(toPresentable('x'.repeat(1000)), 'x'.repeat(1000))
  t.equal(toPresentable('x'.repeat(1001)), `${'x'.repeat(999)}…`)
  t.equal(toPresentable('\ud800a\0'), '\ufffda\ufffd')
  t.equal(
    toPresentable(`${'x'.repeat(998)}😀😀`),
    `${'x'.repeat(998)}\ufffd…`,
    'half a character is not kept',
  )
  t.equal(toPresentable(NaN), 'NaN')
  t.equal(toPresentable(-Infinity), '-Infinity')
  t.equal(toPresentable(12345678901234567890n), '12345678901234567890')
  t.equal(toPresentable(new Date(0)), '1970-01-01T00:00:00.000Z')
  t.equal(toPresentable(new Date(NaN)), 'invalid date')
  t.equal(toPresentable(new Uint8Array([0, 255])), '\\x00ff')
  t.equal((toPresentable(new Uint8Array(1e6)) as string).length, 1000)
  t.strictSame(toPresentable({ a: [1, 'x\0', null, { b: NaN }] }), { a: [1, 'x\ufffd', null, { b: 'NaN' }] })
  const big = toPresentable(Array.from({ length: 5000 }, (_, index) => index))
  t.equal(typeof big, 'string')
  t.equal((big as string).length, 1000)
})
