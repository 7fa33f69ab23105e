import t from 'tap'
import { checkCustomSql } from '../../../checks/sql/custom-sql.ts'

const COUNTS = [
  'select count(*) as n from t',
  'select count(distinct a) as n from t where b > 5 group by c',
  'select coalesce(sum(case when a is null then 1 else 0 end), 0) as n from t',
  'select 100.0 * count(a) / nullif(count(*), 0) as n from t',
  'select n from (select total as n from (select count(*) as total from t) x) y where n > 5',
  'select case when total = 0 then 0 else round(100.0 * bad / total) end as n from (select count(*) as total, count(a) as bad from t) x',
  'select count(*) - (select count(*) from u) as n from t',
  'select (select count(*) from t) as n',
]

const VALUES = [
  'select a as n from t',
  'select max(a) as n from t',
  'select sum(a) as n from t where id = 1',
  'select sum(case when a > 5 then a else 0 end) as n from t',
  'select case when max(a) > 5 then 1 else 0 end as n from t',
  'select count(*) + a as n from t group by a',
  'select n from (select a as n from t) x',
  'select n from (select count(*) as n from t) x join (select a as n from t) y on true',
  'select n from (select count(*) as m, a as n from t group by a) x',
  'select count(*) as n from t union select a from t',
  'select count(*) as n, a as n from t group by a',
  'select (select a from t) as n',
  'select coalesce(a, 0) as n from t',
]

const countColumns = async (text: string) => {
  const read = await checkCustomSql(text)
  return 'error' in read ? read.error : read.countColumns
}

t.test('a column that counts rows is distinguished from one that shows their values', async t => {
  for (const text of COUNTS) t.strictSame(await countColumns(text), ['n'], text)
  for (const text of VALUES) t.strictSame((await countColumns(text))?.includes('n'), false, text)
  t.strictSame(await countColumns(`select 1${' + 1'.repeat(900)} as n from t`), [], 'and deep ones are none')
})
