import t from 'tap'
import {
  findRule,
  fitsSource,
  listCandidates,
  mayFitSource,
  namespaceOf,
  type NamedSource,
} from '../../../../plugins/lineage/datasets/namespaces.ts'

const sources = {
  postgresql: { host: 'DB.example.com', port: 5432, database: 'shop' },
  redshift: { host: 'wh.abc123.eu-west-1.redshift.amazonaws.com', port: 5439, database: 'dev' },
  mysql: { host: '127.0.0.1', port: 3306, database: 'shop' },
  snowflake: { account: 'myorg-my_account', database: 'SHOP' },
  bigquery: { project_id: 'my-project' },
  databricks: { host: 'adb-1.2.azuredatabricks.net', http_path: '/sql/1.0/warehouses/x' },
  sqlite: {},
}

const list = Object.entries(sources).map(([sourceType, config]): NamedSource => ({
  ...{ id: sourceType, name: 'demo', sourceType, config },
}))

const fitting = (namespace: string, name = 'shop.public.orders') =>
  list
    .filter(source => fitsSource(namespace, name.split('.'), source))
    .map(({ id }) => id)
    .join()

t.test('the naming convention names sources', async t => {
  const cases = {
    'postgres://db.example.com:5432': 'postgresql',
    'postgres://db.example.com': 'postgresql',
    'postgresql://user@db.example.com:5432/shop': 'postgresql',
    'postgres://db.example.com:5433': '',
    'postgres://other.example.com:5432': '',
    'redshift://wh.eu-west-1:5439': 'redshift',
    'redshift://wh.abc123.eu-west-1.redshift.amazonaws.com:5439': 'redshift',
    'mysql://localhost:3306': 'mysql',
    'mysql://localhost:3307': '',
    'snowflake://myorg-my-account': 'snowflake',
    'snowflake://MYORG-MY_ACCOUNT': 'snowflake',
    'snowflake://xy12345.us-east-1.aws': '',
    'unitycatalog://adb-1.2.azuredatabricks.net': 'databricks',
    'sqlite://demo': 'sqlite',
    's3://lake': '',
    file: '',
    '': '',
    'postgres://[::1]:5432': '',
  }
  for (const [namespace, source] of Object.entries(cases)) t.equal(fitting(namespace), source, namespace)
  t.equal(fitting('bigquery', 'my-project.shop.orders'), 'bigquery')
  t.equal(fitting('bigquery', 'other.shop.orders'), '')
  for (const source of list) {
    t.ok(mayFitSource(namespaceOf(source), source))
    t.notOk(mayFitSource('s3://lake', source))
    t.equal(
      fitting(namespaceOf(source), 'my-project.shop.orders'),
      source.id,
      `the namespace of ${source.id}`,
    )
  }
})

t.test('a locator of Snowflake is the same with its region and its cloud', async t => {
  const at = (account: string): NamedSource => ({
    ...{ id: 's', name: 's', sourceType: 'snowflake', config: { account } },
  })
  t.ok(fitsSource('snowflake://xy12345.us-west-1.aws', [], at('xy12345')))
  t.ok(fitsSource('snowflake://xy12345.us-east-1.aws', [], at('XY12345.us-east-1')))
  t.notOk(fitsSource('snowflake://xy12345.us-east-1.aws', [], at('xy12345')))
})

t.test('rules come before the convention, the exact and the longest first', async t => {
  const rule = (namespace: string, namePrefix: string | null = null) => ({
    namespace,
    sourceId: namespace,
    namePrefix,
  })
  const rules = [rule('*'), rule('spark://*'), rule('spark://prod-*'), rule('spark://prod-1', 'shop.public')]
  const found = (namespace: string) => findRule(namespace, rules)?.namespace
  t.equal(found('spark://prod-1'), 'spark://prod-1')
  t.equal(found('spark://prod-2'), 'spark://prod-*')
  t.equal(found('spark://dev'), 'spark://*')
  t.equal(found('s3://x'), '*')
  t.equal(findRule('s3://x', [rule('s3://x*x')]), undefined, 'the ends do not overlap')
  t.equal(findRule('s3://a-b-c', [rule('s3://*-*-c')])?.namespace, 's3://*-*-c')
  t.strictSame(listCandidates({ namespace: 'spark://prod-1', name: 'orders' }, list, rules), [
    { sourceId: 'spark://prod-1', catalog: 'shop', schema: 'public', name: 'orders', rank: 0 },
  ])
  t.strictSame(
    listCandidates({ namespace: 'postgres://db.example.com:5432', name: 'shop."a.b"' }, list, []),
    [
      { sourceId: 'postgresql', schema: 'shop', name: 'a.b', rank: 0 },
      { sourceId: 'postgresql', catalog: 'shop', name: 'a.b', rank: 1 },
    ],
  )
})
