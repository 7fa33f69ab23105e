/** The table that scans are measured on, the checks of it, and what each check's number is by hand. */

/** Engines that the scan bench knows. */
export type EngineName = 'postgresql' | 'mysql' | 'sqlite' | 'duckdb'

/** A piece of SQL, where engines differ one for each; DuckDB writes most as PostgreSQL does. */
export type EngineSql = string | (Record<Exclude<EngineName, 'duckdb'>, string> & { duckdb?: string })

/** A check as the body of a request, without its table. */
export interface CheckBody {
  rule_type?: string
  metric_type?: string
  column_name: string
  rule_config?: Record<string, unknown>
  [field: string]: unknown
}

/** A check as it is asked for over HTTP, and its number as an engineer would have the engine compute it. */
export interface Ask {
  body: CheckBody
  hand: HandNumber
}

/** A number by hand. */
export type HandNumber =
  /** How many rows satisfy a condition; as a percentage of all rows where the check gives one. */
  | { rows: EngineSql; isPercent?: true }
  | { aggregate: EngineSql }
  /** How many values a column has. */
  | { distinct: string }
  /** How many rows have a value that others have too. */
  | { repeated: string }

/** A column of the bench's table. */
export interface BenchColumn {
  name: string
  type: EngineSql
  /** Its value in the row number `g`, from 1. */
  fill: EngineSql
  asks: Ask[]
}

/** The table that is scanned. */
export const TABLE = 'orders'

/** Float columns of the sizes that are measured: 16, 46, 106 and 226 checks. */
export const FLOAT_COLUMNS = [0, 10, 30, 70]

/** As in life most rules pass, though they find invalid rows; a pattern is matched in too few and alerts. */
const TOLERATED: Record<string, number> = { RANGE: 50, ENUM: 50, REGEX: 0.5 }

/** Ten columns as tables of orders have them, with 16 checks. No more than 1,000,003 rows have a key of their own. */
const fixedColumns: BenchColumn[] = [
  {
    name: 'id',
    type: 'varchar(40)',
    fill: {
      postgresql: `'ord-' || lpad(((g * 7919) % 1000003)::text, 9, '0')`,
      mysql: `concat('ord-', lpad((g * 7919) % 1000003, 9, '0'))`,
      sqlite: `printf('ord-%09d', (g * 7919) % 1000003)`,
    },
    asks: [rule('UNIQUE', 'id', {}, { repeated: 'id' }), notNull('id')],
  },
  {
    name: 'category',
    type: 'varchar(20)',
    fill: concatSql('cat-', 'g % 50'),
    asks: [metric('distinct_count', 'category', { distinct: 'category' })],
  },
  {
    name: 'customer_id',
    type: 'integer',
    fill: 'nullif((g * 31) % 9973, 0)',
    asks: [notNull('customer_id')],
  },
  {
    name: 'quantity',
    type: 'integer',
    fill: '(g * 23) % 100 + 1',
    asks: [
      rule('RANGE', 'quantity', { min: 1, max: 98 }, { rows: 'quantity < 1 or quantity > 98' }),
      metric('min_value', 'quantity', { aggregate: 'min(quantity)' }),
      metric('max_value', 'quantity', { aggregate: 'max(quantity)' }),
      // MariaDB cuts the mean of integers after four digits.
      metric('mean', 'quantity', {
        aggregate: { postgresql: 'avg(quantity)', mysql: 'avg(quantity + 0e0)', sqlite: 'avg(quantity)' },
      }),
    ],
  },
  {
    name: 'price',
    type: 'decimal(12,2)',
    fill: '((g * 13) % 100000) * 0.01',
    asks: [
      rule('RANGE', 'price', { min: 0.5 }, { rows: 'price < 0.5' }),
      metric('max_value', 'price', { aggregate: 'max(price)' }),
      metric('mean', 'price', {
        aggregate: { postgresql: 'avg(price)', mysql: 'avg(price + 0e0)', sqlite: 'avg(price)' },
      }),
    ],
  },
  {
    name: 'email',
    type: 'varchar(60)',
    fill: {
      postgresql: `'user' || (g * 7919) % 1000003 || case when g % 100 = 0 then '@example.org' else '@example.com' end`,
      mysql: `concat('user', (g * 7919) % 1000003, case when g % 100 = 0 then '@example.org' else '@example.com' end)`,
      sqlite: `'user' || (g * 7919) % 1000003 || case when g % 100 = 0 then '@example.org' else '@example.com' end`,
    },
    asks: [matches('email', '^[a-z0-9]+@example[.]com$')],
  },
  {
    name: 'sku',
    type: 'varchar(20)',
    fill: {
      postgresql: `'SKU-' || lpad((g % 10000)::text, case when g % 500 = 0 then 3 else 4 end, '0')`,
      mysql: `concat('SKU-', lpad(g % 10000, case when g % 500 = 0 then 3 else 4 end, '0'))`,
      sqlite: `'SKU-' || printf(case when g % 500 = 0 then '%03d' else '%04d' end, g % 1000)`,
    },
    asks: [matches('sku', '^[A-Z]+-[0-9]{4}$')],
  },
  {
    name: 'status',
    type: 'varchar(10)',
    fill: `case when g % 50 = 0 then 'lost' when g % 3 = 0 then 'new' when g % 3 = 1 then 'paid' else 'sent' end`,
    asks: [
      rule(
        'ENUM',
        'status',
        { allowed_values: ['new', 'paid', 'sent'] },
        { rows: `status not in ('new', 'paid', 'sent')` },
      ),
    ],
  },
  {
    name: 'created_at',
    type: { postgresql: 'timestamp', mysql: 'datetime', sqlite: 'datetime' },
    fill: {
      postgresql: `timestamp '2024-01-01' + g * interval '1 second'`,
      duckdb: `timestamp '2024-01-01' + to_seconds(g)`,
      mysql: `date_add('2024-01-01', interval g second)`,
      sqlite: `datetime('2024-01-01', g || ' seconds')`,
    },
    asks: [notNull('created_at')],
  },
  {
    name: 'note',
    type: 'varchar(40)',
    fill: {
      postgresql: `case when g % 11 > 0 then 'note ' || g % 50 end`,
      mysql: `case when g % 11 > 0 then concat('note ', g % 50) end`,
      sqlite: `case when g % 11 > 0 then 'note ' || g % 50 end`,
    },
    asks: [nullPercent('note')],
  },
]

