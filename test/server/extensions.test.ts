import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ConnectorError } from '../../connectors/errors.ts'
import { sql } from '../../connectors/sql.ts'
import { build } from '../../server/build.ts'
import { readConfig } from '../../server/settings/config.ts'
import { watchedLog } from '../helpers/log-watch.ts'
import { SECRET_KEY } from '../helpers/server.ts'
import { discover, makeWorld } from '../helpers/world.ts'

/** No server listens there: a wrong extension stops the start before the database is asked for anything. */
const DATABASE_URL = 'postgres://user@127.0.0.1:1/nowhere'

function start(extensions: string) {
  const config = readConfig({ DATABASE_URL, SECRET_KEY, EXTENSIONS: extensions, LOG_LEVEL: 'silent' })
  return build({ config, ownerUrl: DATABASE_URL, secretKey: SECRET_KEY, log: watchedLog(t) })
}

const plugin = (register: string) =>
  `export const plugin = { name: 'mine', register(server) { ${register} } }`

/** A connector or check type of an extension, with changes to one that is right. */
const connector = (changes: string) => `import Joi from 'joi'
  import { defineDialect } from 'tidemark/connector'
  const good = { name: 'mine', label: 'Mine', config: Joi.object({}), dialect: defineDialect({}), capabilities: {},
    connect() {}, test() {} }
  ${plugin(`server.connectors.add({ ...good, ${changes} })`)}`
const check = (changes: string) => `import Joi from 'joi'
  const good = { name: 'mine', family: 'metric', description: 'Mine.', config: Joi.object({}), column: 'required',
    measure() {} }
  ${plugin(`server.checks.add({ ...good, ${changes} })`)}`

const folder = t.testdir({
  'misses.js': `import 'a-missing-package'`,
  'throws.js': `throw new Error('the licence has run out')`,
  'bare.js': `export const connector = { name: 'mine' }`,
  'unregistered.js': `export default { name: 'mine' }`,
  'function.js': `export default function register() {}`,
  'nameless.js': `export const plugin = { register() {} }`,
  'syntax.js': `export const plugin = { name: , }`,
  'enum.ts': `enum A { B }\nexport const plugin = { name: A.B, register() {} }`,
  'subpath.js': `import 'tidemark/connectors'`,
  'misspelt.js': `import { makeSesion } from 'tidemark/connector'`,
  'late.js': `\nexport const plugin = { name: 'mine', async register(server) {\n  server.conectors.add({}) } }`,
  'text.js': plugin(`throw 'no licence'`),
  'other-joi.js': connector(`config: { [Symbol.for('@hapi/joi/schema')]: { version: '17.0.0' } }`),
  node_modules: {
    installed: {
      'package.json': `{ "name": "installed", "main": "index.cjs" }`,
      'index.cjs': `module.exports.plugin = { name: 'catalog', register() {} }`,
    },
    unbuilt: { 'package.json': `{ "name": "unbuilt", "exports": "./dist/index.js" }` },
    uncompiled: {
      'package.json': `{ "name": "uncompiled", "type": "module", "exports": "./index.ts" }`,
      'index.ts': `export const plugin = { name: 'mine', register() {} }`,
    },
    unexported: { 'package.json': `{ "name": "unexported", "exports": { "./x": "./x.js" } }` },
  },
  'same-connector.js': plugin(`server.connectors.add(server.connectors.get('sqlite'))`),
  'same-check.js': plugin(`server.checks.add(server.checks.get('REGEX'))`),
  'same-job.js': `import Joi from 'joi'
    ${plugin(`server.jobs.add({ name: 'catalog.discover', data: Joi.object({}), work: async () => {} })`)}`,
  'same-plugin.js': `export const plugin = { name: 'catalog', register() {} }`,
  'negative-count.js': `import Joi from 'joi'
    import { sql } from 'tidemark/check'
    export const plugin = {
      name: 'negative-count',
      register(server) {
        server.checks.add({
          family: 'metric', name: 'negative_count', description: 'How many numbers are below zero.',
          config: Joi.object({}), column: 'required',
          measure: ({ column }) => sql\`count(case when \${column} < 0 then 1 end)\`,
        })
      },
    }`,
})
const file = (name: string) => join(folder, name)

t.test('an extension that is not there stops the start and says how to get it', async t => {
  await t.rejects(start('a-missing-package'), {
    message:
      'Extension a-missing-package is not installed: run npm install a-missing-package, or correct EXTENSIONS',
  })
  for (const specifier of ['./no/such/file.js', file('no-such-file.js')]) {
    await t.rejects(start(specifier), {
      message: `Extension ${specifier} is not there: correct the path in EXTENSIONS`,
    })
  }
})

t.test('an extension whose own import is missing is distinguished from one that is missing', async t => {
  await t.rejects(start(file('misses.js')), {
    message: /misses\.js threw while it was loaded: .*a-missing-package/,
  })
})

