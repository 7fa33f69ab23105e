/** Log records as short lines for a person at a terminal. */
import { pino } from 'pino'
import { oneLine, withoutControls } from '../cli/terminal-text.ts'

interface LoggedError {
  type?: string
  message?: string
  stack?: string
}

interface LoggedRequest {
  method: string
  path: string
}

/** A record as pino writes it; more fields pass through. */
interface LogRecord {
  level: number
  time: string
  msg?: string
  req?: LoggedRequest
  res?: { status: number }
  responseTime?: number
  err?: LoggedError | string
}

/** Levels from which ids are shown, and those from which an error is shown with its stack. */
const IDS_FROM = pino.levels.values.warn ?? 40
const STACK_FROM = pino.levels.values.error ?? 50
/** Fields that only a program follows up: below a warning they would fill the line. */
const IS_ID = /^(origin|id|\w+_id|created|started|protocol|address)$/

/**
 * Formats one record: `12:00:01 info  GET /api/v1/assets 200 12 ms`, or the message and its fields as `name=value`.
 * Below a warning ids are left out; an error is followed by its stack.
 * @param json the record as pino writes it
 * @returns the line or lines, with a line break at the end
 */
export function formatLogLine(json: string): string {
  const { level, time, msg, req, res, responseTime, err, ...fields } = JSON.parse(json) as LogRecord
  const label = (pino.levels.labels[level] ?? String(level)).padEnd(5)
  const text =
    req && res
      ? [req.method.toUpperCase(), req.path, res.status, `${responseTime ?? 0} ms`].join(' ')
      : (msg ?? '')
  const reason = err === undefined ? '' : `: ${typeof err === 'string' ? err : (err.message ?? err.type)}`
  const stack = level >= STACK_FROM && typeof err === 'object' && err.stack ? `\n${err.stack}` : ''
  const named = Object.entries(fields)
    .filter(([name]) => level >= IDS_FROM || !IS_ID.test(name))
    .map(([name, value]) => ` ${name}=${formatValue(value)}`)
  return `${time.slice(11, 19)} ${label} ${oneLine(`${text}${reason}${named.join('')}`)}${withoutControls(stack)}\n`
}

function formatValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}
