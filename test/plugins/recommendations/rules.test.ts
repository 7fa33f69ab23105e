import t from 'tap'
import type { ColumnProfile } from '../../../plugins/profiles/api.ts'
import { frequencyOf, replayCadence } from '../../../plugins/recommendations/cadence.ts'
import type { TableEvidence } from '../../../plugins/recommendations/rules/evidence.ts'
import { isReference, meaningOf, singularOf, wordsOf } from '../../../plugins/recommendations/rules/names.ts'
import { indexParents } from '../../../plugins/recommendations/rules/references.ts'
import { suggestChecks, suggestionId, tableOfId } from '../../../plugins/recommendations/rules/suggest.ts'
import { columnProfile } from './profiles.ts'

const ID = '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'

function tableOf(columns: ColumnProfile[], given: Partial<TableEvidence> = {}, rows = 1_000): TableEvidence {
  return {
    ...{ id: ID, catalog: 'c', schema: 's', name: 'orders', kind: 'table' },
    columns: columns.map(({ name, type, kind }) => ({ name, type, kind })),
    ...{ constraints: [], columnTags: {}, estimatedRows: null, dependents: 0 },
    profile: {
      ...{ id: ID, sourceId: ID, tableId: ID, profiledAt: new Date(), rowCount: rows, isRowCountExact: true },
      ...{
        profiledRows: rows,
        isSampled: false,
        profiledWindow: null,
        statements: 2,
        milliseconds: 5,
        columns,
      },
    },
    ...given,
  }
}

const typesOf = (table: TableEvidence, others: TableEvidence[] = [], least = 0.8) =>
  suggestChecks(
    table,
    indexParents([table, ...others]),
    new Map(others.flatMap(({ id, profile }) => (profile ? [[id, profile] as const] : []))),
  )
    .filter(({ confidence, type }) => confidence >= least && type !== 'row_count')
    .map(({ type, column }) => `${type} ${column}`)

t.test('values decide', t => {
  const top = (...counts: number[]) => counts.map((count, n) => ({ value: `v${n}`, count }))
  const of = (name: string, given: Partial<ColumnProfile> & Pick<ColumnProfile, 'kind'>) =>
    typesOf(tableOf([columnProfile(name, { nulls: 1, count: 999, ...given })]))
  t.strictSame(of('status', { kind: 'text', distinct: 3, topValues: top(500, 300, 199) }), [
    'ENUM status',
    'null_percent status',
  ])
  t.strictSame(
    of('channel', { kind: 'text', distinct: 3, topValues: top(598, 400, 1) }),
    ['null_percent channel'],
    'a rare value is one of more to come',
  )
  t.strictSame(
    of('pizza_size', { kind: 'text', distinct: 3, topValues: top(598, 400, 1) }),
    ['ENUM pizza_size', 'null_percent pizza_size'],
    'one rare value of a few by their meaning',
  )
  t.strictSame(
    of('status', { kind: 'text', distinct: 4, topValues: top(600, 397, 1, 1) }),
    ['null_percent status'],
    'but not two',
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
  t.strictSame(ofCarriers('carrier', carriers), [], 'a list with a long tail is open')
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
    typesOf(tableOf([columnProfile('x', { kind: 'text', count: 20 })], {}, 20)),
    [],
    'twenty rows say nothing',
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
    'NOT_NULL temperature',
    'mean temperature',
    'RANGE temperature',
  ])
  t.end()
})

t.test('references need values that lie within those of the parent', t => {
  const child = (max: number) =>
    tableOf([columnProfile('customer_id', { kind: 'integer', distinct: 100, min: 1, max })])
  const parent = tableOf(
    [columnProfile('id', { kind: 'integer', distinct: 200, min: 1, max: 200, isKeyCandidate: true })],
    { id: '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6e', name: 'dim_customers' },
  )
  t.ok(typesOf(child(200), [parent]).includes('referential customer_id'))
  t.notOk(typesOf(child(201), [parent]).includes('referential customer_id'))
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
