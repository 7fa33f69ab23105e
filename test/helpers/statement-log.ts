import { open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { testCluster } from './cluster.ts'
import type { Shop } from './mariadb.ts'
import type { Source } from './source.ts'

/** A statement as the source's own log has it. */
export interface Logged {
  /** Equal for the statements of one session. */
  session: string
  /** Without quotes around names, so that the same patterns match all engines. */
  text: string
  /** Why the source refused it. */
  error: string | null
}

/** The error of a statement that MariaDB could not prepare: it counts it, and does not log it. */
export const NOT_PREPARED = 'it could not be prepared'

/** What a source was sent. */
export interface SourceStatements {
  statements: Logged[]
  /** What sessions set for themselves; not a question. */
  settings: Logged[]
  /** Sessions that were opened, and whether their transactions default to read-only. */
  sessions: { id: string; isReadOnly: boolean }[]
}

/** Reads what the source's reader did, from the source's own log. */
export interface StatementLog {
  /** What was asked since the last call, or since the log was begun. */
  take(): Promise<SourceStatements>
}

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** Session, number of the line within it, role. The lines of other test files stand in the same log. */
const PREFIX = '<%c|%l|%u> '
const ENTRY = /^<([^|>]*)\|(\d+)\|([^>]*)> ([A-Z0-9]+): {2}([^]*)$/
const OPENED = 'session opened, default_transaction_read_only='

/**
 * Begins to log what the source's reader asks of PostgreSQL, in the log that the tests' cluster writes. A trigger at
 * sign-in shows whether the session may write.
 */
export async function logPostgresql(source: Source): Promise<StatementLog> {
  const reader = source.config.username
  await source.query(`create schema witness`)
  await source.query(`create function witness.signs_in() returns event_trigger language plpgsql as
    $$ begin raise log '${OPENED}%', current_setting('default_transaction_read_only'); end $$`)
  await source.query(`create event trigger signs_in on login execute function witness.signs_in()`)
  await source.query(`grant usage on schema witness to ${reader}`)
  await source.query(`alter role ${reader} set log_statement = 'all'`)
  await source.query(`alter system set log_line_prefix = '${PREFIX}'`)
  await source.query(`select pg_reload_conf()`)
  await untilReloaded()
  const [setting] = await source.query('show data_directory')
  const file = join(dirname(String(setting?.data_directory)), 'log')
  let offset = await sizeOf(file)
  return {
    async take() {
      const text = await readFrom(file, offset)
      offset += Buffer.byteLength(text)
      return readLog(text, reader)
    },
  }
}

/** A session gets the settings of the moment at which it is opened. */
async function untilReloaded(): Promise<void> {
  for (;;) {
    const client = new pg.Client({ ssl: false, ...(await testCluster()), database: 'postgres' })
    await client.connect()
    const { rows } = await client.query<{ log_line_prefix: string }>('show log_line_prefix')
    await client.end()
    if (rows[0]?.log_line_prefix === PREFIX) return
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    throw new Error('The log of PostgreSQL is not at hand: run without TEST_CLUSTER', { cause })
  }
}

async function readFrom(path: string, offset: number): Promise<string> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const { buffer } = await file.read(Buffer.alloc(size - offset), 0, size - offset, offset)
    return buffer.toString()
  } finally {
    await file.close()
  }
}

function readLog(text: string, reader: string): SourceStatements {
  const asked: SourceStatements = { statements: [], settings: [], sessions: [] }
  const executing = new Map<string, Logged>()
  const failing = new Map<string, string>()
  const add = (logged: Logged) =>
    (/^set /i.test(logged.text) ? asked.settings : asked.statements).push(logged)
  // A message of several lines goes on behind tabs.
  for (const entry of text.split(/\n(?!\t)/)) {
    const [, session = '', , role, level, message = ''] = ENTRY.exec(entry) ?? []
    if (role !== reader) continue
    const body = message.replaceAll('\n\t', '\n')
    const executed = /^execute [^:]*: ([^]*)$/.exec(body) ?? /^statement: ([^]*)$/.exec(body)
    if (level === 'LOG' && body.startsWith(OPENED)) {
      asked.sessions.push({ id: session, isReadOnly: body.endsWith('=on') })
    } else if (level === 'LOG' && executed) {
      const logged = { session, text: unquoted(executed[1] ?? ''), error: null }
      executing.set(session, logged)
      add(logged)
    } else if (level === 'ERROR') {
      failing.set(session, body)
    } else if (level === 'STATEMENT' && failing.has(session)) {
      // One that was refused before it ran is not in the log yet.
      const failed: Logged = { session, text: unquoted(body), error: failing.get(session) ?? '' }
      const before = executing.get(session)
      if (before?.text === failed.text && before.error === null) before.error = failed.error
      else add(failed)
      failing.delete(session)
      executing.delete(session)
    }
  }
  return asked
}

/** Begins to log what the shop's reader asks of MariaDB, in its general log. */
export async function logMariadb(t: Teardown, shop: Shop): Promise<StatementLog> {
  await shop.query(`set global log_output = 'TABLE'`)
  await shop.query('set global general_log = 1')
  t.teardown(() => shop.query('set global general_log = 0'))
  let [prepared] = [await preparedBy(shop)]
  return {
    async take() {
      const rows = await shop.query(
        `select command_type as command, thread_id as session, convert(argument using utf8mb4) as text
         from mysql.general_log where user_host like '%[${shop.config.username}]%' order by event_time, thread_id`,
      )
      await shop.query('truncate table mysql.general_log')
      const entries = rows.map(({ command, session, text }) => ({
        command: String(command),
        logged: { session: String(session), text: unquoted(String(text)), error: null },
      }))
      const of = (command: string) =>
        entries.flatMap(entry => (entry.command === command ? [entry.logged] : []))
      const settings = of('Query')
      const now = await preparedBy(shop)
      // What cannot be prepared is counted and not logged; no other client here prepares statements.
      const refused = now - prepared - of('Prepare').length
      prepared = now
      const failed = Array.from({ length: refused }, () => ({ session: '', text: '', error: NOT_PREPARED }))
      const sessions = of('Connect').map(({ session: id }) => {
        const first = settings.find(({ session }) => session === id)
        return { id, isReadOnly: /read_only = 1/.test(first?.text ?? '') }
      })
      return { statements: [...of('Execute'), ...failed], settings, sessions }
    },
  }
}

async function preparedBy(shop: Shop): Promise<number> {
  const [counter] = await shop.query(`show global status like 'Com_stmt_prepare'`)
  return Number(counter?.Value)
}

function unquoted(text: string): string {
  return text.replaceAll(/["`]/g, '').trim()
}