function rule(type: string, column: string, config: Record<string, unknown>, hand: HandNumber): Ask {
  const body = {
    ...{ rule_type: type, column_name: column, rule_config: config, treat_null_as_valid: true },
    alert_threshold_percent: TOLERATED[type],
  }
  return { body, hand }
}

function metric(type: string, column: string, hand: HandNumber): Ask {
  return { body: { metric_type: type, column_name: column }, hand }
}

function notNull(column: string): Ask {
  return {
    body: { rule_type: 'NOT_NULL', column_name: column },
    hand: { rows: `${column} is null` },
  }
}

function nullPercent(column: string): Ask {
  return metric('null_percent', column, { rows: `${column} is null`, isPercent: true })
}

function matches(column: string, pattern: string): Ask {
  const rows = {
    postgresql: `${column} !~ '${pattern}'`,
    mysql: `${column} not regexp '${pattern}'`,
    sqlite: `not regexp('${pattern}', ${column})`,
    duckdb: `not regexp_matches(${column}, '${pattern}')`,
  }
  return rule('REGEX', column, { pattern }, { rows })
}

function concatSql(prefix: string, value: string): EngineSql {
  const joined = `'${prefix}' || ${value}`
  return { postgresql: joined, mysql: `concat('${prefix}', ${value})`, sqlite: joined }
}

/** A column of floats, of which one in 101 is missing, with three checks. */
function floatColumn(k: number): BenchColumn {
  const name = `f${k}`
  return {
    name,
    type: { postgresql: 'double precision', mysql: 'double', sqlite: 'double' },
    fill: `case when (g + ${k}) % 101 > 0 then ((g * 17 + ${k}) % 10007) * 0.5 end`,
    asks: [
      nullPercent(name),
      rule('RANGE', name, { min: 0, max: 5000 }, { rows: `${name} < 0 or ${name} > 5000` }),
      metric('mean', name, { aggregate: `avg(${name})` }),
    ],
  }
}

/** The columns of a table: ten that are always there, and some of floats. */
export function columnsOf(floats: number): BenchColumn[] {
  return [...fixedColumns, ...Array.from({ length: floats }, (_, k) => floatColumn(k))]
}

/** `16 + 3 × floats` checks. */
export function asksOf(columns: readonly BenchColumn[]): Ask[] {
  return columns.flatMap(({ asks }) => asks)
}

/** A piece of SQL as the engine has it. */
export function forEngine(text: EngineSql, engine: EngineName): string {
  return typeof text === 'string' ? text : (text[engine] ?? text.postgresql)
}

/** The statement that makes the table, without rows. */
export function createTable(columns: readonly BenchColumn[], engine: EngineName): string {
  return `create table ${TABLE} (${columns.map(({ name, type }) => `${name} ${forEngine(type, engine)}`).join(', ')})`
}

/** The values of the row number `g`, for the list of a SELECT. */
export function rowValues(columns: readonly BenchColumn[], engine: EngineName): string {
  return columns.map(({ fill }) => forEngine(fill, engine)).join(', ')
}
