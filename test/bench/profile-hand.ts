/** The table of the profile bench, and its numbers by hand: what an engineer writes who knows the table. */

export const TABLE = 'facts'

/** A column of the table. */
interface FactColumn {
  name: string
  type: string
  kind: 'number' | 'moment' | 'boolean' | 'text'
  /** Its value in the row `g`. */
  value: string
  /** The pattern of its texts. */
  pattern?: string
  /** Whether it has few values, which are listed. */
  hasFew?: true
}

const EMAIL = '^[^@ ]+@[^@ ]+[.][^@ .]+$'
const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

const many = (count: number, make: (index: number) => FactColumn) =>
  Array.from({ length: count }, (_, index) => make(index))
/** A number from 0 to below `below` that is in no order. */
const scattered = (salt: number, below: number) => `(hashint8extended(g, ${salt}) & 2147483647) % ${below}`
const few = (below: number) => (below <= 200 ? { hasFew: true as const } : {})

/** 40 numbers of few and of many values, 12 dates and times, 4 booleans, 24 texts. */
export const columns: readonly FactColumn[] = [
  { name: 'id', type: 'bigint', kind: 'number', value: 'g' },
  ...many(12, index => {
    const below = [5, 50, 1_000, 100_000, 10_000_000][index % 5]!
    return {
      name: `i${index}`,
      type: 'integer',
      kind: 'number',
      value: scattered(index, below),
      ...few(below),
    }
  }),
  ...many(5, index => ({
    name: `b${index}`,
    type: 'bigint',
    kind: 'number',
    value: scattered(20 + index, 1_000_000_000),
  })),
  ...many(10, index => {
    const below = [150, 20_000, 1_000_000][index % 3]!
    const value = `${scattered(30 + index, below)} / 100.0`
    return { name: `d${index}`, type: 'numeric(12, 2)', kind: 'number', value, ...few(below) }
  }),
  ...many(12, index => ({
    name: `f${index}`,
    type: 'double precision',
    kind: 'number',
    value: `sin(${scattered(40 + index, 1_000_000_000)}) * 1000`,
  })),
  ...many(4, index => ({
    name: `t${index}`,
    type: 'boolean',
    kind: 'boolean',
    value: `${scattered(60 + index, 5)} < ${index + 1}`,
    hasFew: true,
  })),
  ...many(8, index => ({
    name: `m${index}`,
    type: 'timestamptz',
    kind: 'moment',
    value: `timestamptz '2020-01-01Z' + make_interval(secs => ${scattered(70 + index, 100_000_000)})`,
  })),
  ...many(4, index => {
    const below = [30, 365, 2_000, 5_000][index]!
    return {
      name: `y${index}`,
      type: 'date',
      kind: 'moment',
      value: `date '2020-01-01' + (${scattered(80 + index, below)})::int`,
      ...few(below),
    }
  }),
  ...many(8, index => ({
    name: `e${index}`,
    type: 'text',
    kind: 'text',
    value: `nullif((array['new', 'paid', 'shipped', 'returned', 'cancelled', ''])[1 + ${scattered(90 + index, 6)}], '')`,
    hasFew: true,
  })),
  ...many(6, index => ({
    name: `a${index}`,
    type: 'text',
    kind: 'text',
    value: `'user' || ${scattered(100 + index, [1_000, 1_000_000, 300_000][index % 3]!)} || '@example.com'`,
    pattern: EMAIL,
  })),
  ...many(4, index => ({
    name: `u${index}`,
    type: 'text',
    kind: 'text',
    value: `md5((g * ${index + 3})::text)::uuid::text`,
    pattern: UUID,
  })),
  ...many(6, index => ({
    name: `s${index}`,
    type: 'varchar(60)',
    kind: 'text',
    value: `'item ' || ${scattered(120 + index, [150, 5_000, 900_000][index % 3]!)} || ' of the shop'`,
    ...few([150, 5_000, 900_000][index % 3]!),
  })),
]

