/**
 * Holds the snowflake engine to the kit and to every built-in check against fakesnow, which others wrote:
 * `tap test/peers/snowflake.peer.ts`. fakesnow speaks the protocol of Snowflake's drivers; what stands before it
 * here says the same in the shapes of the SQL API. So this shows that others read our SQL as we mean it.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { conformanceTable, testConnector } from '../../connectors/conformance.ts'
import { makeSnowflake } from '../../connectors/snowflake/index.ts'
import type { SnowflakeColumn } from '../../connectors/snowflake/values.ts'
import { sql } from '../../connectors/sql.ts'
import { createTestDatabase, testBuiltIns } from '../../checks/conformance.ts'
import { tokenize } from '../helpers/snowflake/tokens.ts'
import { startService, type Answer, type Exchange } from '../helpers/warehouse.ts'
import { pythonWith } from './python.ts'

const PACKAGES = ['fakesnow==0.12.1', 'snowflake-connector-python==3.18.1']
const HOST = 'peer-fakesnow.snowflakecomputing.com'

interface Failure {
  code: string
  sqlState?: string
  message: string
}

type Reply = { columns: SnowflakeColumn[]; rows: (string | null)[][] } | Failure

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** fakesnow in a process of its own, which runs one statement after the other. */
async function startFakesnow(t: Teardown) {
  const python = await pythonWith(PACKAGES)
  const child = spawn(python, ['-W', 'ignore', join(import.meta.dirname, 'snowflake-bridge.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting: ((reply: Reply) => void)[] = []
  createInterface({ input: child.stdout }).on('line', line => waiting.shift()?.(JSON.parse(line) as Reply))
  child.on('exit', code => {
    for (const resolve of waiting.splice(0))
      resolve({ code: '300000', message: `fakesnow ended with ${code}` })
  })
  t.teardown(async () => {
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.stdin.end()
    await ended
  })
  return (request: object) =>
    new Promise<Reply>(resolve => {
      waiting.push(resolve)
      child.stdin.write(`${JSON.stringify(request)}\n`)
    })
}

/** The SQL API before fakesnow. Whether requests are right is shown elsewhere: here all are taken. */
async function startPeer(t: Teardown) {
  const ask = await startFakesnow(t)
  const replies = new Map<string, Promise<Reply>>()
  const cancels = new Map<string, (reply: Reply) => void>()
  let count = 0

  function run(id: string, body: { statement: string; bindings?: object }): Promise<Reply> {
    count += 1
    const text = body.statement
    if (text.startsWith('select current_warehouse()'))
      return Promise.resolve({
        columns: ['warehouse', 'database', 'schema'].map(name => ({ name, type: 'text' })),
        rows: [['FAKE', 'SHOP', 'PUBLIC']],
      })
    const { promise, resolve } = Promise.withResolvers<Reply>()
    cancels.set(id, resolve)
    if (/^select system\$wait/.test(text)) return promise
    const signs = tokenize(text).findIndex(token => token.kind === 'sign' && token.text === ';')
    if (signs !== -1) return Promise.resolve({ code: '000008', message: 'Actual statement count 2' })
    return ask(body)
  }

  async function answer({ method, path, body }: Exchange): Promise<Answer> {
    if (path === '/api/v2/statements') {
      const id = randomUUID()
      replies.set(
        id,
        Promise.resolve().then(() => run(id, body as { statement: string })),
      )
      return { status: 202, body: { statementHandle: id } }
    }
    const id = path.split('/')[4] ?? ''
    if (method === 'POST') {
      cancels.get(id)?.({ code: '000604', sqlState: '57014', message: 'SQL execution canceled' })
      return { body: { statementHandle: id } }
    }
    const pending = new Promise<null>(resolve => setTimeout(() => resolve(null), 200))
    const reply = await Promise.race([replies.get(id) ?? null, pending])
    if (!reply) return { status: 202, body: { statementHandle: id } }
    if ('code' in reply) return { status: 422, body: reply }
    const resultSetMetaData = { rowType: reply.columns, partitionInfo: [{}] }
    return { body: { statementHandle: id, resultSetMetaData, data: reply.rows } }
  }

  const service = await startService(t, [HOST], answer)
  return {
    connector: makeSnowflake({ port: service.port }),
    config: {
      account: 'peer-fakesnow',
      warehouse: 'FAKE',
      database: 'SHOP',
      // Its SHOW … KEYS knows schemas only.
      schema: 'PUBLIC',
      username: 'peer',
      password: 'a token',
    },
    egress: {
      address: async () => '127.0.0.1',
      file: (path: string) => Promise.resolve(path),
      folder: (path: string) => Promise.resolve(path),
    },
    async execute(statement: string) {
      const reply = await ask({ statement })
      if ('code' in reply) throw new Error(`${reply.code} ${reply.message}`)
    },
    statements: () => count,
  }
}

const SKIPPED_GROUPS: Record<string, string> = {
  introspection: 'its information_schema.tables lists no views',
  'partial catalogs': 'it cannot end a statement: what is given up runs on',
  constraints: 'its SHOW IMPORTED KEYS names neither the table nor the columns of a key of several',
  comments: 'it writes a comment with a quote into a text of its own as it is',
  estimates: 'its information_schema.tables lists no views, which the group looks for',
  lastModified: 'it returns the same time for all tables',
  seconds: 'its datediff cuts seconds towards zero, and fails on dates before 1970',
  timeout: 'it cannot end a statement: what waits here is what stands before it',
  cancel: 'it cannot end a statement: what waits here is what stands before it',
}

/** It writes a name into a text of its own as it is, and knows no case. */
const REFUSED_NAMES = ['quotes', 'case twin'] as const

t.test('it conforms, as far as fakesnow goes', async t => {
  const { connector, config, egress, execute, statements } = await startPeer(t)
  const result = await testConnector(t, {
    connector,
    config,
    egress,
    skip: SKIPPED_GROUPS,
    setup: () => ({
      execute,
      catalog: 'SHOP',
      schema: 'PUBLIC',
      types: { binary: 'binary', timestamp: 'timestamp_ntz', timestamptz: 'timestamp_tz', json: 'variant' },
      literals: {
        binary: `to_binary('00ff10', 'HEX')`,
        json: `parse_json('{"a": [1, "x", null], "b": {}}')`,
      },
      refused: [],
      refusesNames: REFUSED_NAMES,
      slow: sql`select system$wait(60)`,
      countStatements: statements,
      analyze: () => [],
    }),
  })
  for (const line of conformanceTable({ fakesnow: result }).split('\n')) t.comment(line)
})

t.test('every check gives the same numbers on fakesnow', async t => {
  const { connector, config, egress, execute } = await startPeer(t)
  const log = { debug() {}, warn() {} }
  const connection = await connector.connect(config, { egress, log })
  t.teardown(() => connection.close())
  const on = createTestDatabase({
    connector,
    connection,
    execute,
    tableRef: name => ({ catalog: 'SHOP', schema: 'PUBLIC', name }),
    foldName: name => name.toUpperCase(),
    columnTypes: {
      integer: 'number(38,0)',
      decimal: 'number(38,2)',
      float: 'float',
      text: 'varchar',
      timestamp: 'timestamp_ntz',
      json: 'variant',
    },
  })
  await testBuiltIns(t, { database: on })
})
