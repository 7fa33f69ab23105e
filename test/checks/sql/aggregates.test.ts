import t from 'tap'
import { checkCustomSql } from '../../../checks/sql/custom-sql.ts'
import { mysqlDialect } from '../../../connectors/mysql/dialect.ts'
import { postgresqlDialect } from '../../../connectors/postgresql/dialect.ts'

const dialect = postgresqlDialect

async function aggregationOf(text: string) {
  const reading = await checkCustomSql(text, { dialect })
  if ('error' in reading) throw new Error(reading.error)
  return reading.aggregation
}

t.test('an expression of aggregates and constants is a number of all rows', async t => {
  for (const text of [
    'sum(paid) / nullif(sum(due), 0)',
    'count(*)',
    'count(distinct lower(email))',
    '100.0 * count(*) filter (where paid > 0) / greatest(count(*), 1)',
    'coalesce(max(case when open then total end), 0)',
    'percentile_cont(0.5) within group (order by total)',
    'stddev_pop(total) + var_samp(total)',
    'round(avg(total)::numeric, 2)',
    'corr(paid, due)',
  ])
    t.match(await aggregationOf(text), { problem: null }, text)
})

t.test('what is a number of a row, of several or of none is refused with what to write', async t => {
  for (const [text, reason] of [
    ['paid', /paid stands in no aggregate function/],
    ['sum(paid) / due', /due stands in no aggregate function/],
    ['lower(email)', /email stands in no aggregate function/],
    ['max(paid, due)', /stands in no aggregate function/],
    ['sum(paid) over (partition by region)', /sum\(…\) over \(…\) is a number of each row/],
    ['count(*) over ()', /number of each row/],
    ['1 + 1', /must be an aggregate/],
    ['now()', /must be an aggregate/],
    ['my_total(paid)', /paid stands in no aggregate/],
  ] as const)
    t.match(await aggregationOf(text), { problem: reason }, text)
})

t.test('an expression that counts alone shows no value of a row, others may', async t => {
  for (const [text, isCount] of [
    ['count(*) - count(email)', true],
    ['100 * count(email) / nullif(count(*), 0)', true],
    ['sum(case when email is null then 1 else 0 end)', true],
    ['max(length(email))', false],
    ['sum(salary)', false],
  ] as const)
    t.match(await aggregationOf(text), { isCount }, text)
})

t.test('the SQL of another engine is read as its own', async t => {
  const reading = await checkCustomSql('sum(`paid`) / count(*)', { dialect: mysqlDialect })
  t.match(reading, { form: 'expression', aggregation: { problem: null } })
})