/** What a start that must fail says, without what every message of an extension starts with. */
async function problem(specifier: string): Promise<string> {
  const { message } = await start(specifier).then(
    () => new Error('it started'),
    (error: Error) => error,
  )
  return message.replace(`Extension ${specifier} `, '')
}

t.test('an extension that throws stops the start with what it said, where, and what to do', async t => {
  for (const [name, said] of [
    ['throws.js', `threw while it was loaded: the licence has run out (${file('throws.js')}:1)`],
    ['syntax.js', `threw while it was loaded: Unexpected token ',': node --check shows where`],
    ['enum.ts', /strip-only mode \(.*enum\.ts:1\): Node only leaves out types, so set erasableSyntaxOnly/],
    ['subpath.js', /'\.\/connectors' is not defined .*: there are tidemark\/connector, tidemark\/check/],
    [
      'misspelt.js',
      /does not provide an export named 'makeSesion' \(.*misspelt\.js:1\): did you mean makeSession\?$/,
    ],
    [
      'late.js',
      `could not be added: Cannot read properties of undefined (reading 'add') (${file('late.js')}:3): there is no conectors; did you mean server.connectors?`,
    ],
    ['text.js', 'could not be added: it threw "no licence"'],
    ['other-joi.js', 'could not be added: Cannot mix different versions of joi schemas'],
  ] as const) {
    const message = await problem(file(name))
    if (typeof said === 'string') t.equal(message.slice(0, said.length), said)
    else t.match(message, said)
  }
  t.match(await problem(folder), 'is a folder: name the file in it, such as index.ts')
})

t.test('packages are found from the working directory, and an unbuilt one is reported as such', async t => {
  const before = process.cwd()
  process.chdir(folder)
  t.teardown(() => process.chdir(before))
  t.match(await problem('installed'), 'could not be added: Plugin catalog already registered')
  t.equal(
    await problem('unbuilt'),
    `is installed, but has no ${file('node_modules/unbuilt/dist/index.js')}: run npm run build in it, or install it again`,
  )
  t.match(await problem('uncompiled'), /^threw .*node_modules.*: publish what npm run build makes of it$/)
  t.match(
    await problem('unexported'),
    /cannot be imported .*: its package\.json must say under exports what "\." is/,
  )
})

t.test('a module that is no hapi plugin stops the start and says what to export', async t => {
  const say = `export const plugin = { name: 'my-extension', register(server) { … } }`
  for (const name of ['bare.js', 'unregistered.js', 'function.js']) {
    t.equal(await problem(file(name)), `exports no hapi plugin: ${say}`)
  }
  t.equal(await problem(file('nameless.js')), `exports a hapi plugin without a name: ${say}`)
})

