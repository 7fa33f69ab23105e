/**
 * The mistakes that teams made when they wrote their first extension, each made for real: an extension in a folder of its
 * own, started as the service starts it. Each answer names the extension, what is wrong, and what to do.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { API_VERSION } from '../../../connectors/api-version.ts'
import { build } from '../../../server/build.ts'
import { readConfig } from '../../../server/settings/config.ts'
import { makeLog } from '../../../server/telemetry/log.ts'
import { version } from '../../../server/version.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
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
  const deadlines = { register: 3_000 }
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
