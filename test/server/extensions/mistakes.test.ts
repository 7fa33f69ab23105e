/**
 * The mistakes that teams made when they wrote their first extension, each made for real: an extension in a folder of its
 * own, started as the service starts it. Each answer names the extension, what is wrong, and what to do.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { API_VERSION } from '../../../connectors/api-version.ts'
import { build } from '../../../server/build.ts'
import { readConfig } from '../../../server/settings/config.ts'
import { makeLog } from '../../../server/telemetry/log.ts'
import { version } from '../../../server/version.ts'
import { SECRET_KEY, startServer } from '../../helpers/server.ts'
import { discover } from '../../helpers/world.ts'
import { makeFaultyWorld } from '../../helpers/faulty-world.ts'
import { ALERTS } from '../../plugins/alerts/world.ts'

/** No server listens there: these mistakes stop the start before the database is asked for anything. */
const DATABASE_URL = 'postgres://user@127.0.0.1:1/nowhere'
const folder = t.testdir({})

/** Writes an extension as a package in a folder. @returns its file, as EXTENSIONS names it */
function write(source: string, manifest: object = {}): string {
  const own = join(folder, randomUUID())
  mkdirSync(own)
  const names = { name: 'acme-observe', version: '2.3.4', type: 'module' }
  writeFileSync(join(own, 'package.json'), JSON.stringify({ ...names, ...manifest }))
  writeFileSync(join(own, 'index.js'), source)
  return join(own, 'index.js')
}

/** What a start with extensions says, without their names in front. */
async function startWith(...extensions: string[]): Promise<string> {
  const settings = { DATABASE_URL, SECRET_KEY, EXTENSIONS: extensions.join(','), LOG_LEVEL: 'silent' }
  const config = readConfig(settings)
  const log = makeLog(config, { write: () => undefined })
  const deadlines = { load: 3_000, register: 3_000 }
  const started = build({ config, ownerUrl: DATABASE_URL, secretKey: SECRET_KEY, log, deadlines })
  const { name, message } = await started.then(
    () => new Error('it started'),
    (error: Error) => error,
  )
  t.equal(name, 'ExtensionError', message)
  return extensions.reduce((text, specifier) => text.replaceAll(specifier, '<extension>'), message)
}

const plugin = (register: string, name = 'acme') =>
  `export const plugin = { name: '${name}', register(server) { ${register} } }`
const connector = (changes: string) => `import Joi from 'joi'
  import { defineDialect } from 'tidemark/connector'
  ${plugin(`server.connectors.add({ name: 'acme', label: 'Acme', config: Joi.object({}), dialect: defineDialect({}),
    capabilities: {}, connect() {}, test() {}, ${changes} })`)}`

