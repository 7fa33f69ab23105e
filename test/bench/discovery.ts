/**
 * What a discovery costs, end to end, over the raw catalog queries by psql in the same run:
 * `npm run bench:discovery -- [rounds] [sizes]`, sizes as `tables x columns`: `250x33000,5000x100000`.
 *
 * Each round adds a source to a server and discovers it (everything is read, compared, written and committed), again
 * with nothing changed, and again after DDL on 1 % of its tables. The server runs in a process of its own, whose peak
 * of memory is printed. psql runs the plain queries that `bench:introspect` compares with, and throws the rows away; the
 * time in which it answers `select 1` is taken off. Medians are compared.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { v7 } from 'uuid'
import { discoverJob } from '../../plugins/catalog/discovery/jobs.ts'
import type { DiscoveryResult } from '../../plugins/catalog/discovery/record.ts'
import type { JobContext } from '../../server/jobs/jobs.ts'
import { Run } from '../../plugins/catalog/models.ts'
import { testCluster } from '../helpers/cluster.ts'
import { startServer } from '../helpers/server.ts'
import { startSource, type Source } from '../helpers/source.ts'
import { POSTGRESQL_PLAIN } from './introspect-engines.ts'
import { isTableRequested, median, printRows, withTeardown, positionalWords, type BenchRow } from './rows.ts'

const COLUMN_TYPES = ['integer', 'bigint', 'varchar(50)', 'decimal(12,2)', 'date', 'timestamp']
/** The most a discovery may take of psql's time; of the largest size only memory is limited. */
const MAX_FIRST = 3
const MAX_UNCHANGED = 1.5
const MAX_MEMORY_MB = 300
const COMPARED_TABLES = 250

interface Size {
  tables: number
  columns: number
}

/** What a round is asked for, and what it answers. */
type Ask = 'first' | 'unchanged' | 'changed'
interface Answer {
  ms: number
  tables: number
  columns: number
  changes: number
  peakMb: number
}

if (process.env.BENCH_DISCOVERY) await serve(JSON.parse(process.env.BENCH_DISCOVERY) as Source['config'])
else await main(Number(positionalWords[0] ?? 5), sizes(positionalWords[1] ?? '250x33000,5000x100000'))

function sizes(text: string): Size[] {
  return text.split(',').map(size => {
    const [tables = NaN, columns = NaN] = size.split('x').map(Number)
    return { tables, columns }
  })
}

/** The child: a server that discovers a source on request. */
async function serve(config: Source['config']): Promise<void> {
  const downs: (() => unknown)[] = []
  const app = await startServer({ teardown: down => downs.push(down) })
  const tenant = await app.signUp()
  let sourceId = ''
  let count = 0
  process.on('message', (ask: Ask | 'end') => {
    void (async () => {
      if (ask === 'end') {
        for (const down of downs.reverse()) await down()
        process.disconnect()
        return
      }
      if (ask === 'first') {
        const body = { name: `bench ${(count += 1)}`, source_type: 'postgresql', connection_config: config }
        sourceId = (await tenant.ask('POST', '/api/v1/sdk/assets', body)).body.data.id as string
      }
      const runId = v7()
      await app.server.db.company(tenant.companyId, async trx => {
        await Run.query(trx).insert({ id: runId, workflowName: 'discovery', sourceId, assetId: sourceId })
      })
      const startedAt = performance.now()
      const job = app.server.jobs.all().find(({ name }) => name === discoverJob.name)
      const context = { attempt: 1, signal: new AbortController().signal } as JobContext
      const found = await job?.work({ company_id: tenant.companyId, run_id: runId }, context)
      const ms = performance.now() - startedAt
      if (!isResult(found)) throw new Error('The discovery failed')
      const { table_count: tables, column_count: columns, changes_detected: changes } = found
      process.send?.({ ms, tables, columns, changes, peakMb: process.resourceUsage().maxRSS / 1024 })
    })()
  })
  process.send?.('ready')
}

function isResult(output: object | void): output is DiscoveryResult {
  return output !== undefined && 'table_count' in output
}

async function main(rounds: number, all: readonly Size[]): Promise<void> {
  process.env.TEST_CLUSTER = JSON.stringify(await testCluster())
  let isMet = true
  const tableRows: BenchRow[] = []
  for (const size of all) {
    await withTeardown(async t => {
      const source = await startSource(t)
      await build(source, size)
      isMet = (await measure(source, size, rounds, tableRows)) && isMet
    })
  }
  printRows(tableRows)
  process.exitCode = isMet || isTableRequested ? 0 : 1
}

async function build(source: Source, { tables, columns }: Size): Promise<void> {
  for (let table = 0; table < tables; table += 1) {
    const plain = Array.from(
      { length: columns / tables - 3 },
      (_, index) => `c${index} ${COLUMN_TYPES[index % COLUMN_TYPES.length]}`,
    )
    const named = ['id integer not null', "code varchar(20) default 'none'", 'parent integer', ...plain]
    const keys = ['primary key (id)', `constraint u${table} unique (code)`]
    if (table > 0) keys.push(`constraint f${table} foreign key (parent) references t${table - 1} (id)`)
    await source.query(`create table t${table} (${[...named, ...keys].join(', ')})`)
  }
  await source.query('vacuum analyze')
}

