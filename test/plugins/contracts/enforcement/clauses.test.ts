import t from 'tap'
import { listClauses } from '../../../../plugins/contracts/enforcement/clauses.ts'
import {
  logicalTypeMismatch,
  physicalTypeMismatch,
} from '../../../../plugins/contracts/enforcement/column-types.ts'
import { ownerOf } from '../../../../plugins/contracts/enforcement/document.ts'
import { contract, ORDERS } from './contracts.ts'

const titles = (document: object, extra: 'allow' | 'fail' = 'allow') =>
  listClauses(document as Record<string, unknown>, extra).map(({ title }) => title)

t.test('a contract promises its tables, columns, types and keys', async t => {
  t.strictSame(titles(contract({ schema: [ORDERS] })), [
    'public.orders exists',
    'public.orders has the key id',
    'public.orders.id exists',
    'public.orders.id is of type bigint, integer',
    'public.orders.amount exists',
    'public.orders.amount is of type number',
    'public.orders.amount is never null',
    'public.orders.status exists',
    'public.orders.status is of type string',
    'public.orders.status has maxLength 20',
    'public.orders.code exists',
    'public.orders.code is unique',
  ])
})

t.test('extra columns break a contract where it says so, or the setting does', async t => {
  const extra = 'public.orders has no other columns'
  const own = (value: string) => ({ customProperties: [{ property: 'extraColumns', value }] })
  t.ok(titles(contract({ schema: [ORDERS] }), 'fail').includes(extra))
  t.notOk(titles(contract({ schema: [ORDERS] })).includes(extra))
  t.ok(titles(contract({ schema: [ORDERS], ...own('fail') })).includes(extra), 'of the contract')
  t.notOk(titles(contract({ schema: [ORDERS], ...own('allow') }), 'fail').includes(extra))
  t.ok(titles(contract({ schema: [{ ...ORDERS, ...own('fail') }] })).includes(extra), 'of a table')
  t.notOk(
    titles(contract({ schema: [{ ...ORDERS, ...own('allow') }], ...own('fail') })).includes(extra),
    'the table goes before the contract',
  )
})

t.test('keys of clauses are unique, and stay while names do', async t => {
  const rule = { metric: 'rowCount', mustBeGreaterThan: 0 }
  const twice = contract({ schema: [{ ...ORDERS, quality: [rule, rule] }, ORDERS] })
  const keys = listClauses(twice, 'fail').map(({ key }) => key)
  t.equal(new Set(keys).size, keys.length)
  const moved = contract({ schema: [{ ...ORDERS, properties: ORDERS.properties.toReversed() }] })
  t.strictSame(
    listClauses(moved, 'allow')
      .map(({ key }) => key)
      .toSorted(),
    listClauses(contract({ schema: [ORDERS] }), 'allow')
      .map(({ key }) => key)
      .toSorted(),
  )
})

t.test('service levels concern an element, the default one, or each table', async t => {
  const of = (slaProperties: object[], more: object = {}) =>
    listClauses(contract({ schema: [ORDERS, { name: 'customers' }], slaProperties, ...more }), 'allow')
      .filter(({ kind }) => kind === 'sla')
      .map(({ title, table, column, demand }) => [title, table, column, demand])
  const latency = { property: 'latency', value: 4, unit: 'h' }
  const demand = { of: 'freshness', property: 'latency', seconds: 14_400 }
  t.strictSame(of([{ ...latency, element: 'orders.amount' }]), [
    ['latency of public.orders.amount is 4 h', 'public.orders', 'amount', demand],
  ])
  t.strictSame(of([latency], { slaDefaultElement: 'public.orders' }), [
    ['latency of public.orders is 4 h', 'public.orders', null, demand],
  ])
  t.strictSame(of([latency]), [
    ['latency of public.orders is 4 h', 'public.orders', null, demand],
    ['latency of customers is 4 h', 'customers', null, demand],
  ])
  const reasons = (slaProperties: object[]) =>
    of(slaProperties).map(([, , , found]) => (found as { reason?: string }).reason)
  t.match(reasons([{ property: 'retention', value: 3, unit: 'y' }]), [/retention is not measured/])
  t.match(reasons([{ ...latency, element: 'nothing.there' }]), [/no element nothing\.there/])
  t.match(reasons([{ ...latency, unit: 'fortnights', element: 'orders' }]), [/no unit/])
  t.match(reasons([{ ...latency, value: 'soon', element: 'orders' }]), [/no positive number/])
  t.match(reasons([{ ...latency, value: 900, unit: 'd', element: 'orders' }]), [/1 minute to 400 days/])
  t.match(of([{ ...latency, value: '90', unit: 'minutes', element: 'orders' }]), [
    ['latency of public.orders is 90 minutes', 'public.orders', null, { seconds: 5_400 }],
  ])
})

