/** Promises of data contracts about the tables of `../imports/cases.ts`, each in a contract of its own. */

/** A property of `orders` with what is promised of it, or a quality rule of the table. */
export type PromiseCase = { property: Record<string, unknown> } | { quality: Record<string, unknown> }

const of = (name: string, promised: object): PromiseCase => ({ property: { name, ...promised } })
const rule = (name: string, quality: object): PromiseCase => of(name, { quality: [quality] })

const TYPES = ['string', 'integer', 'number', 'boolean', 'date', 'timestamp']
const COLUMNS = ['id', 'status', 'total', 'created_at']
const PHYSICAL: [column: string, type: string][] = [
  ['id', 'integer'],
  ['id', 'int'],
  ['id', 'bigint'],
  ['status', 'text'],
  ['status', 'varchar'],
  ['total', 'numeric(10,2)'],
  ['total', 'numeric'],
  ['created_at', 'timestamptz'],
  ['created_at', 'timestamp with time zone'],
  ['created_at', 'timestamp'],
]

export const CASES: PromiseCase[] = [
  of('id', {}),
  of('nothing_of_this_name', {}),
  ...COLUMNS.flatMap(column => TYPES.map(logicalType => of(column, { logicalType }))),
  ...PHYSICAL.map(([column, physicalType]) => of(column, { physicalType })),
  of('id', { required: true }),
  of('total', { required: true }),
  of('email', { required: true }),
  of('id', { unique: true }),
  of('email', { unique: true }),
  of('id', { primaryKey: true }),
  of('total', { logicalType: 'number', logicalTypeOptions: { minimum: 0 } }),
  of('total', { logicalType: 'number', logicalTypeOptions: { maximum: 50 } }),
  of('total', { logicalType: 'number', logicalTypeOptions: { minimum: -100, maximum: 100 } }),
  of('email', { logicalType: 'string', logicalTypeOptions: { minLength: 5 } }),
  of('status', { logicalType: 'string', logicalTypeOptions: { maxLength: 4 } }),
  of('status', { logicalType: 'string', logicalTypeOptions: { maxLength: 7 } }),
  of('email', { logicalType: 'string', logicalTypeOptions: { pattern: '^a.*@x[.]org$' } }),
  of('customer_id', { relationships: [{ to: 'customers.id' }] }),
  rule('id', { metric: 'nullValues', mustBe: 0 }),
  rule('id', { metric: 'nullValues', mustBeLessThan: 2, unit: 'percent' }),
  rule('id', { metric: 'nullValues', mustBeLessOrEqualTo: 2 }),
  rule('total', { metric: 'nullValues', mustBeGreaterThan: 0 }),
  rule('note', { metric: 'missingValues', arguments: { missingValues: ['', ' ', null] }, mustBe: 0 }),
  rule('note', { metric: 'missingValues', arguments: { missingValues: [null] }, mustBeLessThan: 10 }),
  rule('status', {
    metric: 'invalidValues',
    arguments: { validValues: ['new', 'paid', 'shipped'] },
    mustBe: 0,
  }),
  rule('status', {
    ...{ metric: 'invalidValues', arguments: { validValues: ['new', 'paid', 'shipped'] } },
    ...{ mustBeLessOrEqualTo: 2, unit: 'percent' },
  }),
  rule('customer_id', {
    metric: 'invalidValues',
    arguments: { validValues: [1, 2, 3] },
    mustBeGreaterThan: 3,
  }),
  rule('email', { metric: 'invalidValues', arguments: { pattern: '^a.*@x[.]org$' }, mustBe: 0 }),
  rule('id', { metric: 'duplicateValues', mustBe: 0 }),
  rule('email', { metric: 'duplicateValues', mustBeLessThan: 5 }),
  rule('id', {
    ...{ type: 'sql', query: 'select count(*) from ${table} where ${column} is null' },
    mustBe: 0,
  }),
  { quality: { metric: 'rowCount', mustBeGreaterThan: 0 } },
  { quality: { metric: 'rowCount', mustBeBetween: [50, 100] } },
  { quality: { metric: 'rowCount', mustBe: 0 } },
  { quality: { metric: 'duplicateValues', arguments: { properties: ['id', 'email'] }, mustBe: 0 } },
  { quality: { type: 'sql', query: 'select sum(total) from orders', mustBeGreaterThan: 1_000 } },
]
