import t from 'tap'
import { maskedErrorFields } from '../../../server/telemetry/log-errors.ts'
import { makeLog } from '../../../server/telemetry/log.ts'
import { formsOf } from '../../helpers/log-watch.ts'

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

t.test('an error of an extension is logged without secrets, in whatever form, and never whole sockets', t => {
  const secret = 'pa55-wörd/with+"quotes"'
  const fields = (thrown: unknown, secrets = [secret]) => JSON.stringify(maskedErrorFields(thrown, secrets))
  const basic = Buffer.from(`user:${secret}`).toString('base64')
  const error = Object.assign(
    new Error(`refused ${secret}`, { cause: new Error(encodeURIComponent(secret)) }),
    {
      url: new URL(`https://x.example/?q=${encodeURIComponent(secret)}`),
      config: {
        headers: [`Basic ${basic}`],
        data: JSON.stringify({ secret }),
        hex: Buffer.from(secret).toString('hex'),
      },
    },
  )
  const text = fields(error)
  for (const form of formsOf(secret)) t.notMatch(text, form.replaceAll(/[^\w]/g, String.raw`\$&`))
  t.match(maskedErrorFields(error, [secret]), {
    type: 'Error',
    message: /^refused …/,
    stack: /log-errors\.test/,
  })
  t.match(fields(new Error('x?token=abc of https://me:pw@x')), 'x?token=… of https://…@x')
  t.notMatch(fields(new Error('x?token=abc of https://me:pw@x')), /abc|me:pw/)
  t.match(maskedErrorFields(new Error('id 7'), ['7', '']), { message: 'id 7' }, 'a short one hides nothing')

  for (const thrown of [null, undefined, 'text', 7, () => 1, Symbol('x'), { code: 1 }, Object.create(null)])
    t.type(JSON.parse(fields(thrown)), 'object')
  const bad = Object.defineProperty(new Error('x'), 'bad', { enumerable: true, get: () => fail() })
  t.match(maskedErrorFields(bad, []), { message: /cannot be read/ })
  const wide = Object.fromEntries(Array.from({ length: 50 }, (_, place) => [`f${place}`, {} as object]))
  for (const part of Object.values(wide)) Object.assign(part, wide)
  t.ok(fields(Object.assign(new Error('x'), wide)).length < 200_000)
  t.ok(fields(new Error('x'.repeat(1_000_000))).length < 100_000)
  t.end()
})

function fail(): never {
  throw new Error('a getter')
}
