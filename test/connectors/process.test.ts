import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Joi from 'joi'
import t from 'tap'
import type { ConnectOptions } from '../../connectors/connector.ts'
import { defineDialect } from '../../connectors/dialect.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { fromProcess } from '../../connectors/process/from-process.ts'
import { sql } from '../../connectors/sql.ts'

/** A program that does what the statement says; without one of these words it answers as it should. */
const PROGRAM = `
import { createInterface } from 'node:readline'
import { spawn } from 'node:child_process'
const say = answer => process.stdout.write((typeof answer === 'string' ? answer : JSON.stringify(answer)) + '\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const { text = '', values = [] } = params
  const row = (...row) => say({ id, result: { columns: row.map((_, i) => 'c' + i), rows: [row] } })
  if (method === 'connect' && params.config.fault === 'silent') continue
  if (method === 'connect' && params.config.fault === 'refuses')
    say({ id, error: { kind: 'credentials', code: 'E1', message: 'x', hint: 'The password is wrong: check it.' } })
  else if (method === 'introspect') say({ id, result: params.tables ? { tables: 7 } : { tables: [] } })
  else if (text === 'hang') continue
  else if (text === 'child') {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    row(child.pid)
  } else if (text === 'exit') process.exit(3)
  else if (text === 'noise') say('starting up …')
  else if (text === 'wrong id') say({ id: 99, result: {} })
  else if (text === 'nothing') say({ id })
  else if (text === 'no rows') say({ id, result: { columns: ['a'] } })
  else if (text === 'short row') say({ id, result: { columns: ['a', 'b'], rows: [[1]] } })
  else if (text === 'wrong value') say({ id, result: { columns: ['a'], rows: [[{ $date: 'secret' }]] } })
  else if (text === 'too large') say({ id, result: { columns: ['a'], rows: [['x'.repeat(40_000_000)]] } })
  else if (text === 'quotes') say({ id, error: { kind: 'invalid-query', code: 'E2', message: 'bad value secret', fault: 'value' } })
  else if (text === 'odd kind') say({ id, error: { kind: 'egress-refused', message: 'secret' } })
  else if (text === 'environment') row(...Object.keys(process.env).sort())
  else if (text === 'memory') row(Buffer.alloc(3_000_000_000, 1).length)
  else row(...values, process.pid)
}
`
const folder = t.testdir({ 'program.mjs': PROGRAM })

const options: ConnectOptions = {
  egress: {
    address: () => Promise.reject(new Error('not asked')),
    file: path => Promise.resolve(path),
    folder: path => Promise.resolve(path),
  },
  log: { debug: () => {}, warn: () => {} },
}

const make = (command: [string, ...string[]] = [process.execPath, join(folder, 'program.mjs')]) =>
  fromProcess<{ fault?: string }>({
    name: 'acme',
    label: 'Acme',
    config: Joi.object({ fault: Joi.string() }),
    dialect: defineDialect({}),
    capabilities: { cancel: true },
    command,
    reach: config => Promise.resolve(config),
  })

async function open(t: { teardown(down: () => unknown): unknown }) {
  const connection = await make().connect({}, options)
  t.teardown(() => connection.close())
  return {
    connection,
    ask: (text: string, timeoutMs = 10_000) => connection.query(sql([text] as never), { timeoutMs }),
  }
}

const failure = (doing: Promise<unknown>) =>
  doing.then(
    () => t.fail('it was not rejected'),
    (error: unknown) => error,
  ) as Promise<ConnectorError>

const isAlive = (pid: unknown) => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z')
}

t.test('values cross as they are', async t => {
  const { connection } = await open(t)
  const moment = new Date('2024-02-29T12:34:56.789Z')
  const bytes = new Uint8Array([0, 255])
  const given = ['te\nxt', 1.5, true, null, Number.NaN, Number.NEGATIVE_INFINITY, moment, bytes]
  const values = given.map(value => sql`${value}`).reduce((all, each) => sql`${all}, ${each}`)
  const [row = {}] = await connection.query(values, { timeoutMs: 10_000 })
  t.same(Object.values(row).slice(0, -1), given)
})

t.test('a program that makes mistakes is blamed in a sentence, and its words are not shown', async t => {
  for (const [text, kind, message] of [
    [
      'noise',
      'other',
      'An answer is wrong: a line on stdout is no JSON; write nothing else there: correct the program of the connector',
    ],
    ['wrong id', 'other', /it must have the id of the request/],
    ['nothing', 'other', /it must have a result or an error/],
    ['exit', 'other', /The program of the connector acme ended \(3\)/],
    ['no rows', 'other', /wrong answer to query: rows must be an array of arrays/],
    ['short row', 'other', /rows\[0\] must have a value for each of the columns/],
    ['wrong value', 'other', /rows\[0\]\[0\]: it must be null, a text/],
    ['too large', 'invalid-query', /returns more than 32 MB/],
    ['quotes', 'invalid-query', /./],
    ['odd kind', 'other', /./],
  ] as const) {
    const { ask } = await open(t)
    const error = await failure(ask(text))
    t.ok(error instanceof ConnectorError, text)
    t.match(error, { kind, message, engine: 'acme' }, text)
    t.notMatch(error.message, /secret/, text)
    t.equal((await ask('again')).length, 1, 'the session goes on')
  }
})

t.test('a wrong catalog, a refusal and a program that is not there are sentences', async t => {
  const { connection } = await open(t)
  const tables = [{ catalog: 'a', schema: 'b', name: 'c' }]
  t.match(await failure(connection.introspect({ tables })), { message: /wrong answer to introspect/ })
  t.same(await connection.introspect(), [])
  t.match(await failure(make().connect({ fault: 'refuses' }, options)), {
    kind: 'credentials',
    message: 'The password is wrong: check it.',
  })
  const silent = make().connect({ fault: 'silent' }, { ...options, connectTimeoutMs: 500 })
  t.match(await failure(silent), { kind: 'timeout' })
  t.match(await failure(make(['no-such-program-4711']).connect({}, options)), {
    message: /check command of the connector/,
  })
})

t.test('a statement that hangs is ended with whatever its program started', async t => {
  const { ask } = await open(t)
  const pids = [await ask('child'), await ask('pid')].map(([row]) => Object.values(row ?? {})[0])
  for (const pid of pids) t.ok(isAlive(pid))
  t.match(await failure(ask('hang', 200)), { kind: 'timeout' })
  while (pids.some(isAlive)) await wait(50)
  t.equal((await ask('again')).length, 1, 'the next statement has another process')
})

t.test('a program gets nothing of the environment of the service', async t => {
  const { ask } = await open(t)
  const [row = {}] = await ask('environment')
  t.same(
    Object.values(row).filter(
      name => !['PWD', 'OLDPWD', 'SHLVL', '_', '__CF_USER_TEXT_ENCODING'].includes(String(name)),
    ),
    ['LANG', 'PATH'],
  )
})
