import type { ServerResponse } from 'node:http'
import type { Request } from '@hapi/hapi'
import { pino, type Logger } from 'pino'
import type { Config } from '../settings/config.ts'
import { errorFields } from './log-errors.ts'
import { formatLogLine } from './log-line.ts'
import { originFields } from './origin.ts'

/** Fields that never reach a log line, whatever object is logged. */
const SECRET_NAMES = [
  'password',
  'token',
  'secret',
  'authorization',
  'access_token',
  'refresh_token',
  'connection_config',
]

const CENSOR = '…'

/**
 * The process's logger: JSON lines on standard error, so that standard output stays for people and pipes. Each says
 * what it goes back to.
 * @param lines takes them instead, for tests
 */
export function makeLog(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  lines?: { write(line: string): void },
): Logger {
  const redact = { paths: SECRET_NAMES.flatMap(name => [name, `*.${name}`]), censor: CENSOR }
  const destination =
    lines ?? (config.logFormat === 'pretty' ? shortLines() : pino.destination({ dest: 2, sync: true }))
  return pino(
    {
      level: config.logLevel,
      redact,
      serializers: { err: errorFields },
      mixin: originFields,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}

/**
 * The logger of requests, whose lines hold what `requestFields` and `replyFields` give, and errors: looking through
 * every field of each line for secrets would take longer than writing it.
 */
export function requestLogger(log: Logger): Logger {
  const paths = SECRET_NAMES.flatMap(name => [name, `err.${name}`, `data.${name}`])
  return log.child({}, { redact: { paths, censor: CENSOR } })
}

export function requestFields({ info, method, path, route }: Request) {
  // A token in a path is a secret.
  if (route.path.includes('{token}')) return { id: info.id, method, path: route.path }
  // For a URL that cannot be parsed, hapi gives all of it as the path.
  return { id: info.id, method, path: path.split('?', 1)[0] }
}

export function replyFields({ statusCode }: ServerResponse) {
  return { status: statusCode }
}

/** Writes each record as a short line for a person at a terminal. */
function shortLines(): { write(line: string): void } {
  return { write: line => void process.stderr.write(formatLogLine(line)) }
}
