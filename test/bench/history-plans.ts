/** Reads, in PostgreSQL's own log, how it ran the statements of a server: what pages it read, and of which tables all. */
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestServer } from '../helpers/server.ts'

/** What was read since it was asked for the last time. */
export interface PageReads {
  statements: number
  /** Of 8 kB, in memory or not. */
  pages: number
  /** Tables of which many rows were read from beginning to end. */
  whole: string[]
}

/** A node of a plan, as far as it is looked at. */
interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: Node[]
}

/** Rows of a small table are read as fast from beginning to end as by an index. */
const MANY = 500

/**
 * Has every statement of new sessions at a database explained while something happens.
 * @param happens gets what reads the log
 */
export async function explainStatements<T>(
  app: TestServer,
  database: string,
  happens: (take: () => Promise<PageReads>) => Promise<T>,
): Promise<T> {
  const settings: Record<string, string> = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_format': 'json',
  }
  // Its settings are known to a session that has loaded it.
  await app.query(`load 'auto_explain'`)
  for (const [name, value] of Object.entries(settings))
    await app.query(`alter database ${database} set ${name} = '${value}'`)
  await app.query(`alter system set log_line_prefix = '<%d %a> '`)
  await app.query('select pg_reload_conf()')
  const [setting] = await app.query('show data_directory')
  const file = await open(join(dirname(String(setting?.data_directory)), 'log'))
  let from = (await file.stat()).size
  try {
    return await happens(async () => {
      const { size } = await file.stat()
      const { buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
      from = size
      return readOf(buffer.toString(), database)
    })
  } finally {
    await file.close()
    for (const name of Object.keys(settings)) await app.query(`alter database ${database} reset ${name}`)
  }
}

function readOf(log: string, database: string): PageReads {
  const read: PageReads = { statements: 0, pages: 0, whole: [] }
  // A message of several lines goes on behind tabs.
  for (const entry of log.split(/\n(?!\t)/)) {
    const [, name, json = ''] = /^<([^>]*)> LOG: {2}duration: [\d.]+ ms {2}plan:\s*([^]*)$/.exec(entry) ?? []
    // The job engine's own connections, and those of tests, have other names.
    if (name !== `${database} tidemark` && name !== `${database} tidemark-owner`) continue
    const { Plan: plan } = JSON.parse(json.replaceAll('\n\t', '\n')) as { Plan: Node }
    read.statements += 1
    read.pages += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
    read.whole.push(...wholeOf(plan))
  }
  return read
}

function wholeOf(node: Node): string[] {
  const rows =
    ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0)
  const own = node['Node Type'] === 'Seq Scan' && rows > MANY ? [node['Relation Name'] ?? ''] : []
  return [...own, ...(node.Plans ?? []).flatMap(wholeOf)]
}
