import t from 'tap'
import { startServer } from '../../helpers/server.ts'

const { server, signUp } = await startServer(t)
const { key } = await signUp()

async function payloadFor(path: string, headers: Record<string, string>): Promise<string> {
  const { payload } = await server.inject({
    url: path,
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
  return payload
}

t.test('curl gets JSON that a person can read, errors too, and so does who asks for it', async t => {
  const curl = { 'user-agent': 'curl/8.5.0', accept: '*/*' }
  const asked = { 'user-agent': 'python-requests/2', accept: 'application/json; indent=2' }
  for (const headers of [curl, asked]) {
    for (const path of ['/api/v1/assets', '/api/v1/assets/none', '/api/v1/assets?limt=1', '/nowhere']) {
      const payload = await payloadFor(path, headers)
      t.equal(payload, `${JSON.stringify(JSON.parse(payload), null, 2)}\n`, path)
    }
  }
})

t.test('programs get one line', async t => {
  for (const headers of [
    { 'user-agent': 'python-requests/2', accept: '*/*' },
    { 'user-agent': 'curl/8.5.0', accept: 'application/json' },
  ]) {
    const payload = await payloadFor('/api/v1/assets', headers)
    t.equal(payload, JSON.stringify(JSON.parse(payload)))
  }
})

t.test('what is no object is left as it is', async t => {
  const curl = { 'user-agent': 'curl/8.5.0', accept: '*/*' }
  for (const path of ['/openapi.json', '/api/public/docs/index.md', '/'])
    t.equal(await payloadFor(path, curl), await payloadFor(path, {}), path)
})