t.test('a mistake in what is written stops the start, and is named', async t => {
  for (const [what, source, said] of [
    [
      'a missing member',
      connector('dialect: undefined'),
      /^Extension <extension> could not be added: Cannot add connector "acme": "dialect" is required \(<extension>:\d\)$/,
    ],
    ['a bad name', connector(`name: 'My Engine'`), /"name" must be small letters, digits and _/],
    [
      'a name that is taken',
      plugin(`server.checks.add(server.checks.get('REGEX'))`),
      /Cannot add check type "REGEX": the name is taken/,
    ],
    ['a syntax error', `export const plugin = {`, /threw while it was loaded: .*: node --check shows where/],
    [
      'a missing dependency',
      `import 'no-such-package-4711'\n${plugin('')}`,
      /threw while it was loaded: Cannot find package 'no-such-package-4711'/,
    ],
    ['no plugin', `export const acme = {}`, /exports no hapi plugin: export const plugin = \{/],
    [
      'a wrong registry',
      plugin('server.conectors.add({})'),
      /\(<extension>:1\): there is no conectors; did you mean server\.connectors\?$/,
    ],
    [
      'a requirement of hapi that does not hold',
      `export const plugin = { name: 'acme', requirements: { hapi: '>=99' }, register() {} }`,
      /could not be added: Plugin acme requires hapi version >=99 but found [\d.]+: change requirements of the plugin/,
    ],
    [
      'an export that was renamed',
      `import { makeSesion } from 'tidemark/connector'\n${plugin('')}`,
      /does not provide an export named 'makeSesion' .*: did you mean makeSession\?/,
    ],
    [
      'a register that never ends',
      `export const plugin = { name: 'acme', register: () => new Promise(() => {}) }`,
      /^Extension <extension> did not end register within 3 s: let it wait for nothing that may never come$/,
    ],
  ] as const)
    t.match(await startWith(write(source)), said, what)
})

t.test('an extension that is listed twice is named as such, with no place that is not its own', async t => {
  const file = write(plugin(''))
  t.equal(
    await startWith(file, file),
    'Extension <extension> could not be added: Plugin acme already registered: list the extension once in EXTENSIONS, or give its plugin a name that no other has',
  )
})

t.test('an extension that was made for another version stops the start with both versions', async t => {
  const needs = (tidemark: string) => ({ peerDependencies: { tidemark } })
  const misfit = `needs tidemark ^9.0.0 (peerDependencies of its package.json), and this is ${version} with the plugin API ${API_VERSION}`
  t.match(await startWith(write(plugin(''), needs('^9.0.0'))), `Extension <extension> ${misfit}: install`)
  // It is why the import failed, which says less.
  const renamed = `import { later } from 'tidemark/connector'`
  t.match(await startWith(write(renamed, needs('^9.0.0'))), misfit)
  t.match(await startWith(write(plugin(''), needs('newest'))), /"newest" .*, which is no range of versions/)
})

t.test('an extension that fits is listed with its version and what it adds', async t => {
  const { tenant, logged } = await makeFaultyWorld(t)
  t.match((await tenant.ask('GET', '/api/v1/sdk/operations')).body.data, {
    versions: { plugin_api: API_VERSION },
    extensions: [
      {
        name: 'faulty',
        version: null,
        adds: [
          { what: 'connector', name: 'badengine' },
          { what: 'rule type', name: 'BAD_RULE' },
          { what: 'metric type', name: 'badmetric' },
          { what: 'destination type', name: 'badhook' },
        ],
      },
    ],
  })
  t.match(
    logged(),
    'extension faulty adds connector badengine; rule type BAD_RULE; metric type badmetric; destination type badhook',
  )
})

/** An extension of engines that each make one mistake, made of the host's SQLite. */
const RUNNING = `
  import Joi from 'joi'
  import { sql } from 'tidemark/check'
  const hang = () => new Promise(() => {})
  const blowUp = () => { throw new Error('blew up with token=tok-secret-4711') }
  export const plugin = {
    name: 'acme-running',
    register(server) {
      const good = server.connectors.get('sqlite')
      const engine = (name, changes) =>
        server.connectors.add({
          ...good, name, label: name,
          connect: async (config, options) => {
            const session = await good.connect(config, options)
            return { introspect: s => session.introspect(s), query: (...q) => session.query(...q),
              close: () => session.close(), ...changes(session) }
          },
        })
      server.connectors.add({ ...good, name: 'throws', connect: blowUp, test: blowUp })
      server.connectors.add({ ...good, name: 'untested', test: async () => [] })
      engine('hangs', () => ({ query: hang }))
      engine('wrong_rows', () => ({ query: async () => [{ other: 1 }] }))
      engine('wrong_tables', () => ({ introspect: async () =>
        [{ catalog: 'main', schema: 'main', name: 'orders', kind: 'table', comment: null, constraints: [],
           columns: [{ name: 7, ordinal: 'x', type: null, kind: 'number' }] }] }))
      engine('fine', () => ({}))
      const metric = (name, measure) =>
        server.checks.add({ family: 'metric', name, description: name, config: Joi.object({}), column: 'ignored', measure })
      metric('throwing', blowUp)
      metric('sql_as_text', () => 'count(*)')
      metric('bad_sql', () => sql\`count(\`)
      metric('gives_text', () => sql\`'abc'\`)
      const outcome = { isDelivered: true, statusCode: 200, errorClass: null, errorMessage: null, address: null,
        tlsVersion: null, latencyMs: 0, responseBody: null }
      const destination = (name, changes) =>
        server.destinations.add({ name, label: name, config: Joi.object({}), deliver: async () => outcome, ...changes })
      destination('cannot_compose', { compose: blowUp })
      destination('cannot_deliver', { deliver: async () => blowUp() })
      destination('wrong_outcome', { deliver: async () => 'ok' })
    },
  }`

t.test(
  'a mistake while it runs is a sentence that names the extension, and quotes nothing of it',
  async t => {
    const files = t.testdir({})
    const path = join(files, 'shop.db')
    const database = new DatabaseSync(path)
    database.exec('create table orders (id integer primary key); insert into orders values (1), (2)')
    database.close()
    let lines = ''
    const log = makeLog({ logLevel: 'info', logFormat: 'json' }, { write: line => void (lines += line) })
    const app = await startServer(t, {
      settings: { EXTENSIONS: write(RUNNING), FILE_SOURCES: files },
      build: { log, deadlines: { grace: 500 } },
      isOwn: true,
    })
    const tenant = await app.signUp()
    const ask = async (method: string, url: string, body?: object) => {
      const reply = await tenant.ask(method, url, body)
      t.notMatch(JSON.stringify(reply.body), /tok-secret-4711/, 'what was thrown is in the log alone')
      return reply
    }
    const addSource = async (source_type: string) => {
      const made = await ask('POST', '/api/v1/sdk/assets', {
        ...{ name: source_type, source_type, connection_config: { path }, statement_timeout_seconds: 1 },
      })
      t.equal(made.status, 201, JSON.stringify(made.body))
      return { app, tenant, asset: made.body.data as { id: string } }
    }
    const testOf = async ({ asset }: { asset: { id: string } }) =>
      (await ask('POST', `/api/v1/sdk/assets/${asset.id}/test-connection`)).body.data

    const throwing = await addSource('throws')
    const threw = 'The connector throws threw an error; the log has more'
    t.match(await testOf(throwing), { success: false, error_message: threw })
    t.match(await discover(throwing), { status: 'failed', error: { message: threw } })
    t.match(lines, /"extension":"connector throws".*blew up/, 'whole in the log, with its name')
    t.match(await testOf(await addSource('untested')), {
      success: false,
      error_message: /The connector untested returned a wrong answer to test: the stage reach is missing/,
    })
    t.match(await discover(await addSource('wrong_tables')), {
      status: 'failed',
      error: {
        message:
          /The connector wrong_tables returned a wrong answer to introspect: table main\.main\.orders: columns\[0\]\.name must be a string/,
      },
    })

    const capture = async (source: { asset: { id: string } }, metric_type: string) => {
      const base = `/api/v1/sdk/metrics/${source.asset.id}`
      const made = await ask('POST', base, { metric_type, table_path: 'orders' })
      t.equal(made.status, 201, JSON.stringify(made.body))
      const captured = await ask('POST', `${base}/${made.body.data.id}/capture`)
      return captured.body.data.snapshots[0].error_message as string
    }
    for (const [engine, said] of [
      ['hangs', /The connector hangs did not end query within 1\.5 s/],
      ['wrong_rows', /gave no row with the column/],
    ] as const) {
      const source = await addSource(engine)
      t.match(await discover(source), { status: 'completed' })
      t.match(await capture(source, 'row_count'), said)
    }
    const fine = await addSource('fine')
    await discover(fine)
    for (const [metric, said] of [
      ['throwing', 'throwing failed: it threw an error; the log has more'],
      ['sql_as_text', /must give SQL that was written with sql/],
      ['bad_sql', /syntax/],
      ['gives_text', /The measured value is a string, which is not a finite number/],
    ] as const)
      t.match(await capture(fine, metric), said, metric)

    for (const [destination_type, said] of [
      [
        'cannot_compose',
        'The destination type cannot_compose could not compose the message; the log has more',
      ],
      ['cannot_deliver', 'The destination type cannot_deliver threw an error; the log has more'],
      ['wrong_outcome', /The destination type wrong_outcome returned a wrong outcome of deliver: an object/],
    ] as const) {
      const made = await ask('POST', `${ALERTS}/destinations`, { name: 'd', destination_type, config: {} })
      const tested = await ask('POST', `${ALERTS}/destinations/${made.body.data.id}/test`)
      t.match(tested.body.data, { success: false, error_class: 'configuration', error_message: said })
    }
  },
)
