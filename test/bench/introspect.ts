/**
 * What reading a whole catalog costs over the raw catalog queries of the engine's own client:
 * `node test/bench/introspect.ts [rounds] [engine] [sizes]`.
 *
 * By default two databases of each engine: 250 tables with 33,000 columns, and 5,000 tables with 100,000
 * (`250x33000,5000x100000`), each table with a primary key, a unique constraint and a foreign key. `introspect` runs in a process of its own, whose peak of
 * memory is printed; the client runs plain queries of the catalog that ask for the same facts, as a person would
 * write them, and throws the rows away. Both take turns, medians are compared, and the time in which the client
 * answers `select 1` is taken off its own.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import type { ConnectOptions } from '../../connectors/connector.ts'
import { engines, type BenchDatabase } from './introspect-engines.ts'
import { isTableRequested, median, printRows, withTeardown, positionalWords, type BenchRow } from './rows.ts'

const COLUMN_TYPES = ['integer', 'bigint', 'varchar(50)', 'decimal(12,2)', 'date', 'timestamp null']
const SIZES = (positionalWords[2] ?? '250x33000,5000x100000').split(',').map(size => {
  const [tables = NaN, columns = NaN] = size.split('x').map(Number)
  return { tables, columns }
})
const MAX_RATIO = 2
const MAX_MEMORY_MB = 300

const run = promisify(execFile)
const options: ConnectOptions = {
  egress: {
    address: host => Promise.resolve(host),
    file: path => Promise.resolve(path),
    folder: path => Promise.resolve(path),
  },
  log: { debug() {}, warn() {} },
}

/** What one process measured. */
interface Measured {
  ms: number
  peakMb: number
  grownMb: number
  tables: number
  columns: number
  constraints: number
}

if (process.env.BENCH_INTROSPECT) await measureHere(JSON.parse(process.env.BENCH_INTROSPECT) as Job)
else await main(Number(positionalWords[0] ?? 7), positionalWords[1])

interface Job {
  engine: string
  config: Record<string, unknown>
}

/** The child: reads the catalog once and says how long it took and how much memory there was at most. */
async function measureHere({ engine, config }: Job): Promise<void> {
  const entry = engines.find(({ name }) => name === engine)
  if (!entry) throw new Error(`No engine ${engine}`)
  const { connector } = entry
  const connection = await connector.connect(connector.config.validate(config).value, options)
  await connection.introspect({ tables: [] })
  const before = process.memoryUsage.rss()
  const startedAt = performance.now()
  const tables = await connection.introspect()
  const ms = performance.now() - startedAt
  const peak = process.resourceUsage().maxRSS * 1024
  await connection.close()
  const count = (of: 'columns' | 'constraints') => tables.reduce((sum, table) => sum + table[of].length, 0)
  const measured: Measured = {
    ms,
    peakMb: megabytes(peak),
    grownMb: megabytes(peak - before),
    tables: tables.length,
    columns: count('columns'),
    constraints: count('constraints'),
  }
  console.log(JSON.stringify(measured))
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}

async function main(rounds: number, only: string | undefined): Promise<void> {
  let isMet = true
  const tableRows: BenchRow[] = []
  for (const { name, start } of engines) {
    if (only !== undefined && only !== name) continue
    for (const size of SIZES) {
      await withTeardown(async t => {
        const database = await start(t)
        if (typeof database === 'string') return console.log(`${name}: skipped, ${database}`)
        await build(database, size.tables, size.columns / size.tables)
        isMet = (await compare(name, database, rounds, tableRows)) && isMet
      })
    }
  }
  printRows(tableRows)
  process.exitCode = isMet || isTableRequested ? 0 : 1
}

async function build(database: BenchDatabase, tables: number, columns: number): Promise<void> {
  const batch: string[] = []
  for (let table = 0; table < tables; table += 1) {
    const plain = Array.from(
      { length: columns - 3 },
      (_, index) => `c${index} ${COLUMN_TYPES[index % COLUMN_TYPES.length]}`,
    )
    const named = ['id integer not null', "code varchar(20) default 'none'", 'parent integer', ...plain]
    const keys = ['primary key (id)', `constraint u${table} unique (code)`]
    if (table > 0) keys.push(`constraint f${table} foreign key (parent) references t${table - 1} (id)`)
    batch.push(`create table t${table} (${[...named, ...keys].join(', ')})`)
    if (batch.length === 50 || table === tables - 1) await database.execute(batch.splice(0))
  }
}

async function compare(
  name: string,
  database: BenchDatabase,
  rounds: number,
  tableRows: BenchRow[],
): Promise<boolean> {
  const ours: Measured[] = []
  const times: Record<'theirs' | 'same' | 'idle', number[]> = { theirs: [], same: [], idle: [] }
  const timed = async (queries: readonly string[]) => {
    const { command, args, env } = database.client(queries)
    const startedAt = performance.now()
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0) throw new Error(`${command} ended with ${code}`)
    return performance.now() - startedAt
  }
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await inChild({ engine: name, config: database.config }))
    times.theirs.push(await timed(database.plain))
    times.same.push(await timed(database.same))
    times.idle.push(await timed(['select 1']))
  }
  const idle = median(times.idle)
  const [own, theirs, same] = [
    median(ours.map(({ ms }) => ms)),
    median(times.theirs) - idle,
    median(times.same) - idle,
  ]
  const peakMb = Math.max(...ours.map(measured => measured.peakMb))
  const [{ tables, columns, constraints }] = ours as [Measured]
  console.log(
    `${name}: ${tables} tables, ${columns} columns, ${constraints} constraints; medians of ${rounds}`,
  )
  console.table({
    introspect: { ms: Math.round(own), ratio: 1 },
    'client, plain queries': { ms: Math.round(theirs), ratio: Number((own / theirs).toFixed(2)) },
    'client, our queries': { ms: Math.round(same), ratio: Number((own / same).toFixed(2)) },
  })
  const grown = Math.max(...ours.map(measured => measured.grownMb))
  console.log(`memory: ${peakMb} MB at most, of which ${grown} MB came with the introspection`)
  const what = `${name}: catalog of ${columns.toLocaleString('en')} columns in ${tables.toLocaleString('en')} tables`
  tableRows.push({ what, ours: own, hand: theirs, unit: 'ms', bar: { most: MAX_RATIO } })
  const isMet = own / theirs <= MAX_RATIO && peakMb < MAX_MEMORY_MB
  console.log(
    `${isMet ? 'met' : 'NOT MET'}: at most ${MAX_RATIO} times the client, below ${MAX_MEMORY_MB} MB\n`,
  )
  return isMet
}

async function inChild(job: Job): Promise<Measured> {
  const env = { ...process.env, BENCH_INTROSPECT: JSON.stringify(job) }
  const { stdout } = await run(process.execPath, [import.meta.filename], { env })
  return JSON.parse(stdout) as Measured
}
