import t from 'tap'
import type { ColumnProfile } from '../../../plugins/profiles/api.ts'
import { frequencyOf, replayCadence } from '../../../plugins/recommendations/cadence.ts'
import type { TableEvidence } from '../../../plugins/recommendations/rules/evidence.ts'
import { isReference, meaningOf, singularOf, wordsOf } from '../../../plugins/recommendations/rules/names.ts'
import { indexParents } from '../../../plugins/recommendations/rules/references.ts'
import { suggestChecks, suggestionId, tableOfId } from '../../../plugins/recommendations/rules/suggest.ts'
import { columnProfile, TABLE_ID as ID, tableOf, typesOf } from './profiles.ts'

t.test('values decide', t => {
  const top = (...counts: number[]) => counts.map((count, n) => ({ value: `v${n}`, count }))
  const of = (name: string, given: Partial<ColumnProfile> & Pick<ColumnProfile, 'kind'>) =>
    typesOf(tableOf([columnProfile(name, { nulls: 111, count: 999, ...given })]))
  t.strictSame(of('status', { kind: 'text', distinct: 3, topValues: top(500, 300, 199) }), [
    'ENUM status',
    'null_percent status',
  ])
  t.strictSame(
    of('channel', { kind: 'text', distinct: 3, topValues: top(598, 400, 1) }),
    ['ENUM channel', 'null_percent channel'],
    'a rare value is one of more to come, so that the list learns',
  )
  t.strictSame(
    of('pizza_size', { kind: 'text', distinct: 3, topValues: top(598, 400, 1) }),
    ['ENUM pizza_size', 'null_percent pizza_size'],
    'one rare value of a few by their meaning',
  )
  t.strictSame(
    of('status', { kind: 'text', distinct: 4, topValues: top(600, 397, 1, 1) }),
    ['ENUM status', 'null_percent status'],
    'nor two',
  )
  const carriers = [5_000, 4_500, 4_000, 3_000, 2_500, 1_500, 1_000, 500, 300, 200, 80, 60, 50, 40]
  const ofCarriers = (name: string, counts: number[]) => {
    const count = counts.reduce((sum, each) => sum + each, 0)
    const column = columnProfile(name, {
      kind: 'text',
      count,
      distinct: counts.length,
      topValues: top(...counts),
    })
    return typesOf(tableOf([column], {}, count)).filter(type => type.startsWith('ENUM'))
  }
  t.strictSame(ofCarriers('carrier', carriers), ['ENUM carrier'])
  t.strictSame(ofCarriers('carrier', [...carriers.slice(0, 10), ...Array<number>(10).fill(1)]), [
    'ENUM carrier',
  ])
  t.strictSame(
    ofCarriers('tag', [60, 30, ...Array<number>(10).fill(1)]),
    [],
    'a tenth of the next rows has a new one',
  )
  t.strictSame(ofCarriers('channel', carriers.slice(0, 8)), ['ENUM channel'])
  t.strictSame(
    ofCarriers(
      'month',
      Array.from({ length: 12 }, () => 400),
    ),
    ['ENUM month'],
  )
  t.strictSame(
    of('city', { kind: 'text', distinct: 3, topValues: top(500, 300, 199) }),
    ['null_percent city'],
    'texts that anyone may write',
  )
  t.strictSame(of('email', { kind: 'text', pattern: { name: 'email', share: 1 } }), [
    'REGEX email',
    'null_percent email',
  ])
  t.strictSame(of('email', { kind: 'text', pattern: { name: 'email', share: 0.99 } }), ['null_percent email'])
  t.strictSame(of('day', { kind: 'text', maxLength: 10, pattern: { name: 'iso_date', share: 1 } }), [
    'DATE_FORMAT day',
    'null_percent day',
  ])
  t.strictSame(
    typesOf(tableOf([columnProfile('x', { kind: 'text', count: 19 })], {}, 19)),
    [],
    'nineteen rows say nothing',
  )
  t.end()
})

t.test(
  'a column whose newest values are from the time of the profile shows updates, whatever it is called',
  t => {
    const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
    const column = (name: string, min: string, max: string) =>
      columnProfile(name, { kind: 'timestamp', min, max, distinct: 500 })
    const of = (columns: ColumnProfile[], freshness: TableEvidence['freshness']) =>
      typesOf(tableOf(columns, freshness && { freshness })).filter(type => type.startsWith('freshness'))
    const none = { signal: null, column: null, isScheduled: false }
    const hour = column('time_hour', at(30), at(0.1))
    t.strictSame(of([hour], none), ['freshness time_hour'])
    t.strictSame(
      of([column('flight_date', at(30), at(0.9)), hour], none),
      ['freshness time_hour'],
      'the newest',
    )
    t.strictSame(of([hour], { signal: 'last_modified', column: null, isScheduled: false }), [
      'freshness null',
    ])
    t.strictSame(of([hour], undefined), [], 'of which nothing is known')
    t.strictSame(of([column('flight_date', at(300), at(20))], none), [], 'an old table')
    t.strictSame(of([column('arrival', at(30), at(-20))], none), [], 'days ahead')
    t.strictSame(of([column('valid_until', at(30), at(0.1))], none), [], 'no load moves it')
    t.strictSame(of([column('run', at(1.2), at(0.1))], none), [], 'one load')
    t.end()
  },
)

