import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { build } from '../../server/build.ts'
import { readConfig } from '../../server/config.ts'
import { SECRET_KEY } from '../helpers/server.ts'
import { discover, makeWorld } from '../helpers/world.ts'

/** Nobody listens there: a wrong extension stops the start before the database is asked for anything. */
const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/nowhere'

function start(extensions: string) {
  const config = readConfig({ DATABASE_URL, SECRET_KEY, EXTENSIONS: extensions, LOG_LEVEL: 'silent' })
  return build({ config, ownerUrl: DATABASE_URL, secretKey: SECRET_KEY, log: pino({ level: 'silent' }) })
}

const plugin = (register: string) =>
  `export const plugin = { name: 'mine', register(server) { ${register} } }`

const folder = t.testdir({
  'misses.js': `import 'a-package-that-nobody-has'`,
  'throws.js': `throw new Error('the licence has run out')`,
  'bare.js': `export const connector = { name: 'mine' }`,
  'unregistered.js': `export default { name: 'mine' }`,
  'same-connector.js': plugin(`server.connectors.add(server.connectors.get('sqlite'))`),
  'same-check.js': plugin(`server.checks.add(server.checks.get('REGEX'))`),
  'same-job.js': `import Joi from 'joi'
    ${plugin(`server.jobs.add({ name: 'catalog.discover', data: Joi.object({}), work: async () => {} })`)}`,
  'same-plugin.js': `export const plugin = { name: 'catalog', register() {} }`,
  'malformed.js': plugin(`server.checks.add({ name: 'has spaces', family: 'metric' })`),
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
  await t.rejects(start('a-package-that-nobody-has'), {
    message:
      'Extension a-package-that-nobody-has is not installed: run npm install a-package-that-nobody-has, or correct EXTENSIONS',
  })
  for (const specifier of ['./no/such/file.js', file('no-such-file.js')]) {
    await t.rejects(start(specifier), {
      message: `Extension ${specifier} is not there: correct the path in EXTENSIONS`,
    })
  }
})

t.test('an extension whose own import is missing is told apart from one that is missing', async t => {
  await t.rejects(start(file('misses.js')), {
    message: /misses\.js threw while it was loaded: .*a-package-that-nobody-has/,
  })
})

t.test('an extension that throws stops the start with what it said', async t => {
  await t.rejects(start(file('throws.js')), {
    message: `Extension ${file('throws.js')} threw while it was loaded: the licence has run out`,
  })
})

t.test('a module that is no hapi plugin stops the start and says what to export', async t => {
  for (const name of ['bare.js', 'unregistered.js']) {
    await t.rejects(start(file(name)), {
      message: `Extension ${file(name)} exports no hapi plugin: export { plugin: { name, register(server) } }`,
    })
  }
})

t.test('a name that is taken, or a malformed item, stops the start and names it', async t => {
  for (const [name, problem] of [
    ['same-connector.js', 'Cannot add connector "sqlite": the name is taken'],
    ['same-check.js', 'Cannot add check type "REGEX": the name is taken'],
    ['same-job.js', 'Cannot add job "catalog.discover": the name is taken'],
    ['same-plugin.js', 'Plugin catalog already registered'],
    ['malformed.js', 'Cannot add check type "has spaces": "name" with value "has spaces" fails'],
  ] as const) {
    const { message } = await start(file(name)).then(
      () => new Error('it started'),
      (error: Error) => error,
    )
    t.ok(message.startsWith(`Extension ${file(name)} could not be added: ${problem}`), message)
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
  t.match(refused.body.error, { message: /metric_type: must be one of .*\bnegative_count\b/ })
  const made = await make('negative_count')
  t.equal(made.status, 201)
  const captured = await world.tenant.ask('POST', `${base}/${made.body.data.id}/capture`)
  t.match(captured.body.data, { snapshots: [{ value: 2, status: 'PASS' }] })
})
