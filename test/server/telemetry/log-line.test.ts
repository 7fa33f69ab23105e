import t from 'tap'
import { pino } from 'pino'
import { formatLogLine } from '../../../server/telemetry/log-line.ts'
import { replyFields, requestFields } from '../../../server/telemetry/log.ts'

/** What a logger with pino's own serializers shows a person. */
function shown(write: (log: pino.Logger) => void): string {
  let line = ''
  write(
    pino(
      { base: undefined, timestamp: () => ',"time":"2026-03-09T12:00:01.000Z"' },
      { write: json => (line = json) },
    ),
  )
  return formatLogLine(line)
}

t.test('a request is one short line', async t => {
  const request = {
    info: { id: 'r1' },
    method: 'get',
    path: '/api/v1/assets?search=x',
    route: { path: '/api/v1/assets' },
  }
  const line = shown(log =>
    log.info(
      {
        req: requestFields(request as never),
        res: replyFields({ statusCode: 200 } as never),
        responseTime: 12,
      },
      '[response] get /api/v1/assets 200 (12ms)',
    ),
  )
  t.equal(line, '12:00:01 info  GET /api/v1/assets 200 12 ms\n')
})

t.test('fields follow the message, and what is no plain word is quoted', async t => {
  const line = shown(log => log.warn({ job: 'scans.run', attempt: 2, note: 'two words' }, 'job failed'))
  t.equal(line, '12:00:01 warn  job failed job=scans.run attempt=2 note="two words"\n')
})

t.test('ids are shown where something went wrong, and nowhere else', async t => {
  const fields = { origin: 'r1', job: 'scans.run', job_id: 'j1', ms: 12 }
  t.equal(
    shown(log => log.info(fields, 'job completed')),
    '12:00:01 info  job completed job=scans.run ms=12\n',
  )
  t.equal(
    shown(log => log.warn(fields, 'job failed')),
    '12:00:01 warn  job failed origin=r1 job=scans.run job_id=j1 ms=12\n',
  )
})

t.test('an error shows its message, and from level error its stack', async t => {
  const error = new Error('no route')
  const lines = shown(log => log.error({ err: error }, 'the demo could not be made')).split('\n')
  t.equal(lines[0], '12:00:01 error the demo could not be made: no route')
  t.match(lines[2], /at .*log-line\.test/)
  t.equal(
    shown(log => log.warn({ err: error }, 'put off')),
    '12:00:01 warn  put off: no route\n',
  )
})

t.test('a record cannot steer the terminal or pretend to be another line', async t => {
  const line = shown(log => log.info({ table: 'a\u001b[2Jb' }, 'gone\u001b[31m\n12:00:02 info  all is well'))
  t.notMatch(line, /\u001b/)
  t.equal(line.split('\n').length, 2)
})
