import fc from 'fast-check'
import t from 'tap'
import { expireRows } from '../../../server/database/retention.ts'
import { startServer } from '../../helpers/server.ts'

const { server, ask, query } = await startServer(t)
const PATH = '/api/public/events'
const send = (body: unknown) => ask('POST', PATH, body)
const stored = () =>
  query('select anonymous_id, event_name, properties, occurred_at, at from anonymous_events')
const EVENT = { event_name: 'docs.opened', anonymous_id: 'browser-1' }

t.beforeEach(() => query('truncate anonymous_events, rate_windows').then(() => undefined))

t.test('an event is stored as sent, and the reply is empty', async t => {
  const properties = { page: 'drift', nested: { list: [1, null, 'ü'] } }
  const { status, body, headers } = await send({
    ...EVENT,
    properties,
    occurred_at: '2026-01-02T03:04:05+01:00',
  })
  t.strictSame([status, body], [204, ''])
  t.equal(headers['set-cookie'], undefined)
  t.match(await stored(), [
    {
      anonymous_id: 'browser-1',
      event_name: 'docs.opened',
      properties,
      occurred_at: new Date('2026-01-02T02:04:05Z'),
    },
  ])
  await send(EVENT)
  const [, plain] = await stored()
  t.strictSame(plain?.properties, {})
  t.strictSame(plain?.occurred_at, plain?.at, 'the time defaults to now')
})

t.test('neither address nor browser is kept', async t => {
  const columns = await query(
    `select column_name as name from information_schema.columns where table_name = 'anonymous_events' order by 1`,
  )
  t.strictSame(
    columns.map(({ name }) => name),
    ['anonymous_id', 'at', 'event_name', 'id', 'occurred_at', 'properties'],
  )
})

t.test('what is no event is refused with what is wrong, and not stored', async t => {
  for (const [body, field] of [
    [{ anonymous_id: 'a' }, 'event_name'],
    [{ event_name: 'x' }, 'anonymous_id'],
    [{ ...EVENT, event_name: '' }, 'event_name'],
    [{ ...EVENT, event_name: 'x'.repeat(101) }, 'event_name'],
    [{ ...EVENT, event_name: 'a\nb' }, 'event_name'],
    [{ ...EVENT, anonymous_id: 'x'.repeat(129) }, 'anonymous_id'],
    [{ ...EVENT, properties: [] }, 'properties'],
    [{ ...EVENT, properties: null }, 'properties'],
    [{ ...EVENT, occurred_at: 'soon' }, 'occurred_at'],
    [{ ...EVENT, occurred_at: '9999-01-01T00:00:00Z' }, 'occurred_at'],
    [{ ...EVENT, user_id: 1 }, 'user_id'],
  ] as const) {
    const { status, body: answered } = await send(body)
    t.equal(status, 422, JSON.stringify(body))
    t.match(answered, { detail: [{ loc: ['body', field] }] })
  }
  t.match(await send('{"event_name": '), { status: 400, body: { error: { code: 'BAD_REQUEST' } } })
  t.strictSame(await stored(), [])
})

t.test('8 KiB are taken, and not a byte more', async t => {
  const sized = (bytes: number) => {
    const empty = JSON.stringify({ ...EVENT, properties: { text: '' } })
    return JSON.stringify({ ...EVENT, properties: { text: 'x'.repeat(bytes - empty.length) } })
  }
  t.equal((await send(sized(8_192))).status, 204)
  t.match(await send(sized(8_193)), {
    status: 413,
    body: { error: { code: 'PAYLOAD_TOO_LARGE', message: /8 KiB/ } },
  })
  t.equal((await stored()).length, 1)
})

t.test('120 a minute of an address are taken', async t => {
  await query(
    `insert into rate_windows values ('events:127.0.0.1', 119, now() + interval '1 minute', 119, now() + interval '1 minute', true)`,
  )
  t.equal((await send(EVENT)).status, 204)
  const { status, headers } = await send(EVENT)
  t.equal(status, 429)
  t.match(headers, { 'x-ratelimit-limit': '120', 'x-ratelimit-remaining': '0', 'retry-after': /^\d+$/ })
  t.equal((await stored()).length, 1)
})

t.test('events are deleted after 90 days', async t => {
  await send(EVENT)
  await query(
    `insert into anonymous_events (id, anonymous_id, event_name, occurred_at, at)
     select gen_random_uuid(), 'old', 'x', now(), now() - interval '91 days' from generate_series(1, 10001)`,
  )
  t.match(await expireRows(server), { anonymous_events: 10_001 })
  t.match(await stored(), [{ anonymous_id: 'browser-1' }])
})

t.test('no body makes it fail', async t => {
  const event = fc.record({
    event_name: fc.string({ unit: 'binary' }),
    anonymous_id: fc.string({ unit: 'binary' }),
    properties: fc.dictionary(fc.string(), fc.jsonValue()),
    occurred_at: fc.oneof(fc.date().map(String), fc.string(), fc.double()),
  })
  await fc.assert(
    fc.asyncProperty(fc.oneof(event, fc.jsonValue()), async body => {
      await query('truncate rate_windows')
      return (await send(JSON.stringify(body))).status < 500
    }),
    { numRuns: 200, seed: 11 },
  )
})
