/** Engines that the scan bench knows. */
export type EngineName = 'postgresql' | 'mysql'

/** A measure as a person writes it by hand: rows that satisfy a condition, or an expression of its own. */
export type ByHand = { count: string } | { value: string | Record<EngineName, string> }

/** A check as it is asked for over HTTP, and the same number by hand. */
export interface Ask {
  /** The body of the request, without the table. */
  body: { rule_type?: string; metric_type?: string; column_name: string; [field: string]: unknown }
  hand: ByHand
  /** Whether the number is a percentage of all rows, of which `hand` counts the rows. */
  isPercent?: true
}

/** A column of the bench's table. */
export interface BenchColumn {
  name: string
  type: Record<EngineName, string>
  /** Its value in the row number `g`, from 1. */
  fill: string | Record<EngineName, string>
  asks: Ask[]
}

/** The table that is scanned. */
export const TABLE = 'orders'

interface Kind {
  type: string | Record<EngineName, string>
  /** The value in row `g` of the column number `k`. */
  fill(k: number): BenchColumn['fill']
  /** Three checks; `cycle` counts how often the kinds were gone through, from 0. */
  asks(column: string, cycle: number): Ask[]
}

const STATES = ['new', 'paid', 'sent']

const kinds: Kind[] = [
  {
    type: 'integer',
    // A permutation as long as there are at most 1,000,003 rows.
    fill: k => `(g * 7919 + ${k}) % 1000003`,
    asks: (c, cycle) => [
      notNull(c),
      cycle % 4 === 0 ? unique(c) : metric('min_value', c, `min(${c})`),
      metric('max_value', c, `max(${c})`),
    ],
  },
  {
    type: 'integer',
    fill: k => `nullif((g * 31 + ${k}) % 97, 0)`,
    asks: c => [
      nullPercent(c),
      rule('RANGE', c, { min: 3, max: 90 }, `${c} not between 3 and 90`, true),
      mean(c),
    ],
  },
  {
    type: { postgresql: 'double precision', mysql: 'double' },
    fill: k => `((g * 17 + ${k}) % 10007) * 0.5`,
    asks: (c, cycle) => [
      rule('RANGE', c, { min: 0, max: 5000 }, `${c} is null or ${c} not between 0 and 5000`),
      cycle % 4 === 0 ? percentile(c) : metric('max_value', c, `max(${c})`),
      mean(c),
    ],
  },
  {
    type: 'decimal(12,2)',
    fill: k => `((g * 13 + ${k}) % 100000) * 0.01`,
    asks: c => [
      rule('RANGE', c, { min: 0.5, max: 990 }, `${c} is null or ${c} not between 0.5 and 990`),
      mean(c),
      nullPercent(c),
    ],
  },
  {
    type: 'varchar(10)',
    fill: k =>
      `case when (g + ${k}) % 50 = 0 then 'lost' when g % 3 = 0 then 'new' when g % 3 = 1 then 'paid' else 'sent' end`,
    asks: (c, cycle) => [
      rule('ENUM', c, { allowed_values: STATES }, `${c} is null or ${c} not in ('new', 'paid', 'sent')`),
      cycle % 2 === 0 ? metric('distinct_count', c, `count(distinct ${c})`) : notNull(c),
      nullPercent(c),
    ],
  },
  {
    type: 'varchar(60)',
    fill: k =>
      `concat('user', (g * 7919 + ${k}) % 1000003, case when g % 100 = 0 then '@example.org' else '@example.com' end)`,
    asks: c => [
      rule(
        'REGEX',
        c,
        { pattern: '@example[.]com$' },
        {
          postgresql: `${c} is null or ${c} !~ '@example[.]com$'`,
          mysql: `${c} is null or ${c} not regexp '@example[.]com$'`,
        },
      ),
      notNull(c),
      nullPercent(c),
    ],
  },
  {
    type: 'date',
    fill: k => ({
      postgresql: `date '2020-01-01' + ((g + ${k}) % 700)::integer`,
      mysql: `date_add('2020-01-01', interval (g + ${k}) % 700 day)`,
    }),
    asks: c => [
      rule(
        'RANGE',
        c,
        { min: '2020-01-05', max: '2021-11-01' },
        `${c} is null or ${c} not between '2020-01-05' and '2021-11-01'`,
      ),
      notNull(c),
      nullPercent(c),
    ],
  },
  {
    type: { postgresql: 'timestamp', mysql: 'datetime' },
    fill: k => ({
      postgresql: `timestamp '2024-01-01' + (g + ${k}) * interval '1 second'`,
      mysql: `date_add('2024-01-01', interval g + ${k} second)`,
    }),
    asks: c => [
      rule('RANGE', c, { min: '2024-01-01T01:00:00' }, `${c} is null or ${c} < '2024-01-01 01:00:00'`),
      notNull(c),
      nullPercent(c),
    ],
  },
  {
    type: 'integer',
    fill: k => `(g * 23 + ${k}) % 1000`,
    asks: c => [
      rule('RANGE', c, { min: 0, max: 980 }, `${c} is null or ${c} not between 0 and 980`),
      mean(c),
      metric('min_value', c, `min(${c})`),
    ],
  },
  {
    type: 'varchar(40)',
    fill: k => `case when (g + ${k}) % 11 > 0 then concat('note ', g % 50) end`,
    asks: c => [
      nullPercent(c),
      rule(
        'REGEX',
        c,
        { pattern: '^note [0-9]+$' },
        { postgresql: `${c} !~ '^note [0-9]+$'`, mysql: `${c} not regexp '^note [0-9]+$'` },
        true,
      ),
      notNull(c),
    ],
  },
]

