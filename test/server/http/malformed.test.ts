import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { openApi } from '../../../server/openapi/openapi.ts'
import { ignoreCredentials } from '../../helpers/log-watch.ts'
import { malformedRequests, ODD, sendAll } from '../../helpers/malformed.ts'
import { startServer } from '../../helpers/server.ts'
import { sharedCount } from '../../helpers/share.ts'

const COUNT = sharedCount(800)
/** So that none comes to its 100 a second. */
const KEYS = 20

const app = await startServer(t)
ignoreCredentials(ODD)
const { companyId } = await app.signUp()

interface Described {
  type: string
  keys?: Record<string, Described>
  items?: Described[]
  matches?: { schema?: Described }[]
  rules?: { name: string; args?: { limit?: unknown } }[]
}

/** The paths of the dates in a schema that take any year. */
function endlessDates(
  { type, keys = {}, items = [], matches = [], rules = [] }: Described,
  path = '',
): string[] {
  const inner = [
    ...Object.entries(keys).map(([name, child]) => [child, `${path}.${name}`] as const),
    ...items.map(child => [child, `${path}[]`] as const),
    ...matches.flatMap(({ schema }) => (schema ? [[schema, path] as const] : [])),
  ].flatMap(([child, at]) => endlessDates(child, at))
  const isEndless = type === 'date' && !rules.some(({ name }) => ['max', 'less', 'custom'].includes(name))
  return isEndless ? [path, ...inner] : inner
}

t.test('no body takes a date that is answered in a form which common clients cannot parse', t => {
  const found = app.server.table().flatMap(({ method, path, settings }) => {
    const schema = settings.validate?.payload as { describe?(): Described } | undefined
    return endlessDates(schema?.describe?.() ?? { type: 'any' }).map(field => `${method} ${path} ${field}`)
  })
  t.strictSame(found, [])
  t.end()
})

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
