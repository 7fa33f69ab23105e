/** The documentation, tried: its commands work, in the order of its pages. */
import { generateKeyPairSync } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { sql as sqlText } from '../../../connectors/sql.ts'
import { describeSettings } from '../../../server/settings/config.ts'
import { CODE_NAMES, statusOf } from '../../../server/http/errors.ts'
import { pageNames } from '../../../plugins/public/doc-pages.ts'
import { startMailServer } from '../../helpers/mail-server.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { SECRET_KEY, startServer } from '../../helpers/server.ts'
import { startSource, withSession } from '../../helpers/source.ts'
import { root } from '../../helpers/sources.ts'
import { blocksOf, differences, pageText, runBlock, variablesOf, type Block } from './docs-blocks.ts'

t.setTimeout(600_000)
t.comment('timeout=600000')

const { privateKey: RSA } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

/** In the order in which the table of contents names them. */
const order = [...pageText('index').matchAll(/^- \[[^\]]+\]\(([a-z-]+)\.md\)/gm)].map(([, name = '']) => name)

/** The extension of a page, below the package, so that `tidemark/check` is the one of the checkout. */
const extension = join(root, '.tap/docs-plugin/house-rules.mjs')
mkdirSync(dirname(extension), { recursive: true })
writeFileSync(extension, blocksOf('start-plugin').find(({ language }) => language === 'js')?.text ?? '')

const dataDir = t.testdir({ demo: {} })
const mail = await startMailServer(t)
const receiver = await startReceiver(t)
const source = await startSource(t)
await source.query('create table orders (id int primary key, created_at timestamptz not null)')
const { server, ask } = await startServer(t, {
  settings: {
    DEMO_ENABLED: 'true',
    DATA_DIR: dataDir,
    FILE_SOURCES: join(dataDir, 'demo'),
    SMTP_URL: mail.url,
    EXTENSIONS: pathToFileURL(extension).href,
  },
})

/** The demo as `npm start` makes it. */
const printed: string[] = []
await server.plugins.demo.runDemo(line => printed.push(line))
const key = printed.find(line => line.startsWith('key: '))?.slice('key: '.length) ?? ''
const [, email = '', password = ''] = /^sign-in: (\S+) (\S+)$/m.exec(printed.join('\n')) ?? []

// The contract that one page has a request for, another line of it in a file; without the mistake that it shows.
const contract = /--data-binary '\n([^']*)'/.exec(pageText('contracts'))?.[1] ?? ''
writeFileSync(
  join(dataDir, 'orders.odcs.yaml'),
  contract.replace('- logicalType', '- name: id\n        logicalType'),
)

