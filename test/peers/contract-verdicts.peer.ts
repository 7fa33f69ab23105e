/**
 * Holds the verdicts on data contracts to those of datacontract-cli, on the same tables in the same states.
 *
 *     node test/run.ts --timeout=1500 test/peers/contract-verdicts.peer.ts
 *
 * It needs Python 3 and a package index. The tool has no telemetry.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import pg from 'pg'
import t from 'tap'
import { startStockPostgres } from '../helpers/stock-postgres.ts'
import { startServer } from '../helpers/server.ts'
import { discover } from '../helpers/world.ts'
import { contract } from '../plugins/contracts/enforcement/contracts.ts'
import { CASES, type PromiseCase } from './contracts/cases.ts'
import { STATES, TABLES } from './imports/cases.ts'
import { pythonWith } from './python.ts'

const PACKAGE = 'datacontract-cli[postgres]==1.2.8'
const DATABASE = 'postgres'

/** Verdicts that differ, each with the reason why ours stays. */
const KNOWN: Record<string, string> = {
  '{"name":"total","logicalType":"integer"}': 'numeric(10,2) holds fractions, so a reader of integers breaks',
  '{"name":"status","physicalType":"varchar"}':
    'text and varchar without a length are stored and compared alike',
  '{"name":"created_at","physicalType":"timestamp"}':
    'a time zone changes what the values mean; they compare the kind of type only',
}

const cluster = await startStockPostgres()
const owner = new pg.Client({ ...cluster, database: DATABASE })
await owner.connect()
t.teardown(() => owner.end())
for (const statement of TABLES) await owner.query(statement)
await owner.query(`create role reader login password 'reader' in role pg_read_all_data`)

const app = await startServer(t)
const tenant = await app.signUp()
const { host, port } = cluster
const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
  ...{ name: 'shop', source_type: 'postgresql' },
  connection_config: {
    ...{ host, port, username: 'reader', password: 'reader', database: DATABASE, sslmode: 'prefer' },
  },
})
await discover({ app, tenant, asset: made.body.data as { id: string } })

const child = spawn(
  await pythonWith([PACKAGE]),
  ['-W', 'ignore', `${import.meta.dirname}/contracts/verdicts.py`],
  {
    env: {
      ...{ PATH: process.env.PATH, HOME: '/nonexistent', PYTHONDONTWRITEBYTECODE: '1' },
      ...{ DATACONTRACT_POSTGRES_USERNAME: 'reader', DATACONTRACT_POSTGRES_PASSWORD: 'reader' },
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  },
)
t.teardown(() => child.stdin.end())
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()

interface Answer {
  result: string
  checks: { type: string; name: string; result: string; reason: string | null }[]
}

async function theirVerdict(text: string): Promise<Answer> {
  child.stdin.write(`${JSON.stringify(text)}\n`)
  const { value, done } = await lines.next()
  if (done) throw new Error('datacontract-cli has ended')
  return JSON.parse(String(value)) as Answer
}

/** `not enforced` when a part of the promise is not, and nothing fails. */
async function ourVerdict(text: string): Promise<{ verdict: string; why: string }> {
  const asked = { source: 'shop', text, extraColumns: 'allow' as const }
  const { clauses } = (await app.server.plugins.contracts.test(
    tenant.companyId,
    asked,
    new AbortController().signal,
  )) as { clauses: { status: string; reason: string | null }[] }
  const worst = ['failing', 'pending', 'not_enforced', 'passing'].find(status =>
    clauses.some(clause => clause.status === status),
  )
  const why = clauses.flatMap(({ status, reason }) => (status === worst && reason ? [reason] : [])).join('; ')
  const words: Record<string, string> = { failing: 'fail', not_enforced: 'not enforced', passing: 'pass' }
  return { verdict: words[worst ?? ''] ?? `error: ${why}`, why }
}

function textOf(promised: PromiseCase): string {
  const properties = ['id', 'status'].map(name => ({ name }))
  return JSON.stringify(
    contract({
      servers: [{ server: 'shop', type: 'postgres', host, port, database: DATABASE, schema: 'public' }],
      schema: [
        'property' in promised
          ? { name: 'orders', properties: [promised.property] }
          : { name: 'orders', properties, quality: [promised.quality] },
        { name: 'customers', properties: [{ name: 'id' }] },
      ],
    }),
  )
}

t.test('promises of contracts have the same verdicts', async t => {
  const counts = { equal: 0, known: 0, different: 0, notEnforced: 0, theirErrors: 0, failing: 0 }
  const different: string[] = []
  const known = new Map<string, string>()
  for (const [state, statements] of Object.entries(STATES)) {
    await owner.query('truncate orders')
    for (const statement of statements) await owner.query(statement)
    for (const promised of CASES) {
      const name = `${JSON.stringify(promised)} ${state}`
      const text = textOf(promised)
      const { result, checks } = await theirVerdict(text)
      const { verdict: ours, why } = await ourVerdict(text)
      const theirs = { passed: 'pass', failed: 'fail' }[result] ?? result
      if (theirs === 'fail') counts.failing++
      if (ours === theirs) counts.equal++
      else if (ours === 'not enforced') counts.notEnforced++
      else if (!['pass', 'fail'].includes(theirs)) counts.theirErrors++
      else if ('property' in promised && KNOWN[JSON.stringify(promised.property)]) {
        counts.known++
        known.set(JSON.stringify(promised.property), `ours ${ours}, theirs ${theirs}`)
      } else {
        counts.different++
        const odd = checks.filter(check => check.result !== 'passed')
        different.push(`${name}: ours ${ours} (${why}), theirs ${theirs} ${JSON.stringify(odd)}`)
      }
    }
  }
  t.comment(`${CASES.length} promises in ${Object.keys(STATES).length} states: ${JSON.stringify(counts)}`)
  for (const [promised, verdicts] of known) t.comment(`${promised}: ${verdicts}: ${KNOWN[promised]}`)
  t.strictSame(different, [])
  t.strictSame([...known.keys()].sort(), Object.keys(KNOWN).sort(), 'what is known still differs')
  t.ok(counts.failing > 20, 'the states hold good and bad tables')
})
