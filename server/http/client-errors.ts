/** Replies to bytes that Node's HTTP parser rejects: they never become a request, so no route or hook sees them. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { statusOf, type ErrorCode } from './errors.ts'

/** Milliseconds between two log lines about refused requests. */
const SUMMARY_MS = 60_000
/** Milliseconds that a client gets to read the reply: closed with bytes unread, a connection is reset, and the reply lost. */
const LINGER_MS = 2_000

/** The fields of Node's error that are safe to use. `rawPacket` is what the client sent: it is measured, never logged. */
interface ParserError extends Error {
  code?: string
  rawPacket?: Buffer
  bytesParsed?: number
}

/** The state of a connection: pending replies in order, and the request whose bytes came last. */
interface Connection {
  pending: Set<ServerResponse>
  last: { request: IncomingMessage; response: ServerResponse }
}

export interface ClientErrorOptions {
  log: Pick<Logger, 'info'>
  /** Called with the status of each reply, for the metrics. */
  onReply?(status: number): void
  /** Milliseconds between two log lines; defaults to a minute. */
  summaryMs?: number
}

/**
 * Replaces the `clientError` handling of a listener. Each refused request gets the error body with 400, 408, 413, 414
 * or 431, and its connection is closed. A pending reply is finished first. The log has the parser's code
 * and the number of bytes: the first refusal at once, those that follow as one summary per period.
 */
export function handleClientErrors(listener: HttpServer, options: ClientErrorOptions): void {
  const connections = new WeakMap<Duplex, Connection>()
  const refused = new WeakSet<Duplex>()
  const note = summarize(listener, options)
  const follow = (request: IncomingMessage, response: ServerResponse) => {
    const { pending } = connections.get(request.socket) ?? { pending: new Set() }
    connections.set(request.socket, { pending: pending.add(response), last: { request, response } })
    response.once('close', () => pending.delete(response))
  }
  listener.on('request', follow)
  listener.on('checkContinue', follow)
  // hapi's handler logs the whole error with the bytes, and also replies to a request that is already being handled.
  listener.removeAllListeners('clientError')
  listener.on('clientError', (error: ParserError, socket: Duplex) => {
    // The parser reports the same error again for all that follows.
    if (refused.has(socket)) return
    refused.add(socket)
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE' || !socket.writable)
      return void socket.destroy()
    const id = randomUUID()
    note(error, id)
    void replyInTurn(socket, connections.get(socket)).then(isOpen => {
      if (!isOpen) return socket.destroy()
      const code = codeOf(error)
      options.onReply?.(statusOf(code))
      socket.end(replyOf(code, id))
      const closing = setTimeout(() => socket.destroy(), LINGER_MS).unref()
      socket.once('close', () => clearTimeout(closing))
    })
  })
}

/**
 * Waits for the replies that come before the refusal.
 * @returns whether the refusal may be sent: not when the broken bytes belong to a request that has its reply already
 */
async function replyInTurn(socket: Duplex, connection?: Connection): Promise<boolean> {
  if (!connection) return socket.writable
  const { pending, last } = connection
  // Otherwise the last request is complete, and the bytes after it cannot be parsed.
  const isInBody = !last.request.complete
  for (const response of pending) {
    if (isInBody && response === last.response && !response.headersSent) continue
    await new Promise(done => response.once('close', done))
  }
  return socket.writable && !(isInBody && last.response.headersSent)
}

/** The code that an error of Node's parser is answered with. */
function codeOf({ code, rawPacket, bytesParsed }: ParserError): ErrorCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT'
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'PAYLOAD_TOO_LARGE'
  if (code !== 'HPE_HEADER_OVERFLOW') return 'BAD_REQUEST'
  // The first line is known only when the packet begins with it; what comes in pieces counts as headers.
  const head = rawPacket?.subarray(0, bytesParsed).toString('latin1') ?? ''
  return /^[A-Z]+ [^\r\n]*$/.test(head) ? 'URI_TOO_LONG' : 'HEADERS_TOO_LARGE'
}

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'The request is not valid HTTP: check its first line, its headers and its chunks',
  REQUEST_TIMEOUT: 'The request did not arrive in time: send it again, faster',
  PAYLOAD_TOO_LARGE: 'The chunk extensions of the body are too large: leave them out',
  URI_TOO_LONG: 'The URL is too long: URL and headers together take at most 16 KiB',
  HEADERS_TOO_LARGE: 'The headers are too large: URL and headers together take at most 16 KiB',
}

function replyOf(code: ErrorCode, id: string): string {
  const status = statusOf(code)
  const body = JSON.stringify({ error: { code, message: MESSAGES[code], details: {} } })
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': id,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Date: new Date().toUTCString(),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}

/** Logs the first refusal at once, and how many followed it once per period: anyone can send a thousand a second. */
function summarize(
  listener: HttpServer,
  { log, summaryMs = SUMMARY_MS }: ClientErrorOptions,
): (error: ParserError, id: string) => void {
  let codes = new Map<string, number>()
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  const report = () => {
    log.info({ codes: Object.fromEntries(codes), bytes }, 'more requests could not be parsed')
    codes = new Map()
    bytes = 0
  }
  const onPeriod = () => {
    timer = undefined
    if (codes.size === 0) return
    report()
    timer = setTimeout(onPeriod, summaryMs).unref()
  }
  listener.once('close', () => {
    clearTimeout(timer)
    if (codes.size > 0) report()
  })
  return (error, id) => {
    const code = error.code ?? 'unknown'
    const size = error.rawPacket?.length ?? 0
    if (timer) {
      codes.set(code, (codes.get(code) ?? 0) + 1)
      bytes += size
      return
    }
    log.info({ request_id: id, code, bytes: size }, 'a request could not be parsed')
    timer = setTimeout(onPeriod, summaryMs).unref()
  }
}
