import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { DuckDBBlobValue, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import { certify, type CertificateKind } from './certificates.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A request as a service sees it. */
export interface Exchange {
  method: string
  /** Without the query, still encoded. */
  path: string
  query: URLSearchParams
  headers: Record<string, string>
  /** Parsed from JSON; null without one. */
  body: unknown
  /** The connection it came by. */
  socket: Socket
}

export interface Answer {
  status?: number
  body: unknown
  headers?: Record<string, string>
  isGzipped?: boolean
}

/** A service of a vendor, doubled on a loopback port. */
export interface Service {
  port: number
  /** Every request so far. */
  requests: Exchange[]
}

/**
 * Starts an HTTPS service that answers JSON, with a certificate for some host names of an authority that this
 * process trusts; it stops when the test ends.
 */
export async function startService(
  t: Teardown,
  hosts: readonly string[],
  answer: (exchange: Exchange) => Promise<Answer> | Answer,
  certificate: CertificateKind = 'trusted',
): Promise<Service> {
  const requests: Exchange[] = []
  const server = createServer(await certify(certificate, hosts), (raw, response) => void serve(raw, response))
  async function serve(raw: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of raw) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const url = new URL(raw.url ?? '/', 'https://service')
    const exchange: Exchange = {
      method: raw.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: raw.headers as Record<string, string>,
      body: text === '' ? null : JSON.parse(text),
      socket: raw.socket,
    }
    requests.push(exchange)
    const { status = 200, body, headers = {}, isGzipped = false } = await answer(exchange)
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const kind = { 'content-type': 'application/json', ...(isGzipped && { 'content-encoding': 'gzip' }) }
    response.writeHead(status, { ...kind, ...headers }).end(isGzipped ? gzipSync(bytes) : bytes)
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  return { port: (server.address() as AddressInfo).port, requests }
}

/** A result with DuckDB's names of types and every value as DuckDB prints it; bytes in hexadecimal digits. */
export interface WarehouseResult {
  columns: { name: string; type: string }[]
  rows: (string | null)[][]
}

/** A statement on its way. */
export interface RunningStatement {
  /** Rejects with DuckDB's own error. */
  result: Promise<WarehouseResult>
  interrupt(): void
}

/** The SQL engine behind a double: a DuckDB in memory, so that numbers mean something. */
export interface Warehouse {
  /** Starts a statement on a connection of its own; `setUp` runs before it there. */
  start(text: string, values?: readonly DuckDBValue[], setUp?: readonly string[]): RunningStatement
  /** Runs one statement as the owner, to its end. */
  execute(text: string): Promise<WarehouseResult>
  /** How many statements run now. */
  running(): number
}

/** Opens a warehouse, gone when the test ends. */
export async function openWarehouse(t: Teardown): Promise<Warehouse> {
  const instance = await DuckDBInstance.create(':memory:')
  t.teardown(() => instance.closeSync())
  let running = 0
  const warehouse: Warehouse = {
    start(text, values = [], setUp = []) {
      const connecting = instance.connect()
      let isInterrupted = false
      const run = async (): Promise<WarehouseResult> => {
        const connection = await connecting
        running += 1
        try {
          for (const statement of setUp) await connection.run(statement)
          if (isInterrupted) throw new Error('INTERRUPT Error: Interrupted!')
          const reader = await connection.runAndReadAll(text, [...values])
          const types = reader.columnTypes()
          return {
            columns: reader.columnNames().map((name, index) => {
              const type = types[index]
              // JSON is a text by another name.
              return { name, type: type?.alias === 'JSON' ? 'JSON' : String(type) }
            }),
            rows: reader
              .getRows()
              .map(row => row.map((value, index) => printed(value, String(types[index])))),
          }
        } finally {
          running -= 1
          connection.closeSync()
        }
      }
      const result = run()
      result.catch(() => {})
      return {
        result,
        interrupt() {
          isInterrupted = true
          void connecting.then(connection => connection.interrupt()).catch(() => {})
        },
      }
    },
    execute: text => warehouse.start(text).result,
    running: () => running,
  }
  return warehouse
}

function printed(value: DuckDBValue, type: string): string | null {
  if (value === null) return null
  if (type === 'FLOAT' && typeof value === 'number') return shortest(value)
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('hex')
  return String(value)
}

/** A 32-bit float by the fewest digits that distinguish it from others, as services print it: 0.1, not 0.10000000149011612. */
function shortest(float: number): string {
  const digits = [6, 7, 8, 9].find(count => Math.fround(Number(float.toPrecision(count))) === float)
  return String(digits === undefined ? float : Number(float.toPrecision(digits)))
}