t.test('a key that is called after another table is not unique by its values', t => {
  const key = { kind: 'integer', isKeyCandidate: true, distinct: 1_000 } as const
  t.strictSame(typesOf(tableOf([columnProfile('order_number', key)])), [
    'UNIQUE order_number',
    'NOT_NULL order_number',
  ])
  t.strictSame(typesOf(tableOf([columnProfile('customer_id', key)])), ['NOT_NULL customer_id'])
  t.ok(isReference('customer_id', 'orders'))
  t.notOk(isReference('order_id', 'orders'))
  t.end()
})

t.test('measurements are no keys, though each is distinct', t => {
  const given = { kind: 'float', isKeyCandidate: true, min: 10, max: 90, mean: 50, stddev: 12 } as const
  t.strictSame(typesOf(tableOf([columnProfile('temperature', { ...given, distinct: 1_000 })]), [], 0.7), [
    'RANGE temperature',
    'mean temperature',
    'NOT_NULL temperature',
  ])
  t.end()
})

/** The rows of some days until yesterday, with other columns than that of the day. */
function dailyTable(columns: ColumnProfile[], { rows, days }: { rows: number; days: number }): TableEvidence {
  const at = (age: number) => new Date(Date.now() - age * 86_400_000).toISOString().slice(0, 10)
  const day = columnProfile('day', {
    ...{
      kind: 'date',
      count: rows,
      distinct: days,
      min: at(days),
      max: at(1),
      isKeyCandidate: rows === days,
    },
  })
  return tableOf(
    [day, ...columns],
    { freshness: { signal: 'column', column: 'day', isScheduled: false } },
    rows,
  )
}

const only = (table: TableEvidence, type: string) =>
  suggestChecks(table, indexParents([table]), new Map()).filter(each => each.type === type)

t.test('a month of one row a day gets rules, and no mean, which each row moves', t => {
  // Totals of so few days are distinct by chance.
  const counted = {
    count: 30,
    distinct: 30,
    isKeyCandidate: true,
    min: 900,
    max: 1_500,
    mean: 1_200,
    stddev: 150,
  }
  const table = dailyTable([columnProfile('births', { kind: 'integer', ...counted })], { rows: 30, days: 30 })
  t.strictSame(typesOf(table).sort(), [
    ...['NOT_NULL births', 'NOT_NULL day', 'RANGE births', 'UNIQUE day', 'freshness day'],
  ])
  t.strictSame(
    only(table, 'NOT_NULL').map(({ settings }) => settings),
    [{}, {}],
    'a single NULL is a whole load',
  )
  t.end()
})

t.test('a load of many rows may have a NULL, and a list a new value, as few as rows leave open', t => {
  const channel = columnProfile('channel', {
    ...{ kind: 'text', count: 3_000, distinct: 3 },
    topValues: [2_500, 440, 60].map((count, n) => ({ value: `s${n}`, count })),
  })
  const table = dailyTable([channel], { rows: 3_000, days: 30 })
  const tolerances = (some: TableEvidence) =>
    only(some, 'NOT_NULL').map(({ settings }) => settings.alert_threshold_percent)
  t.strictSame(tolerances(table), [undefined, undefined], 'after a thousand rows a single NULL is news')
  const name = columnProfile('name', { kind: 'text', count: 500 })
  t.strictSame(tolerances(dailyTable([name], { rows: 500, days: 30 })), [0.6, 0.6], 'three rows')
  const rare = columnProfile('tail', { kind: 'text', count: 2_990, nulls: 10 })
  const batches = columnProfile('delay', { kind: 'text', count: 2_900, nulls: 100 })
  const others = dailyTable([rare, batches], { rows: 3_000, days: 30 })
  t.strictSame(tolerances(others), [undefined, 0.64], 'ten NULLs are rare, and a hundred are not')
  t.notOk(typesOf(others).includes('null_percent delay'), 'a few NULLs come in batches')
  t.match(only(table, 'ENUM'), [{ settings: { alert_threshold_percent: 0.1, treat_null_as_valid: true } }])
  t.end()
})