t.test('what is no clause of tables says why', async t => {
  const document = contract({
    schema: [
      {
        name: 'events',
        physicalType: 'topic',
        properties: [
          { name: 'body', logicalType: 'object', properties: [{ name: 'inner' }] },
          { name: 'parent', relationships: [{ to: 'orders.id' }] },
        ],
      },
    ],
  })
  const reasons = listClauses(document, 'allow').flatMap(({ title, demand }) =>
    demand.of === 'nothing' ? [[title, demand.reason]] : [],
  )
  t.match(reasons, [
    ['events is a topic', /no kind of table/],
    ['events.body has the nested fields of the contract', /not looked into/],
    ['events.parent refers to orders.id', /no column orders\.id: create a referential check/],
  ])
})

t.test('logical types are compared with what columns can be used for', async t => {
  const column = (type: string, kind: string) => ({ type, kind }) as Parameters<typeof logicalTypeMismatch>[1]
  const cases: [logicalType: string, type: string, kind: string, isMatch: boolean][] = [
    ['string', 'varchar(20)', 'text', true],
    ['string', 'uuid', 'other', true],
    ['string', 'integer', 'integer', false],
    ['integer', 'bigint', 'integer', true],
    ['integer', 'number(38,0)', 'decimal', true],
    ['integer', 'numeric(10,2)', 'decimal', false],
    ['integer', 'numeric', 'decimal', false],
    ['number', 'bigint', 'integer', true],
    ['number', 'double', 'float', true],
    ['number', 'text', 'text', false],
    ['boolean', 'boolean', 'boolean', true],
    ['boolean', 'tinyint(1)', 'integer', true],
    ['boolean', 'tinyint(4)', 'integer', false],
    ['date', 'date', 'date', true],
    ['date', 'timestamp', 'timestamp', false],
    ['timestamp', 'timestamptz', 'timestamp', true],
    ['timestamp', 'date', 'date', false],
    ['time', 'time', 'time', true],
    ['object', 'jsonb', 'json', true],
    ['object', 'struct<a int64>', 'other', true],
    ['array', 'text[]', 'other', true],
    ['array', 'array<string>', 'other', true],
    ['array', 'text', 'text', false],
    ['integer', 'any', 'other', true],
  ]
  for (const [logicalType, type, kind, isMatch] of cases)
    t.equal(
      logicalTypeMismatch(logicalType, column(type, kind), false) === null,
      isMatch,
      `${logicalType} ${type}`,
    )
  t.equal(logicalTypeMismatch('date', column('timestamp', 'timestamp'), true), null, 'before 3.1')
})

t.test('physical types are compared with synonyms and the parameters that are named', async t => {
  const cases: [wanted: string, type: string, isMatch: boolean][] = [
    ['VARCHAR(20)', 'varchar(20)', true],
    ['varchar', 'varchar(20)', true],
    ['varchar(30)', 'varchar(20)', false],
    ['character varying(20)', 'varchar(20)', true],
    ['int', 'integer', true],
    ['int', 'bigint', false],
    ['int8', 'bigint', true],
    ['DECIMAL(10, 2)', 'numeric(10,2)', true],
    ['numeric(10,2)', 'numeric(12,2)', false],
    ['timestamp with time zone', 'timestamptz', true],
    ['timestamp', 'timestamptz', false],
    ['timestamp(3) with time zone', 'timestamptz(3)', true],
    ['text[]', 'text[]', true],
    ['text', 'text[]', false],
    ['STRING', 'text', true],
    ['double precision', 'float8', true],
    ['int unsigned', 'int', false],
  ]
  for (const [wanted, type, isMatch] of cases)
    t.equal(physicalTypeMismatch(wanted, { type, rawType: type }) === null, isMatch, `${wanted} ${type}`)
})

t.test('the owner is the team, its owner, or the first of its people', async t => {
  t.equal(ownerOf({}), null)
  t.equal(ownerOf({ team: { name: 'sales', members: [{ username: 'ann' }] } }), 'sales')
  t.equal(ownerOf({ team: { members: [{ username: 'ann' }] } }), 'ann')
  t.equal(ownerOf({ team: [{ username: 'ann' }, { username: 'bob', role: 'Data Owner' }] }), 'bob')
  t.equal(ownerOf({ team: [{ username: 'ann', dateOut: '2024-01-01' }, { username: 'eve' }] }), 'eve')
})
