import { readFileSync } from 'node:fs'
import t from 'tap'
import { readUrl } from '../../../plugins/console/client/screens/source/url-values.ts'
import { fillInNames, readScript } from '../../../plugins/console/client/screens/source/grant-script.ts'

const field = (name: string) => ({ name: `connection_config.${name}`, label: name, kind: 'text' as const })
const specs = [
  ...['host', 'port', 'database', 'username'].map(field),
  { ...field('password'), kind: 'secret' as const },
  { ...field('sslmode'), kind: 'choice' as const, choices: [['require', 'require']] as const },
]
const read = (type: string, url: string) => {
  const found = readUrl(type, url, specs)
  return typeof found === 'string'
    ? found
    : Object.fromEntries(Object.entries(found).map(([name, value]) => [name.split('.')[1], value]))
}

t.test('a connection URL fills in the fields that it has', async t => {
  const all = { host: 'db', port: '5432', database: 'shop', username: 'ada', password: 'p@ss/1' }
  t.same(read('postgresql', ' postgresql://ada:p%40ss%2F1@db:5432/shop?sslmode=require\n'), {
    ...all,
    sslmode: 'require',
  })
  t.same(read('postgresql', 'postgres://db/shop?sslmode=sometimes'), { host: 'db', database: 'shop' })
  t.same(read('mysql', 'mysql+pymysql://root@10.0.0.1:3306/'), {
    ...{ host: '10.0.0.1', port: '3306', username: 'root' },
  })
  t.same(read('redshift', 'jdbc:redshift://c.aws:5439/dev?user=ada&password=secret'), {
    ...{ host: 'c.aws', port: '5439', database: 'dev', username: 'ada', password: 'secret' },
  })
  t.same(read('postgresql', 'postgres://[::1]:5432/shop'), { host: '::1', port: '5432', database: 'shop' })
})

t.test('what is no URL of the engine is refused with the reason', async t => {
  t.match(read('postgresql', 'mysql://db/shop'), /An address of mysql is for another engine/)
  for (const text of ['db.example.com', 'postgres://', 'postgres://a b', 'postgres://%zz@db/shop'])
    t.match(read('postgresql', text), /This is no connection URL/, text)
})

t.test('each engine with logins has a script in the documentation', async t => {
  const page = readFileSync(new URL('../../../plugins/public/docs/engines.md', import.meta.url), 'utf8')
  for (const type of ['postgresql', 'mysql', 'redshift', 'snowflake', 'bigquery', 'databricks'])
    t.match(readScript(page, type), /^(create|grant) /, type)
  t.equal(readScript(page, 'sqlite'), '')
  t.equal(readScript(page, 'unknown'), '')
})

t.test(
  'the script names the database and the user of the form, also where one is called as the other in the example',
  async t => {
    const script = 'grant connect on database shop to tidemark;'
    const fill = (database: string, username: string) =>
      fillInNames(script, { 'connection_config.database': database, 'connection_config.username': username })
    t.equal(fill('tidemark', 'reader'), 'grant connect on database tidemark to reader;')
    t.equal(fill('My Shop', ''), script, 'names that would have to be quoted stay as in the example')
  },
)