export const createStatement = `create table ${TABLE} (${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`

export const fillStatement = (rows: number) =>
  `insert into ${TABLE} select ${columns.map(({ value }) => value).join(', ')} from generate_series(1::bigint, ${rows}) g`

/** The ways to write it, each by the statements that together give all numbers. */
export function writeByHand(): { way: string; statements: string[] }[] {
  const basics = columns.flatMap(basicNumbers)
  const quantiles = columns
    .filter(({ kind }) => kind === 'number')
    .map(
      ({ name }) =>
        `percentile_cont(array[0.05, 0.25, 0.5, 0.75, 0.95]) within group (order by ${name}) as ${name}_quantiles`,
    )
  // The middle one is compared.
  const named = (inner: string) =>
    `select s.*, ${columns
      .filter(({ kind }) => kind === 'number')
      .map(({ name }) => `s.${name}_quantiles[3] as ${name}_p50`)
      .join(', ')} from (${inner}) s`
  const select = (numbers: string[]) => `select ${numbers.join(', ')} from ${TABLE}`
  const frequent = columns
    .filter(({ hasFew }) => hasFew)
    .map(
      ({ name }) =>
        `(select '${name}' as c, ${name}::text as v, count(*) as n from ${TABLE} where ${name} is not null group by ${name} order by n desc limit 20)`,
    )
    .join(' union all ')
  const counted = ['count(*) as rows', ...basics]
  const distinctOf = (some: readonly FactColumn[]) =>
    some.map(({ name }) => `count(distinct ${name}) as ${name}_distinct`)
  const [distinct, distinctOfMany] = [
    distinctOf(columns),
    distinctOf(columns.filter(({ hasFew }) => !hasFew)),
  ]
  return [
    {
      way: 'one statement',
      statements: [named(select([...counted, ...distinct, ...quantiles])), frequent],
    },
    {
      way: 'by kind of number',
      statements: [select(counted), select(distinct), named(select(quantiles)), frequent],
    },
    {
      way: 'by kind of number, few values by grouping sets',
      statements: [select(counted), select(distinctOfMany), named(select(quantiles)), selectFew()],
    },
    {
      way: 'sorted and not, few values by grouping sets',
      statements: [select(counted), named(select([...distinctOfMany, ...quantiles])), selectFew()],
    },
  ]
}

/** The frequent values of all columns that have few, and how many each has, in one reading. */
function selectFew(): string {
  const few = columns.filter(({ hasFew }) => hasFew).map(({ name }) => name)
  const groups = `select ${few.map(name => `grouping(${name}) as ${name}_g, ${name}`).join(', ')}, count(*) as n from ${TABLE} group by grouping sets (${few.map(name => `(${name})`).join(', ')})`
  const values = few
    .map(
      name =>
        `(select '${name}' as c, ${name}::text as v, n, count(*) over () as d from g where ${name}_g = 0 and ${name} is not null order by n desc limit 20)`,
    )
    .join(' union all ')
  return `with g as materialized (${groups}) ${values}`
}

function basicNumbers({ name, kind, pattern }: FactColumn): string[] {
  const numbers = [`count(${name}) as ${name}_count`]
  if (kind === 'number' || kind === 'moment')
    numbers.push(`min(${name}) as ${name}_min`, `max(${name}) as ${name}_max`)
  // As doubles, which is several times sooner than the deviation of decimals.
  if (kind === 'number')
    numbers.push(`avg(${name}) as ${name}_mean`, `stddev_samp(${name}::float8) as ${name}_stddev`)
  if (kind === 'text')
    numbers.push(
      `min(length(${name})) as ${name}_min_length`,
      `max(length(${name})) as ${name}_max_length`,
      `avg(length(${name})) as ${name}_mean_length`,
    )
  if (pattern) numbers.push(`count(*) filter (where ${name} ~ '${pattern}') as ${name}_matches`)
  return numbers
}