/** What stands in the examples for what a reader has, and what this machine has in its place. */
const places: [string | RegExp, string][] = [
  [
    /"host": "db\.example\.com", "port": 5432, "database": "shop"/,
    JSON.stringify(source.config).slice(1, -1),
  ],
  ['"username": "tidemark", "password": "…", "sslmode": "verify-full"', '"sslmode": "prefer"'],
  [/https:\/\/(hooks|events)\.[a-z.]*[a-z](\/[^"]*)?/g, `${receiver.url}/hook`],
]

const get = async (path: string) => (await ask('GET', `/api/v1${path}`, undefined, key)).body

/** What the pages say a variable is, looked up when a block asks for it. */
const variables: Record<string, () => unknown> = {
  BASE: () => server.info.uri,
  KEY: () => key,
  TOKEN: async () =>
    (token ??= (await ask('POST', '/api/v1/auth/login', { email, password })).body.access_token),
  ASSET: () => 'demo_shop',
  TABLE: async () => (await get('/assets/demo_shop.main.main.orders')).id,
  RULE: async () => (await get('/sdk/validity/demo_shop')).data.items[0].uuid,
  METRIC: async () => (await get('/sdk/metrics/demo_shop')).data.items[0].id,
  USER: async () =>
    (await ask('GET', '/api/v1/users', undefined, String(await variables.TOKEN!()))).body.data[0].id,
  ALERT: async () => (await get('/sdk/alerts/inbox')).data.alerts[0].id,
  CHANGE: async () => (await get('/sdk/schema/changes?unacknowledged_only=true')).data.data[0].id,
  DESTINATION: async () =>
    (await get('/sdk/alerts/destinations')).data.destinations[0]?.id ?? (await makeDestination()),
  RECOMMENDATION: async () =>
    (await get('/sdk/recommendations?asset_id=demo_shop&limit=1')).data.recommendations[0].id,
  BADGE: async () => (await get('/sdk/badges')).data.badges[0].public_id,
}
let token: string | undefined

async function makeDestination(): Promise<string> {
  const body = { name: 'first', destination_type: 'webhook', config: { url: `${receiver.url}/hook` } }
  return (await ask('POST', '/api/v1/sdk/alerts/destinations', body, key)).body.data.id
}

/** What commands need to work on the database of this server. */
const settings = {
  DATABASE_URL: String(server.config.databaseUrl),
  SECRET_KEY,
  DATA_DIR: dataDir,
  LOG_LEVEL: 'silent',
}

async function valuesFor(block: Block): Promise<Record<string, string>> {
  const names = variablesOf(block)
  const values = await Promise.all(names.map(async name => String(await variables[name]?.())))
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
}

/** The error that a page shows as the reply: its code, or what a 422 has in its place. */
function refusalIn(reply: unknown): string | undefined {
  const { error, detail } = reply as { error?: { code?: string }; detail?: { type: string }[] }
  return error?.code ?? detail?.[0]?.type
}

for (const name of order) {
  void t.test(`the commands of ${name}.md work as described`, async t => {
    const blocks = blocksOf(name)
    for (const [index, block] of blocks.entries()) {
      if (block.language !== 'sh' || !/\b(curl|tidemark --) /.test(block.text) || block.note === 'elsewhere')
        continue
      const values = await valuesFor(block)
      const text = places.reduce(
        (so, [shown, here]) => so.replaceAll(new RegExp(shown, 'g'), here),
        block.text,
      )
      const { answers, code, err } = await runBlock(text, { ...settings, ...values }, dataDir)
      t.equal(code, 0, `${block.place} ends well ${code === 0 ? '' : err}`)
      t.ok(answers.length >= (block.text.match(/^curl /gm) ?? []).length, `${block.place} asks`)
      const next = blocks[index + 1]
      const shown: unknown = next?.note === 'reply' ? JSON.parse(next.text) : undefined
      for (const [turn, { status, body }] of answers.entries()) {
        const isShown = shown !== undefined && turn === answers.length - 1
        const refusal = isShown ? refusalIn(shown) : undefined
        if (refusal === undefined)
          t.ok(status < 300, `${block.place} #${turn + 1}: ${status} ${status < 300 ? '' : body}`)
        else t.equal(refusalIn(JSON.parse(body)), refusal, block.place)
        if (isShown) t.strictSame(differences(shown, JSON.parse(body)), [], `${next?.place} shows the reply`)
      }
    }
  })
}

/** Pages without a task that the console has too, or of those who do not use it. */
const WITHOUT_CONSOLE = new Set([
  ...['api-errors', 'benchmarks', 'detection', 'monitors', 'observability', 'operations', 'preferences'],
  ...['start-api', 'start-plugin', 'getting-started'],
])

t.test('a page says how a task is done in the console before the first request that does it', async t => {
  for (const name of pageNames.filter(page => !WITHOUT_CONSOLE.has(page))) {
    const text = pageText(name)
    const request = text.search(/^curl /m)
    if (request > 0) t.match(text.slice(0, request), '**In the console**', name)
  }
})

t.test('a way to the first success has at most sixty lines', async t => {
  const ways = pageNames.filter(name => name.startsWith('start-'))
  t.equal(ways.length, 5)
  for (const name of ways) t.ok(pageText(name).split('\n').length <= 60, name)
})

t.test('the table of contents leads to every page', async t => {
  t.strictSame(
    [...order].sort(),
    pageNames.filter(name => name !== 'index'),
  )
})

t.test('every error code is documented with its status, and no other', async t => {
  const documented = new Map<string, string>()
  for (const [, codes = '', status = ''] of pageText('api-errors').matchAll(
    /^\| (`[A-Z_`, ]+`) +\| (\d{3}) +\|/gm,
  )) {
    for (const [, code = ''] of codes.matchAll(/`([A-Z_]+)`/g)) documented.set(code, status)
  }
  t.strictSame([...documented].sort(), CODE_NAMES.map(code => [code, String(statusOf(code))]).sort())
  // Those of envelopes stand beside a status of their own.
  for (const file of globSync(['plugins/**/*.ts', 'server/**/*.ts'], { cwd: root })) {
    const source = readFileSync(join(root, file), 'utf8')
    for (const [, code = ''] of source.matchAll(/\berror: '([A-Z]{3,}(?:_[A-Z]+)*)'/g))
      t.ok(pageText('api-errors').includes(`\`${code}\``), `${code} of ${file}`)
  }
})

t.test('engines.md documents the capabilities of every engine, and valid configurations', async t => {
  const rows = [...pageText('engines').matchAll(/^\| .*\| `([a-z]+)` +\|(.*)\|$/gm)]
  t.strictSame(rows.map(([, name = '']) => name).sort(), server.connectors.names().sort())
  const columns = [
    'readOnly',
    'renames',
    'lastModified',
    'estimates',
    'groupedPercentile',
    'costEstimates',
  ] as const
  const examples = blocksOf('engines').filter(({ language }) => language === 'json')
  t.equal(examples.length, rows.length)
  for (const [index, [, name = '', cells = '']] of rows.entries()) {
    const { capabilities, config } = server.connectors.get(name)
    // What only some tables have is files here.
    const claimed = columns.map(column =>
      typeof capabilities[column] === 'function' ? 'files' : capabilities[column] ? 'yes' : 'no',
    )
    t.strictSame(
      cells.split('|').map(cell => cell.trim()),
      claimed,
      name,
    )
    const { credentials_json: account, ...given } = JSON.parse(examples[index]?.text ?? '{}')
    // A key that signs, in place of one that only its owner has.
    const credentials = account && {
      credentials_json: { ...JSON.parse(account), client_email: 'a@b.example', private_key: RSA },
    }
    const { error } = config.validate({ ...given, ...credentials })
    t.equal(error?.message, undefined, name)
    t.equal(
      capabilities.constraints && capabilities.cancel && capabilities.percentile && capabilities.regex,
      true,
      name,
    )
  }
})

t.test('the rights that engines.md gives on PostgreSQL are enough to read, and for nothing else', async t => {
  const shop = await startSource(t)
  await shop.query('create table orders (id int)')
  const role = `${shop.name}_page`
  const [sql] = blocksOf('engines').filter(({ language }) => language === 'sql')
  const text = sql?.text.replaceAll('tidemark', role).replaceAll('database shop', `database ${shop.name}`)
  for (const statement of text?.split(';\n').filter(Boolean) ?? []) await shop.query(statement)
  await shop.query('create table later (id int)')
  const config = { ...shop.config, username: role, password: '…' }
  await withSession(config, async connection => {
    const names = (await connection.introspect()).map(({ name }) => name)
    t.strictSame(names, ['later', 'orders'])
    const options = { timeoutMs: 10_000 }
    for (const name of names) {
      const table = postgresql.dialect.table({ catalog: shop.name, schema: 'public', name })
      t.strictSame(await connection.query(sqlText`select count(*) as n from ${table}`, options), [{ n: 0 }])
    }
  })
  const [rights] = await shop.query(
    `select has_table_privilege($1, 'orders', 'insert') as writes, has_database_privilege($1, current_database(), 'create') as makes`,
    [role],
  )
  t.strictSame(rights, { writes: false, makes: false })
})

t.test('operations.md lists every setting with its default and description', async t => {
  const rows = [...pageText('operations').matchAll(/^\| `([A-Z_<>]+)` +\| (?:`([^`]*)`)? *\| (.*?) +\|$/gm)]
  t.strictSame(
    rows.map(([, name, byDefault = '', about]) => ({ name, default: byDefault, about })),
    describeSettings({}).map(({ name, default: byDefault, about }) => ({
      name,
      default: byDefault ?? '',
      about,
    })),
  )
})

t.test('what pages link to within pages is there', async t => {
  for (const name of pageNames) {
    for (const [, page = name, part = ''] of pageText(name).matchAll(
      /\]\((?:([a-z-]+)\.md)?(?:#([a-z0-9-]+))?\)/g,
    )) {
      if (part === '') continue
      const headings = [...pageText(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slug(heading))
      t.ok(headings.includes(part), `${name}.md links to ${page}.md#${part}`)
    }
  }
})

/** As renderers of markdown make the ids of headings. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