t.test('a list is closed where its values are even, or none is rare', t => {
  const settingsOf = (...counts: number[]) => {
    const count = counts.reduce((sum, each) => sum + each, 0)
    const topValues = counts.map((each, n) => ({ value: `v${n}`, count: each }))
    const column = columnProfile('kind', { kind: 'text', count, distinct: counts.length, topValues })
    return only(tableOf([column], {}, count), 'ENUM').map(({ settings }) => settings.alert_threshold_percent)
  }
  t.strictSame(settingsOf(5, 5, 4, 4, 4, 3, 3), [undefined], 'weekdays of a month')
  t.strictSame(settingsOf(20, 6), [undefined])
  t.strictSame(settingsOf(20, 5, 1), [], 'too few rows to learn by')
  t.strictSame(settingsOf(900, 80, 20), [0.3])
  t.end()
})

t.test('bounds lie beyond the values seen, on both sides of zero', t => {
  const boundsOf = (name: string, min: number, p50: number, max: number) => {
    const quantiles = { p05: min, p25: p50, p50, p75: p50, p95: max }
    const column = columnProfile(name, { kind: 'float', min, max, mean: p50, stddev: 1, quantiles })
    return only(tableOf([column]), 'RANGE').map(({ config }) => config)
  }
  t.strictSame(boundsOf('births', 900, 1_200, 1_500), [{ min: 0, max: 5_000 }])
  t.strictSame(
    boundsOf('views', 0, 5, 900),
    [{ min: 0, max: 10_000 }],
    'ten times an extreme far from the median',
  )
  t.strictSame(boundsOf('delta', 40, 50, 60), [{ min: 10, max: 100 }])
  t.strictSame(
    boundsOf('tmin', 2, 10, 20),
    [{ min: -50, max: 50 }],
    'a month without frost says nothing of the next',
  )
  t.strictSame(boundsOf('price', 2, 10, 20), [{ min: 0, max: 50 }])
  t.strictSame(boundsOf('ozone', 2, 10, 40), [{ min: 0, max: 200 }], 'a long tail above')
  t.strictSame(boundsOf('rain', 0, 1, 3), [{ min: 0, max: 10 }])
  t.strictSame(boundsOf('delta', -93.3, -93.2, -93.1), [{ min: -100, max: -50 }])
  t.end()
})

t.test('the fewer values were seen, the further beyond them a bound lies', t => {
  const maxOf = (count: number) => {
    const column = columnProfile('speed', { kind: 'integer', count, distinct: 9, min: 80, max: 120 })
    return only(tableOf([column], {}, count), 'RANGE').map(({ config }) => config.max)
  }
  t.strictSame(maxOf(200), [200])
  t.strictSame(maxOf(199), [500])
  t.end()
})

t.test('texts that are cut are shorter than those seen', t => {
  const patternOf = (minLength: number, maxLength: number) => {
    const column = columnProfile('tail', { kind: 'text', minLength, maxLength })
    return only(tableOf([column]), 'REGEX').map(({ config }) => config.pattern)
  }
  t.strictSame(patternOf(6, 6), ['^.{6,}'])
  t.strictSame(patternOf(6, 40), ['^.{3,}'])
  t.strictSame(patternOf(1, 9), [], 'one letter is not short')
  t.end()
})

t.test('parts of dates have no mean', t => {
  const of = (name: string) => {
    const column = columnProfile(name, { kind: 'integer', min: 1, max: 31, mean: 15, stddev: 9 })
    return only(tableOf([column]), 'mean').length
  }
  t.equal(of('day_of_month'), 0)
  t.equal(of('passengers'), 1)
  t.end()
})

t.test('ids name their table, and depend on what the check is alone', t => {
  const check = { kind: 'validity', type: 'ENUM', column: 'status' } as const
  t.equal(suggestionId(ID, check), suggestionId(ID, check))
  t.not(suggestionId(ID, check), suggestionId(ID, { ...check, type: 'REGEX' }))
  t.equal(tableOfId(suggestionId(ID, check)), ID)
  t.equal(tableOfId('rec_1'), undefined)
  t.end()
})

t.test('names', t => {
  t.strictSame(wordsOf('customerID'), ['customer', 'id'])
  t.strictSame(['categories', 'boxes', 'status', 'statuses', 'orders', 'address'].map(singularOf), [
    ...['category', 'box', 'status', 'status', 'order', 'address'],
  ])
  t.match(meaningOf('discount_pct', 0, 80), { min: 0, max: 100 })
  t.equal(meaningOf('rating', 0, 50), undefined)
  t.end()
})

t.test('a cadence is replayed', t => {
  const hours = (count: number, gap: number) => Array.from({ length: count }, (_, n) => 1e9 + n * gap * 3_600)
  t.equal(replayCadence(hours(6, 24)), null)
  t.match(replayCadence(hours(40, 24)), { typicalGapHours: 24, alerts: 0 })
  const late = hours(40, 24).map((at, n) => (n >= 30 ? at + 5 * 86_400 : at))
  t.match(replayCadence(late), { alerts: 1 })
  t.strictSame([1, 24, 168, 720].map(frequencyOf), ['hourly', 'daily', 'weekly', 'monthly'])
  t.end()
})
