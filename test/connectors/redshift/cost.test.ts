import t from 'tap'
import { estimateCost } from '../../../connectors/redshift/cost.ts'
import { sql } from '../../../connectors/sql.ts'

const estimate = (...lines: string[]) =>
  estimateCost(async () => lines.map(line => ({ 'QUERY PLAN': line })), sql`select 1 as one`)

// Plans as https://docs.aws.amazon.com/redshift/latest/dg/r_EXPLAIN.html shows them.
t.test('a statement costs the rows and columns that its scans give', async t => {
  const plan = await estimate(
    'XN Hash Join DS_BCAST_INNER  (cost=0.14..6600286.07 rows=8798 width=84)',
    '  Hash Cond: ("outer".catid = "inner".catid)',
    '  ->  XN Seq Scan on event  (cost=0.00..87.98 rows=8798 width=35)',
    '  ->  XN Hash  (cost=0.11..0.11 rows=11 width=49)',
    '        ->  XN Seq Scan on category  (cost=0.00..0.11 rows=11 width=49)',
  )
  t.strictSame(plan, { rows: 8_809, bytes: 8_798 * 35 + 11 * 49 })
  t.strictSame(await estimate('XN Result  (cost=0.00..0.01 rows=1 width=0)'), { rows: 0, bytes: 0 })
})

t.test('a scan of no columns has no width, and one of Spectrum no rows', async t => {
  t.strictSame(
    await estimate(
      'XN Aggregate  (cost=2155.70..2155.70 rows=1 width=0)',
      '  ->  XN Seq Scan on sales  (cost=0.00..1724.56 rows=172456 width=0)',
    ),
    { rows: 172_456, bytes: null },
  )
  t.strictSame(
    await estimate(
      'XN S3 Query Scan spectrum  (cost=0.00..200000000.00 rows=10000000000 width=0)',
      '  ->  S3 Seq Scan spectrum.sales location:"s3://bucket/sales" format:TEXT  (cost=0.00..100000000.00 rows=10000000000 width=0)',
    ),
    { rows: null, bytes: null },
  )
})

t.test('a sub-query has no rows of its own, and a scan that is not known has unknown ones', async t => {
  const scan = '        ->  XN Seq Scan on sales  (cost=0.00..10.00 rows=100 width=4)'
  t.strictSame(await estimate('XN Subquery Scan q  (cost=0.00..10.00 rows=5 width=4)', scan), {
    rows: 100,
    bytes: 400,
  })
  t.strictSame(await estimate('XN Cloud Scan x  (cost=0.00..10.00 rows=5 width=4)', scan), {
    rows: null,
    bytes: null,
  })
})
