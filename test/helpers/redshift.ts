/**
 * An emulation of Amazon Redshift, not the thing: a PostgreSQL 17 database behind a front door.
 *
 * The database has, over PostgreSQL's own catalog, what the Redshift guide documents and the connector asks for:
 * svv_external_columns, the sort keys of pg_attribute, pg_get_late_binding_view_cols(), the text of materialized views, the types SUPER, VARBYTE,
 * GEOMETRY and HLLSKETCH by name. The door speaks TLS, says that it is version 8.0.2, refuses start-up settings that
 * Redshift has not, refuses statements with what Redshift's SQL has not, and words a timeout as Redshift does.
 *
 * What it cannot show: how Redshift plans and rounds (avg of integers, numeric without a scale), what needs its
 * compute nodes, its folding of quoted names to lower case, its own error texts but one.
 */
import net from 'node:net'
import tls from 'node:tls'
import { redshift, type RedshiftConfig } from '../../connectors/redshift/index.ts'
import { certify } from './certificates.ts'
import { startSource } from './source.ts'

/** A private database, as a customer's cluster. */
export interface Cluster {
  /** A `connection_config` of a user that may only read. */
  config: { host: string; port: number; database: string; username: string; password: string }
  /** The database's name, which is the catalog of its tables. */
  name: string
  /** Runs one statement as the owner, outside the connector, in PostgreSQL's SQL. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Makes a view `WITH NO SCHEMA BINDING` with columns as `name type` in Redshift's words. */
  lateBinding(schema: string, name: string, columns: readonly string[]): Promise<void>
  /** Makes a materialized view as Redshift keeps one: a view, and a table beside it. */
  materialized(schema: string, name: string, select: string): Promise<void>
  /** Adds an external table with columns as `name type` in Hive's words. */
  external(schema: string, name: string, columns: readonly string[], database?: string): Promise<void>
  /** The texts of all statements that the connector sent, in order. */
  statements: string[]
  /** What was refused, and why. */
  refused: { text: string; reason: string }[]
  /** Makes the next statement fail with this error. */
  fail(error: { code: string; message: string }): void
}

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** What Redshift's SQL has not, or reads otherwise than PostgreSQL, and why a statement with it is refused. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/\bfilter\s*\(\s*where\b/i, 'aggregates have no FILTER'],
  [/\bjson(b)?_\w+\s*\(/i, 'there are no JSON functions of PostgreSQL'],
  [/\blateral\b|\bwith\s+ordinality\b/i, 'there is no LATERAL'],
  [/\b(unnest|array_agg|string_agg|bool_or|bool_and)\s*\(/i, 'it runs on the leader node or not at all'],
  [/::\s*(text|varchar|jsonb?|bytea|uuid)(?!\w|\()/i, 'the type is missing or cuts texts off'],
  [/\bas\s+(text|varchar|jsonb?|bytea|uuid)\s*\)/i, 'the type is missing or cuts texts off'],
  [/\bdistinct\s+on\b/i, 'there is no DISTINCT ON'],
  [
    /\bnot\s+relispartition|conparentid|attidentity|indnkeyatts|with\s+recursive/i,
    'the catalog is that of 8.0',
  ],
  [/\bavg\s*\((?!\s*cast\()/i, 'avg of integers cuts the fraction off'],
  [/\bset_config\s*\(|current_setting\s*\(\s*'server_version_num/i, 'the setting does not exist'],
]

/** Settings that the guide's configuration reference has, and that PostgreSQL has as well. */
const SHARED_SETTINGS = [
  'datestyle',
  'extra_float_digits',
  'search_path',
  'statement_timeout',
  'timezone',
  'client_encoding',
]
const OWN_SETTINGS = ['enable_case_sensitive_identifier', 'query_group', 'wlm_query_slot_count']
/** Fields of the start-up packet besides settings. */
const STARTUP_FIELDS = ['user', 'database', 'options', 'application_name', 'client_encoding']

/** Makes an empty database behind a door of its own, both gone when the test ends. */
export async function startRedshift(t: Teardown): Promise<Cluster> {
  const source = await startSource(t)
  for (const statement of EMULATION) await source.query(statement)
  const reader = source.config.username
  await source.query(`alter role ${reader} set search_path = pg_emulated, pg_catalog, public`)
  // In Redshift, as in PostgreSQL 8.0, a backslash in a text begins an escape.
  await source.query(`alter role ${reader} set standard_conforming_strings = off`)
  const cluster: Cluster = {
    name: source.name,
    config: { ...source.config, host: 'localhost', port: 0 },
    query: source.query,
    statements: [],
    refused: [],
    fail: error => void failing.push(error),
    async lateBinding(schema, name, columns) {
      await source.query(`create view ${schema}.${name} as select`)
      for (const [index, column] of columns.entries()) {
        const [columnName, type] = split(column)
        await source.query(`insert into pg_emulated.late_binding values ($1, $2, $3, $4, $5)`, [
          ...[schema, name, columnName, type, index + 1],
        ])
      }
    },
    async materialized(schema, name, select) {
      await source.query(`create table ${schema}.mv_tbl__${name}__0 as ${select}`)
      await source.query(`create view ${schema}.${name} as select * from ${schema}.mv_tbl__${name}__0`)
      await source.query(`insert into pg_emulated.materialized values ('${schema}.${name}'::regclass)`)
    },
    async external(schema, name, columns, database = source.name) {
      for (const [index, column] of columns.entries()) {
        const [columnName, type] = split(column)
        await source.query(
          `insert into pg_emulated.external_columns values ($1, $2, $3, $4, $5, $6, 0, $7)`,
          [...[database, schema, name, columnName, type, index + 1, index === 0 ? 'false' : '']],
        )
      }
    },
  }
  delete (cluster.config as { sslmode?: string }).sslmode
  const failing: { code: string; message: string }[] = []
  cluster.config.port = await openDoor(
    t,
    { host: source.config.host, port: source.config.port },
    cluster,
    failing,
  )
  return cluster
}

function split(column: string): [string, string] {
  const at = column.indexOf(' ')
  return [column.slice(0, at), column.slice(at + 1)]
}

/** pg_catalog takes the views, so that they are found as they are in Redshift, under their plain names. */
const EMULATION = [
  `set allow_system_table_mods = on`,
  `create schema pg_emulated`,
  `grant usage on schema pg_emulated to public`,
  `create table pg_emulated.late_binding
    (view_schema name, view_name name, col_name name, col_type varchar, col_num int)`,
  `create table pg_emulated.materialized (oid oid)`,
  `create table pg_emulated.external_columns (redshift_database_name text, schemaname text, tablename text,
    columnname text, external_type text, columnnum int, part_key int, is_nullable text)`,
  // Redshift's pg_attribute has the place of a column in the sort key of its table.
  `create table pg_emulated.sort_keys (relation oid, name text, place int)`,
  `create view pg_emulated.pg_attribute as
    select a.attrelid, a.attname, a.attnum, a.atttypid, a.atttypmod, a.attnotnull, a.attisdropped,
      coalesce(s.place, 0) as attsortkeyord
    from pg_catalog.pg_attribute a
    left join pg_emulated.sort_keys s on s.relation = a.attrelid and s.name = a.attname`,
  `grant select on all tables in schema pg_emulated to public`,
  // Users see only metadata to which they have access; a schema that was not made is open to every user.
  `create view pg_catalog.svv_external_columns as select * from pg_emulated.external_columns e
    where not exists (select from pg_catalog.pg_namespace n where n.nspname = e.schemaname
      and not pg_catalog.has_schema_privilege(n.oid, 'usage'))`,
  `grant select on pg_catalog.svv_external_columns to public`,
  `create function pg_catalog.pg_get_late_binding_view_cols() returns setof record language sql
    as 'select * from pg_emulated.late_binding'`,
  `create function pg_emulated.pg_get_viewdef(oid) returns text language sql as $$
    select case when exists (select from pg_emulated.materialized m where m.oid = $1)
      then 'create materialized view x as ' else '' end || pg_catalog.pg_get_viewdef($1) $$`,
  `create function pg_emulated.datediff(text, timestamp, timestamp) returns bigint language sql immutable as $$
    select extract(epoch from date_trunc($1, $3) - date_trunc($1, $2))::bigint $$`,
  `create domain pg_emulated.super as jsonb`,
  `create domain pg_emulated.varbyte as bytea`,
  `create domain pg_emulated.geometry as text`,
  `create domain pg_emulated.hllsketch as text`,
  `set allow_system_table_mods = off`,
  `set search_path = public, pg_emulated`,
]

const SSL_REQUEST = 80877103
const CANCEL_REQUEST = 80877102

async function openDoor(
  t: Teardown,
  behind: { host: string; port: number },
  cluster: Cluster,
  failing: { code: string; message: string }[],
): Promise<number> {
  const pair = await certify()
  const sockets = new Set<net.Socket>()
  const keep = <Socket extends net.Socket>(socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    return socket
  }
  const server = net.createServer({ noDelay: true }, raw => {
    keep(raw).once('data', first => {
      if (first.readInt32BE(4) !== SSL_REQUEST) return void raw.end(errorMessage('FATAL', '28000', 'no TLS'))
      raw.write('S')
      const client = keep(new tls.TLSSocket(raw, { isServer: true, ...pair }))
      client.once('data', start => admit(client, start))
    })
  })

  function admit(client: tls.TLSSocket, start: Buffer): void {
    const upstream = keep(net.connect({ ...behind, noDelay: true }))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    if (start.readInt32BE(4) === CANCEL_REQUEST) return void upstream.write(start)
    const { packet, refusal } = readStartup(start)
    if (refusal) return void client.end(errorMessage('FATAL', '42704', refusal))
    upstream.write(packet)
    client.on(
      'data',
      messages(message => upstream.write(fromClient(message))),
    )
    upstream.on(
      'data',
      messages(message => client.write(fromServer(message))),
    )
  }

  /** A statement with what Redshift has not is replaced by one that PostgreSQL has not either. */
  function fromClient(message: Buffer): Buffer {
    if (message[0] !== 0x50) return message
    const nameEnd = message.indexOf(0, 5)
    const textEnd = message.indexOf(0, nameEnd + 1)
    const text = message.toString('utf8', nameEnd + 1, textEnd)
    cluster.statements.push(text)
    const reason = refusal(text)
    if (reason === undefined && failing.length === 0) return readPart(message, nameEnd + 1, textEnd)
    if (reason !== undefined) cluster.refused.push({ text, reason })
    return parseMessage(reason === undefined ? 'select fail' : `select is refused: ${reason}`)
  }

  function fromServer(message: Buffer): Buffer {
    const type = String.fromCharCode(message[0] ?? 0)
    if (type === 'S') return readStatus(message)
    if (type !== 'E') return message
    const planned = failing.shift()
    if (planned) return errorMessage('ERROR', planned.code, planned.message)
    if (!message.includes('C57014\0')) return message
    return errorMessage('ERROR', '57014', "Query (4711) cancelled on user's request")
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  })
  return (server.address() as net.AddressInfo).port
}

/** Why Redshift would refuse a statement. */
function refusal(text: string): string | undefined {
  const plain = text.replaceAll(/'(''|[^'])*'|"(""|[^"])*"/g, "''")
  const [, reason] = REFUSED.find(([pattern]) => pattern.test(plain)) ?? []
  if (reason !== undefined) return reason
  const percentiles = plain.match(/percentile_cont/gi)?.length ?? 0
  const alone = plain.match(/\(\s*select\s+percentile_cont\([^()]*\)\s*within group/gi)?.length ?? 0
  return percentiles > 1 && alone < percentiles ? 'calls of percentile_cont must sort alike' : undefined
}

/** The date part of a function is a word in Redshift, and a text of the function that stands for it here; counts are exact. */
function readPart(message: Buffer, start: number, end: number): Buffer {
  const text = message.toString('utf8', start, end)
  const written = text
    .replaceAll('datediff(second,', "datediff('second',")
    .replaceAll('approximate count(distinct', 'count(distinct')
  if (written === text) return message
  return frame('P', Buffer.concat([message.subarray(5, start), Buffer.from(written), message.subarray(end)]))
}

/** Splits a stream into messages: a byte of type, then a length that counts itself. */
function messages(report: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return chunk => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1)
      if (rest.length < length) return
      report(rest.subarray(0, length))
      rest = rest.subarray(length)
    }
  }
}

/** Reads a start-up packet as Redshift does, and writes what PostgreSQL is to get of it. */
function readStartup(start: Buffer): { packet: Buffer; refusal?: string } {
  const texts = start.toString('utf8', 8, start.length - 2).split('\0')
  const fields = new Map<string, string>()
  for (let index = 0; index + 1 < texts.length; index += 2)
    fields.set(texts[index] ?? '', texts[index + 1] ?? '')
  const settings = [...(fields.get('options') ?? '').matchAll(/-c\s+(\w+)=(\S*)/g)].map(match => ({
    name: match[1] ?? '',
    value: match[2] ?? '',
  }))
  const known = [...SHARED_SETTINGS, ...OWN_SETTINGS]
  const unknown = [
    ...[...fields.keys()].filter(name => !STARTUP_FIELDS.includes(name)),
    ...settings.map(({ name }) => name).filter(name => !known.includes(name.toLowerCase())),
  ]
  if (unknown.length > 0) {
    return { packet: start, refusal: `unrecognized configuration parameter "${unknown[0]}"` }
  }
  const shared = settings.filter(({ name }) => SHARED_SETTINGS.includes(name.toLowerCase()))
  fields.set('options', shared.map(({ name, value }) => `-c ${name}=${value}`).join(' '))
  const body = Buffer.from([...fields].flat().concat('', '').join('\0'))
  const head = Buffer.alloc(8)
  head.writeInt32BE(body.length + 8, 0)
  head.writeInt32BE(196608, 4)
  return { packet: Buffer.concat([head, body]) }
}

/** What the server reports of its settings: an old version, and little else. */
function readStatus(message: Buffer): Buffer {
  const [name] = message.toString('utf8', 5, message.length - 1).split('\0')
  if (name === 'server_version') return frame('S', 'server_version\x008.0.2\0')
  return name === 'client_encoding' ? message : Buffer.alloc(0)
}

function parseMessage(text: string): Buffer {
  return Buffer.concat([frame('P', `\0${text}\0\0\0`)])
}

function errorMessage(severity: string, code: string, message: string): Buffer {
  return frame('E', `S${severity}\0C${code}\0M${message}\0\0`)
}

function frame(type: string, content: string | Buffer): Buffer {
  const body = Buffer.from(content as string)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** A `connection_config` as the server validates it, with changes. */
export function redshiftSettings(config: object, changes: object = {}): RedshiftConfig {
  const { value, error } = redshift.config.validate({ ...config, ...changes })
  if (error) throw error
  return value
}
