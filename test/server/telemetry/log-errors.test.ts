import t from 'tap'
import { makeLog } from '../../../server/telemetry/log.ts'

t.test('bytes that an error carries are logged by their number only', t => {
  const lines: string[] = []
  const log = makeLog({ logLevel: 'info', logFormat: 'json' }, { write: line => lines.push(line) })
  const secret = 'Authorization: Bearer aa_live_canary'
  const carry = (message: string, fields: object) => Object.assign(new Error(message), fields)
  const bytes = Buffer.from(secret)
  log.error({ err: carry('parse error', { code: 'HPE_INTERNAL', rawPacket: bytes }) })
  log.error({
    err: carry('outer', { inner: carry('inner', { rawPacket: bytes }), parts: [new Uint8Array(bytes)] }),
  })
  log.error(carry('bare', { rawPacket: bytes, at: new Date(0) }))
  const text = lines.join('')
  t.notOk(text.includes([...bytes].join(',')))
  t.notOk(text.includes(bytes[0] + ',"1":'), 'not as the elements of an object')
  t.equal(text.match(/\[36 bytes\]/g)?.length, 4)
  const [first, second, third] = lines.map(line => (JSON.parse(line) as { err: Record<string, unknown> }).err)
  t.match(first, { type: 'Error', message: 'parse error', stack: /log-errors/, code: 'HPE_INTERNAL' })
  t.match(second, { message: 'outer', inner: { message: 'inner' } })
  t.match(third, { at: '1970-01-01T00:00:00.000Z' }, 'what is no bytes stays')
  t.end()
})
