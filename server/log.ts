import { pino, type Logger } from 'pino'
import type { Config } from './config.ts'
import { originFields } from './telemetry/origin.ts'

/** Paths that never reach a log line, whatever object is logged. */
const SECRET_PATHS = [
  'password',
  'token',
  'secret',
  'authorization',
  'access_token',
  'refresh_token',
  'connection_config',
]

/**
 * The process's logger: JSON lines on standard error, so that standard output stays for people and pipes. Each says
 * what it goes back to.
 * @param lines takes them instead, for tests
 */
export function makeLog(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  lines?: { write(line: string): void },
): Logger {
  const redact = {
    paths: [
      'req.headers.authorization',
      'req.headers.cookie',
      'req.headers["x-api-key"]',
      ...SECRET_PATHS.flatMap(name => [name, `*.${name}`]),
    ],
    censor: '…',
  }
  const destination =
    lines ?? (config.logFormat === 'pretty' ? shortLines() : pino.destination({ dest: 2, sync: true }))
  return pino(
    {
      level: config.logLevel,
      redact,
      mixin: originFields,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}

/** One short line a record, for a person at a terminal. */
function shortLines(): { write(line: string): void } {
  return {
    write(line) {
      const { level, time, msg, ...rest } = JSON.parse(line) as Record<string, unknown>
      const fields = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`
      process.stderr.write(
        `${String(time).slice(11, 19)} ${pino.levels.labels[Number(level)] ?? level} ${String(msg ?? '')}${fields}\n`,
      )
    },
  }
}
