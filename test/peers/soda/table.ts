/** The table that Soda Core and the product both scan, and its checks. */

/** A check as the body of a request, without its table. */
export interface CheckBody {
  rule_type?: string
  metric_type?: string
  column_name: string
  rule_config?: Record<string, unknown>
  [field: string]: unknown
}

export const TABLE = 'orders'

/** Float columns of the sizes that are compared: 16, 46, 106 and 226 checks. */
export const FLOAT_COLUMNS = [0, 10, 30, 70]

interface PeerColumn {
  name: string
  type: string
  /** Its value in the row number `g`, from 1. */
  fill: string
  checks: CheckBody[]
}

/** As in life most rules pass, though they find invalid rows; a pattern is matched in too few and alerts. */
const TOLERATED_PERCENT: Record<string, number> = { RANGE: 50, ENUM: 50, REGEX: 0.5 }

/** Ten columns as tables of orders have them, with 16 checks. No more than 1,000,003 rows have a key of their own. */
const fixedColumns: PeerColumn[] = [
  {
    name: 'id',
    type: 'varchar(40)',
    fill: `'ord-' || lpad(((g * 7919) % 1000003)::text, 9, '0')`,
    checks: [rule('UNIQUE', 'id'), rule('NOT_NULL', 'id')],
  },
  {
    name: 'category',
    type: 'varchar(20)',
    fill: `'cat-' || g % 50`,
    checks: [metric('distinct_count', 'category')],
  },
  {
    name: 'customer_id',
    type: 'integer',
    fill: 'nullif((g * 31) % 9973, 0)',
    checks: [rule('NOT_NULL', 'customer_id')],
  },
  {
    name: 'quantity',
    type: 'integer',
    fill: '(g * 23) % 100 + 1',
    checks: [
      rule('RANGE', 'quantity', { min: 1, max: 98 }),
      metric('min_value', 'quantity'),
      metric('max_value', 'quantity'),
      metric('mean', 'quantity'),
    ],
  },
  {
    name: 'price',
    type: 'decimal(12,2)',
    fill: '((g * 13) % 100000) * 0.01',
    checks: [rule('RANGE', 'price', { min: 0.5 }), metric('max_value', 'price'), metric('mean', 'price')],
  },
  {
    name: 'email',
    type: 'varchar(60)',
    fill: `'user' || (g * 7919) % 1000003 || case when g % 100 = 0 then '@example.org' else '@example.com' end`,
    checks: [rule('REGEX', 'email', { pattern: '^[a-z0-9]+@example[.]com$' })],
  },
  {
    name: 'sku',
    type: 'varchar(20)',
    fill: `'SKU-' || lpad((g % 10000)::text, case when g % 500 = 0 then 3 else 4 end, '0')`,
    checks: [rule('REGEX', 'sku', { pattern: '^[A-Z]+-[0-9]{4}$' })],
  },
  {
    name: 'status',
    type: 'varchar(10)',
    fill: `case when g % 50 = 0 then 'lost' when g % 3 = 0 then 'new' when g % 3 = 1 then 'paid' else 'sent' end`,
    checks: [rule('ENUM', 'status', { allowed_values: ['new', 'paid', 'sent'] })],
  },
  {
    name: 'created_at',
    type: 'timestamp',
    fill: `timestamp '2024-01-01' + g * interval '1 second'`,
    checks: [rule('NOT_NULL', 'created_at')],
  },
  {
    name: 'note',
    type: 'varchar(40)',
    fill: `case when g % 11 > 0 then 'note ' || g % 50 end`,
    checks: [metric('null_percent', 'note')],
  },
]

/** A column of floats, of which one in 101 is missing, with three checks. */
function floatColumn(k: number): PeerColumn {
  const name = `f${k}`
  return {
    name,
    type: 'double precision',
    fill: `case when (g + ${k}) % 101 > 0 then ((g * 17 + ${k}) % 10007) * 0.5 end`,
    checks: [metric('null_percent', name), rule('RANGE', name, { min: 0, max: 5000 }), metric('mean', name)],
  }
}

function rule(type: string, column: string, config: Record<string, unknown> = {}): CheckBody {
  return {
    ...{ rule_type: type, column_name: column, rule_config: config },
    ...(type !== 'NOT_NULL' && { treat_null_as_valid: true }),
    alert_threshold_percent: TOLERATED_PERCENT[type],
  }
}

function metric(type: string, column: string): CheckBody {
  return { metric_type: type, column_name: column }
}

function columnsOf(floats: number): PeerColumn[] {
  return [...fixedColumns, ...Array.from({ length: floats }, (_, k) => floatColumn(k))]
}

/** Statements for PostgreSQL that make the table with its rows. */
export function createStatements(floats: number, rows: number): string[] {
  const columns = columnsOf(floats)
  return [
    `create table ${TABLE} (${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`,
    `insert into ${TABLE} select ${columns.map(({ fill }) => fill).join(', ')} from generate_series(1::bigint, ${rows}) g`,
    `vacuum analyze ${TABLE}`,
  ]
}

/** `16 + 3 × floats` checks. */
export function checksOf(floats: number): CheckBody[] {
  return columnsOf(floats).flatMap(({ checks }) => checks)
}
