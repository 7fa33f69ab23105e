import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { startCallers, type Call } from './callers.ts'
import { tally, type Tally } from './ledger.ts'
import type { Member } from './member.ts'
import { setStage, type Play, type Stage } from './stage.ts'

/** Minutes that it takes, and those at the beginning that are not judged. */
const SOAK_MINUTES = 30
const WARM_UP_MINUTES = 5
const SHORT_SOAK_MINUTES = 2
/** MiB that a process may grow by in ten minutes once it is warm. */
const MAX_GROWTH_MIB = 1
/** How many more files, sockets or connections there may be at the end than at most in the minutes before. */
const MAX_EXTRA_HANDLES = 5
const SAMPLE_MS = 5_000

/** What a process holds at a moment. */
interface ResourceUsage {
  minute: number
  memory: number
  files: number
  sockets: number
  /** Sessions at PostgreSQL, of all processes. */
  connections: number
}

/**
 * Half of what a small machine can do, for long: alerts are delivered to receivers of which one in ten fails first,
 * tables are scanned, the API is read. Nothing piles up: no memory, no files, no sockets, no connections, no jobs.
 */
export async function soak({ isShort, folder }: Play): Promise<Tally> {
  const minutes = isShort ? SHORT_SOAK_MINUTES : SOAK_MINUTES
  const stage = await setStage({ folder, destinations: 4, role: 'all' })
  try {
    const [member] = stage.members as [Member, ...Member[]]
    const calls = await callsOf(stage)
    stage.receiver.behave({ statuses: [500, 200], percent: 10, delay: 40 })
    await stage.plan({ alerts: 1_000_000, batch: 2, pause: 500 })
    const callers = startCallers(member.url, calls, { callers: 8, pause: 250 })
    const samples: ResourceUsage[] = []
    const startedAt = Date.now()
    for (let minute = 0; minute < minutes;) {
      await wait(SAMPLE_MS)
      minute = (Date.now() - startedAt) / 60_000
      samples.push(await look(stage, member, minute))
    }
    const { calls: called, failures, longest } = await callers.end()
    await stage.plan({ alerts: 0 })
    const isSettled = await stage.settled(120)
    const result = await tally(stage, { most: 0, isSettled, isShort })
    const left = await jobsLeft(stage)
    const warm = samples.filter(({ minute }) => minute > (isShort ? minutes / 2 : WARM_UP_MINUTES))
    const growth = slope(warm) * 10
    const broken = [
      ...Object.entries(failures).map(([what, count]) => `${count} calls came to ${what}`),
      ...(left > 0 ? [`${left} jobs were left`] : []),
      ...(!isShort && growth > MAX_GROWTH_MIB
        ? [`Memory grows by ${growth.toFixed(1)} MiB in ten minutes`]
        : []),
      ...(['files', 'sockets', 'connections'] as const).flatMap(what => piledUp(warm, what)),
    ]
    const last = samples.at(-1)!
    return {
      ...result,
      note: `${called} calls, the longest ${longest.toFixed(0)} ms; ${growth.toFixed(1)} MiB in ten minutes, ${last.files} files, ${last.sockets} sockets, ${last.connections} connections`,
      broken: [...broken, ...result.broken],
    }
  } finally {
    await stage.end()
  }
}

/** Makes a source with a table, rules and metrics on it. @returns what is asked: reads, and scans */
async function callsOf(stage: Stage): Promise<Call[]> {
  const { members, key, cluster } = stage
  await stage.query('create database shop')
  const credential = key
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${members[0]!.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: Record<string, string> }).data
  }
  await stage.query(
    'create table orders as select n as id, n % 7 as kind from generate_series(1, 20000) n',
    [],
    'shop',
  )
  const { host, port, user: username, password } = cluster
  const config = { host, port, database: 'shop', username, password, sslmode: 'prefer' }
  const source = { name: 'shop', source_type: 'postgresql', connection_config: config }
  const { id } = await ask('POST', '/api/v1/sdk/assets', source)
  const { job_id: job } = await ask('POST', `/api/v1/sdk/assets/${id}/discover`)
  while ((await ask('GET', `/api/v1/sdk/jobs/${job}`)).status !== 'completed') await wait(200)
  const rule = { rule_type: 'RANGE', table_path: 'orders', column_name: 'kind', rule_config: { max: 100 } }
  const { uuid } = await ask('POST', `/api/v1/sdk/validity/${id}`, rule)
  return [
    { method: 'GET', path: '/api/v1/sdk/alerts?limit=20', credential },
    { method: 'GET', path: `/api/v1/sdk/validity/${id}`, credential },
    { method: 'GET', path: '/api/v1/assets', credential },
    { method: 'POST', path: `/api/v1/sdk/validity/${id}/${uuid}/check`, credential },
    { method: 'GET', path: '/health' },
  ]
}

async function look({ query }: Stage, { pid }: Member, minute: number): Promise<ResourceUsage> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const files = readdirSync(`/proc/${pid}/fd`).map(file => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${file}`)
    } catch {
      return ''
    }
  })
  const [{ connections }] = (await query(
    `select cast(count(*) as integer) as connections from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  )) as [{ connections: number }]
  return {
    minute,
    memory: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024,
    files: files.length,
    sockets: files.filter(file => file.startsWith('socket:')).length,
    connections,
  }
}

/** More at the end than ever in the first half. */
function piledUp(samples: readonly ResourceUsage[], what: 'files' | 'sockets' | 'connections'): string[] {
  const half = Math.ceil(samples.length / 2)
  const least = (part: readonly ResourceUsage[]) => Math.min(...part.map(held => held[what]))
  const most = (part: readonly ResourceUsage[]) => Math.max(...part.map(held => held[what]))
  const [before, after] = [samples.slice(0, half), samples.slice(half)]
  return after.length > 0 && least(after) > most(before) + MAX_EXTRA_HANDLES
    ? [`There are ${least(after)} ${what} at the least, where there were ${most(before)} at most`]
    : []
}

/** MiB a minute, by least squares. */
function slope(samples: readonly ResourceUsage[]): number {
  const mean = (of: (held: ResourceUsage) => number) =>
    samples.reduce((sum, held) => sum + of(held), 0) / samples.length
  const [x, y] = [mean(held => held.minute), mean(held => held.memory)]
  const over = mean(held => (held.minute - x) * (held.memory - y))
  const under = mean(held => (held.minute - x) ** 2)
  return under === 0 ? 0 : over / under
}

async function jobsLeft({ query }: Stage): Promise<number> {
  const [{ count }] = (await query(
    `select cast(count(*) as integer) as count from pgboss.job
      where name in ('alerts.deliver', 'alerts.retry') and state < 'completed'`,
  )) as [{ count: number }]
  return count
}