async function measure(source: Source, size: Size, rounds: number, tableRows: BenchRow[]): Promise<boolean> {
  const child = fork(import.meta.filename, {
    // As `npm start`: with less room, the process collects its garbage earlier.
    execArgv: ['--max-old-space-size=1024', '--max-semi-space-size=8'],
    env: { ...process.env, BENCH_DISCOVERY: JSON.stringify(source.config) },
  })
  await once(child, 'message')
  const times: Record<Ask | 'psql' | 'idle', number[]> = {
    first: [],
    unchanged: [],
    changed: [],
    psql: [],
    idle: [],
  }
  let last: Answer | undefined
  for (let round = 0; round < rounds; round += 1) {
    for (const ask of ['first', 'unchanged', 'changed'] as const) {
      if (ask === 'changed') await change(source, size, round)
      last = await answer(child, ask)
      times[ask].push(last.ms)
      const isRight = ask === 'changed' ? last.changes > 0 : last.changes === 0
      if (!isRight || last.tables !== size.tables) throw new Error(`${ask}: ${JSON.stringify(last)}`)
    }
    times.psql.push(await psql(source, POSTGRESQL_PLAIN))
    times.idle.push(await psql(source, ['select 1']))
  }
  child.send('end')
  await once(child, 'exit')
  const peakMb = last?.peakMb ?? NaN
  tableRows.push(...rowsOf(size, times, peakMb))
  return report(size, times, peakMb)
}

function rowsOf(
  { tables, columns }: Size,
  times: Record<Ask | 'psql' | 'idle', number[]>,
  peakMb: number,
): BenchRow[] {
  const hand = median(times.psql) - median(times.idle)
  const what = `discovery of ${columns.toLocaleString('en')} columns in ${tables.toLocaleString('en')} tables`
  const row = (ask: Ask, when: string, most?: number): BenchRow => ({
    what: `${what}, ${when}`,
    ours: median(times[ask]),
    ...(Number.isFinite(hand) && { hand, ...(most !== undefined && { bar: { most } }) }),
    unit: 'ms',
  })
  return [
    row('first', 'the first one', MAX_FIRST),
    row('unchanged', 'nothing changed', MAX_UNCHANGED),
    row('changed', '1 % changed'),
    { what: `${what}, memory`, ours: peakMb, unit: 'MB', bar: { most: MAX_MEMORY_MB } },
  ]
}

function report(size: Size, times: Record<Ask | 'psql' | 'idle', number[]>, peakMb: number): boolean {
  const theirs = median(times.psql) - median(times.idle)
  const row = (ms: number) => ({ ms: Math.round(ms), ratio: Number((ms / theirs).toFixed(2)) })
  console.log(`${size.tables} tables, ${size.columns} columns; medians of ${times.psql.length}`)
  console.table({
    'first discovery': row(median(times.first)),
    'again, nothing changed': row(median(times.unchanged)),
    'again, 1 % changed': row(median(times.changed)),
    'psql, raw catalog queries': row(theirs),
  })
  if (Number.isNaN(theirs)) console.log('psql is not installed, so there is nothing to compare with')
  const isFast =
    size.tables !== COMPARED_TABLES ||
    Number.isNaN(theirs) ||
    (median(times.first) <= MAX_FIRST * theirs && median(times.unchanged) <= MAX_UNCHANGED * theirs)
  const isMet = isFast && peakMb <= MAX_MEMORY_MB
  console.log(
    `${isMet ? 'met' : 'NOT MET'}: ${Math.round(peakMb)} MB at most (${MAX_MEMORY_MB} allowed)` +
      (size.tables === COMPARED_TABLES
        ? `, first ${MAX_FIRST}, unchanged ${MAX_UNCHANGED} times psql\n`
        : '\n'),
  )
  return isMet
}

/** DDL on 1 % of the tables, other in each round. */
async function change(source: Source, { tables }: Size, round: number): Promise<void> {
  const count = Math.max(1, Math.round(tables / 100))
  for (let index = 0; index < count; index += 1) {
    const table = `t${(index * 100 + round) % tables}`
    const steps = [
      `add column added_${round} integer`,
      `alter column c0 type ${round % 2 === 0 ? 'bigint' : 'integer'}`,
      `alter column code set default 'round ${round}'`,
    ]
    const step = steps[index % 3] ?? ''
    await source.query(`alter table ${table} ${step}`)
  }
}

async function answer(child: ChildProcess, ask: Ask): Promise<Answer> {
  const ended = new AbortController()
  const { signal } = ended
  const answered = once(child, 'message', { signal }) as Promise<[Answer]>
  const died = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the server ended with ${code}`)
  })
  child.send(ask)
  const [given] = await Promise.race([answered, died])
  died.catch(() => {})
  ended.abort()
  return given
}

async function psql({ config }: Source, queries: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = spawn('psql', ['-X', '-A', '-t', ...queries.flatMap(text => ['-c', text])], {
    env: {
      ...process.env,
      PGHOST: config.host,
      PGPORT: String(config.port),
      PGDATABASE: config.database,
      PGUSER: config.username,
      PGPASSWORD: config.password,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const [code] = await ended.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [NaN]
    throw error
  })
  if (Number.isNaN(code)) return NaN
  if (code !== 0) throw new Error(`psql ended with ${code}`)
  return performance.now() - startedAt
}
