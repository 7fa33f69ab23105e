import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { openApi } from '../../server/openapi.ts'
import { malformedRequests, sendAll } from '../helpers/malformed.ts'
import { startServer } from '../helpers/server.ts'

const COUNT = 800
/** So that none comes to its 100 a second. */
const KEYS = 20

const app = await startServer(t)
const { companyId } = await app.signUp()

t.test('requests gone wrong are answered by sentences of ours, never by a failure', async t => {
  const keys = Array.from({ length: KEYS }, () => `aa_${randomBytes(30).toString('base64url')}`)
  await app.query(
    `insert into api_keys (id, company_id, name, key_hash, key_prefix, key_suffix, scope)
     select gen_random_uuid(), $1, 'malformed', hash, 'aa_', '0000', 'admin' from unnest($2::bytea[]) hash`,
    [companyId, keys.map(key => createHash('sha256').update(key).digest())],
  )
  const requests = malformedRequests(openApi(app.server, ''), { count: COUNT, seed: 13, keys })
  t.equal(requests.length, COUNT)
  t.ok(new Set(requests.map(({ method, path }) => method + path)).size > COUNT / 2, 'of many kinds')
  t.strictSame(await sendAll(app.server.info.uri, requests), [])
})