/** As in life most rules pass, though they find invalid rows; a pattern is matched in too few and alerts. */
const TOLERATED: Record<string, number> = { RANGE: 50, ENUM: 50, REGEX: 0.5 }

type Condition = string | Record<EngineName, string>

function rule(type: string, column: string, config: object, invalid: Condition, isNullValid = false): Ask {
  const body = {
    ...{ rule_type: type, column_name: column, rule_config: config, treat_null_as_valid: isNullValid },
    alert_threshold_percent: TOLERATED[type],
  }
  if (typeof invalid === 'string') return { body, hand: { count: invalid } }
  return {
    body,
    hand: {
      value: {
        postgresql: rowsWhere('postgresql', invalid.postgresql),
        mysql: rowsWhere('mysql', invalid.mysql),
      },
    },
  }
}

function metric(type: string, column: string, value: string, config: object = {}): Ask {
  return { body: { metric_type: type, column_name: column, ...config }, hand: { value } }
}

function mean(column: string): Ask {
  // MariaDB cuts the mean of integers after four digits.
  const hand = { value: { postgresql: `avg(${column})`, mysql: `avg(cast(${column} as double))` } }
  return { body: { metric_type: 'mean', column_name: column }, hand }
}

function notNull(column: string): Ask {
  return { body: { rule_type: 'NOT_NULL', column_name: column }, hand: { count: `${column} is null` } }
}

function nullPercent(column: string): Ask {
  return {
    body: { metric_type: 'null_percent', column_name: column },
    hand: { count: `${column} is null` },
    isPercent: true,
  }
}

function unique(column: string): Ask {
  const repeated = `select count(*) as n from ${TABLE} where ${column} is not null group by ${column} having count(*) > 1`
  return {
    body: { rule_type: 'UNIQUE', column_name: column, treat_null_as_valid: true },
    hand: { value: `(select coalesce(sum(n), 0) from (${repeated}) repeated)` },
  }
}

function percentile(column: string): Ask {
  const aggregate = `percentile_cont(0.95) within group (order by ${column})`
  return {
    body: { metric_type: 'percentile', column_name: column, percentile_value: 95 },
    // MariaDB has it as a window function only.
    hand: { value: { postgresql: aggregate, mysql: `(select ${aggregate} over () from ${TABLE} limit 1)` } },
  }
}

/** How many rows satisfy a condition, as is usual with the engine. */
function rowsWhere(engine: EngineName, condition: string): string {
  return engine === 'postgresql'
    ? `count(*) filter (where ${condition})`
    : `sum(case when ${condition} then 1 else 0 end)`
}

/** The columns of a table, ten kinds over and over. */
export function columnsOf(count: number): BenchColumn[] {
  return Array.from({ length: count }, (_, k) => {
    const kind = kinds[k % kinds.length]!
    const name = `c${k}`
    const type = typeof kind.type === 'string' ? { postgresql: kind.type, mysql: kind.type } : kind.type
    return { name, type, fill: kind.fill(k), asks: kind.asks(name, Math.floor(k / kinds.length)) }
  })
}

/** `3 × columns − 14` checks: the first one of every column, then the second ones, then the third ones. */
export function asksOf(columns: readonly BenchColumn[]): Ask[] {
  const layers = [0, 1, 2].flatMap(layer => columns.flatMap(({ asks }) => asks[layer] ?? []))
  return layers.slice(0, 3 * columns.length - 14)
}

/** The output of a SELECT that gives a check's number. */
export function outputOf({ hand }: Ask, engine: EngineName): string {
  if ('count' in hand) return rowsWhere(engine, hand.count)
  return typeof hand.value === 'string' ? hand.value : hand.value[engine]
}

/** One SELECT of all numbers, each once, and all rows as `total`. */
export function selectByHand(
  asks: readonly Ask[],
  engine: EngineName,
): { text: string; names: Map<string, string> } {
  const names = new Map<string, string>()
  for (const ask of asks) {
    const output = outputOf(ask, engine)
    if (!names.has(output)) names.set(output, `v${names.size}`)
  }
  const outputs = [...names].map(([output, name]) => `${output} as ${name}`)
  return { text: `select count(*) as total, ${outputs.join(', ')} from ${TABLE}`, names }
}

/** The values of a row as the columns say. */
export function fillOf({ fill }: BenchColumn, engine: EngineName): string {
  return typeof fill === 'string' ? fill : fill[engine]
}
