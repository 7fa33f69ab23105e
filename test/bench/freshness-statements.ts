/** Counts, in PostgreSQL's own log, what a server sends to a source and to its own database. */
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type pg from 'pg'

/** What was sent. */
export interface Sent {
  /** To the source, with what the session sets for itself. */
  source: string[]
  /** To the server's own database, without the beginnings and ends of transactions and the job engine's own polling. */
  own: string[]
  /** Transactions on its own database. */
  transactions: number
}

const PREFIX = '<%u|%a> '
const ENTRY = /^<([^|>]*)\|([^>]*)> LOG: {2}(?:statement|execute [^:]*): ([^]*)$/
/** Names of the server's pools; the job engine's own connections have another. */
const POOLS = new Set(['tidemark', 'tidemark-owner'])
const FRAME = /^(begin|commit|rollback|select set_config\('app\.company')/i

/**
 * Logs every statement of the cluster while something happens, and sorts them by who sent them.
 * @param admin a superuser's session
 * @param reader the role that the source is read with
 */
export async function countStatements(
  admin: pg.Client,
  reader: string,
  happens: () => Promise<void>,
): Promise<Sent> {
  const { rows } = await admin.query<{ data_directory: string }>('show data_directory')
  const path = join(dirname(rows[0]!.data_directory), 'log')
  await set(admin, { log_line_prefix: PREFIX, log_parameter_max_length: '0', log_statement: 'all' })
  const file = await open(path).catch(cause => {
    throw new Error('The log of PostgreSQL is not at hand: run without TEST_CLUSTER', { cause })
  })
  try {
    const { size: from } = await file.stat()
    await happens()
    await set(admin, { log_statement: 'none' })
    const { size } = await file.stat()
    const { buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    return sorted(buffer.toString(), reader)
  } finally {
    await file.close()
  }
}

/** Sessions look for changed settings before they take their next statement; a moment later all have them. */
async function set(admin: pg.Client, settings: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(settings))
    await admin.query(`alter system set ${name} = '${value}'`)
  await admin.query('select pg_reload_conf()')
  await new Promise(resolve => setTimeout(resolve, 300))
}

function sorted(log: string, reader: string): Sent {
  const sent: Sent = { source: [], own: [], transactions: 0 }
  // A message of several lines goes on behind tabs.
  for (const entry of log.split(/\n(?!\t)/)) {
    const [, role, application = '', text = ''] = ENTRY.exec(entry) ?? []
    if (role === reader) sent.source.push(text)
    else if (!POOLS.has(application)) continue
    else if (!FRAME.test(text)) sent.own.push(text)
    else if (/^begin/i.test(text)) sent.transactions += 1
  }
  return sent
}