t.test('a malformed connector or check type is refused with what it lacks', async t => {
  for (const [source, said] of [
    [connector(`name: 'My Engine'`), /"name" must be small letters, digits and _/],
    [
      connector('dialect: {}'),
      /"dialect" lacks quote, table, .*: make it with defineDialect of tidemark\/connector/,
    ],
    [connector('dialect: undefined'), /"dialect" is required/],
    [connector('capabilities: { regex: false }'), /"capabilities.regex" must be true; .* is left out/],
    [
      connector('capabilities: { regexp: true }'),
      /"capabilities.regexp" is no capability; there are .*\bregex\b/,
    ],
    [connector(`config: { host: 'text' }`), /"config" must be a Joi schema of object type/],
    [connector('config: Joi.string()'), /"config" must be a Joi schema of object type/],
    [connector('config: Joi.object({}).unknown()'), /"config" takes unknown keys: leave out \.unknown\(\)/],
    [connector('connect: undefined'), /"connect" is required/],
    [plugin('server.connectors.add(undefined)'), /Cannot add connector undefined: "a connector" is required/],
    [
      check(`name: 'has spaces', description: undefined, kinds: ['number']`),
      /"name" must be .*, "description" is required, "kinds\[0\]" must be one of/,
    ],
    [check(`name: 'has spaces'`), /"name" must be letters, digits and _/],
    [check('config: {}'), /"config" must be a Joi schema of object type/],
    [
      check('measure: undefined'),
      /says what to measure: by valid \(a rule\), measure \(a metric\), or measures/,
    ],
    [check('measures() {}, readMeasures() {}'), /has one of valid, measure and measures/],
    [check(`measure: undefined, valid() {}`), /"valid" is for rules: a metric has measure/],
    [check(`family: 'rule'`), /"measure" is for metrics: a rule has valid/],
    [check('measure: undefined, measures() {}'), /"readMeasures" is required/],
    [check(`family: 'rule', measure: undefined, measures() {}, readMeasures() {}`), /"samples" is required/],
    [check(`kinds: ['number']`), /"kinds\[0\]" must be one of \[integer, /],
    [check(`needs: ['regexp']`), /"needs\[0\]" must be one of \[.*\bregex\b/],
  ] as const) {
    const path = join(folder, `shape-${randomUUID()}.js`)
    writeFileSync(path, source)
    t.match(await problem(path), said)
  }
})

t.test('a name that is taken stops the start and names it', async t => {
  for (const [name, said] of [
    ['same-connector.js', 'Cannot add connector "sqlite": the name is taken'],
    ['same-check.js', 'Cannot add check type "REGEX": the name is taken'],
    ['same-job.js', 'Cannot add job "catalog.discover": the name is taken'],
    // No place: the extension was not running, and what started the server is not at fault.
    [
      'same-plugin.js',
      'Plugin catalog already registered: list the extension once in EXTENSIONS, or give its',
    ],
  ] as const) {
    const message = await problem(file(name))
    t.equal(message.slice(0, said.length + 20), `could not be added: ${said}`)
  }
})

t.test('a check type of an extension is offered and captured like one of ours', async t => {
  const world = await makeWorld(
    t,
    [
      'create table moves (id int primary key, amount int)',
      'insert into moves values (1, -5), (2, 7), (3, -1)',
    ],
    { settings: { EXTENSIONS: file('negative-count.js') } },
  )
  t.match(await discover(world), { status: 'completed' })
  const base = `/api/v1/sdk/metrics/${world.asset.id}`
  const make = (metric_type: string) =>
    world.tenant.ask('POST', base, { metric_type, table_path: 'moves', column_name: 'amount' })
  const refused = await make('positive_count')
  t.equal(refused.status, 400)
  t.match(refused.body.error, { message: /metric_type must be one of .*\bnegative_count\b/ })
  const made = await make('negative_count')
  t.equal(made.status, 201)
  const captured = await world.tenant.ask('POST', `${base}/${made.body.data.id}/capture`)
  t.match(captured.body.data, { snapshots: [{ value: 2, status: 'PASS' }] })
})

t.test('a connector that was bundled with a copy of ours is understood all the same', async t => {
  // Another query is another copy of a module, as a bundler makes one.
  type Errors = typeof import('../../connectors/errors.ts')
  type Texts = typeof import('../../connectors/sql.ts')
  const copies = ['errors', 'sql'].map(name => import(`../../connectors/${name}.ts?copy`))
  const [theirs, texts] = (await Promise.all(copies)) as [Errors, Texts]
  t.not(theirs.ConnectorError, ConnectorError)
  const fields = { kind: 'credentials', engine: 'mine', message: 'check the password' } as const
  t.ok(new theirs.ConnectorError(fields) instanceof ConnectorError)
  t.ok(new ConnectorError(fields) instanceof theirs.ConnectorError)
  for (const thrown of [
    null,
    undefined,
    'x',
    new Error('x'),
    fields,
    { ...fields, name: 'ConnectorError' },
  ]) {
    t.notOk(thrown instanceof ConnectorError)
  }
  const [ours, other] = [sql`a = ${1}`, texts.sql`b = ${2}`]
  for (const joined of [sql`${other} and ${ours}`, texts.sql`${other} and ${ours}`]) {
    t.strictSame(
      joined.render(position => `$${position}`),
      { text: 'b = $1 and a = $2', values: [2, 1] },
    )
  }
  const forged = JSON.parse(JSON.stringify({ strings: ['drop table y'], values: [], name: 'Sql' })) as object
  t.strictSame(sql`select ${forged}`.values, [forged], 'never by its shape')

  const world = await makeWorld(t, [])
  const connector = { ...world.app.server.connectors.get('postgresql') }
  connector.connect = async () => {
    throw new theirs.ConnectorError(fields)
  }
  Object.assign(world.app.server.connectors, { get: () => connector })
  t.match(await discover(world), {
    status: 'failed',
    error: { code: 'credentials', message: 'check the password' },
  })
})

t.test('an extension that never ends its import or its register stops the start and is named', async t => {
  const waiting = t.testdir({
    'imports.js': `await new Promise(() => {})\n${plugin('')}`,
    'registers.js': `export const plugin = { name: 'mine', register: () => new Promise(() => {}) }`,
  })
  for (const [name, what] of [
    ['imports.js', 'its import'],
    ['registers.js', 'register'],
  ] as const) {
    const specifier = join(waiting, name)
    const config = readConfig({ DATABASE_URL, SECRET_KEY, EXTENSIONS: specifier, LOG_LEVEL: 'silent' })
    // Long enough for the extensions that are right, which are loaded first.
    const deadlines = { load: 3_000, register: 3_000 }
    const options = { config, ownerUrl: DATABASE_URL, secretKey: SECRET_KEY, log: watchedLog(t), deadlines }
    await t.rejects(build(options), {
      name: 'ExtensionError',
      message: new RegExp(`^Extension ${specifier} did not end ${what} within 3 s: `),
    })
  }
})
