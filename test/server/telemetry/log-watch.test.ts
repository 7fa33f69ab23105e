/** The search for credentials in the logs of tests finds what is planted, in every form. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { addCredential, formsOf, learnCredentials, LogWatch } from '../../helpers/log-watch.ts'
import { startServer, type Tenant, type TestServer } from '../../helpers/server.ts'

/** A server of its own that ends here, and what its end says. */
async function runOnce(work: (app: TestServer, tenant: Tenant) => unknown): Promise<Error | null> {
  const downs: (() => unknown)[] = []
  const app = await startServer({ teardown: down => downs.unshift(down) }, { isOwn: true })
  await work(app, await app.signUp())
  let problem: Error | null = null
  for (const down of downs) {
    try {
      await down()
    } catch (error) {
      problem = error as Error
    }
  }
  return problem
}

t.test('a server that logs no credential ends well', async t => {
  const problem = await runOnce(({ server }, { email, password }) => {
    server.pino.info({ email, password, token: password }, 'what is redacted is no leak')
  })
  t.equal(problem, null, problem?.message ?? 'nothing found')
})

const PLANTED: Record<string, (app: TestServer, tenant: Tenant) => unknown> = {
  'an API key that a reply gave': ({ server }, { key }) => server.pino.debug({ header: `Bearer ${key}` }),
  'an access token that a reply gave': ({ server }, { token }) => server.pino.info(`asked with ${token}`),
  'a password that a request had': ({ server }, { password }) =>
    server.pino.warn({ note: { given: [password] } }, ''),
  'the bytes of a packet': ({ server }, { key }) =>
    server.pino.info({ packet: [...Buffer.from(`Authorization: Bearer ${key}`)] }),
  'a path': ({ server }, { password }) => server.pino.info(`/login?password=${encodeURIComponent(password)}`),
  'an encoded credential': ({ server }, { email, password }) =>
    server.pino.info({ basic: Buffer.from(`${email}:${password}`).toString('base64') }),
  'the password of the database': ({ server }) =>
    server.pino.error(`cannot reach ${server.config.databaseUrl}`),
}

for (const [name, plant] of Object.entries(PLANTED)) {
  t.test(`${name} in a log line fails the test file`, async t => {
    let tenant: Tenant | undefined
    const problem = await runOnce((app, owner) => plant(app, (tenant = owner)))
    t.match(problem?.message, /^The log holds credentials: /)
    for (const secret of [tenant!.key, tenant!.token, tenant!.password])
      t.notOk(problem?.message.includes(secret), 'without showing it again')
  })
}

t.test('a leak is found however it is written, wherever it begins', t => {
  const secret = `pässword "${randomUUID()}" \\ 100%`
  addCredential(secret)
  t.ok(formsOf(secret).length >= 8)
  const bytes = (offset: number) => Buffer.from(`${'x'.repeat(offset)}${secret}yy`)
  const lines = [
    secret,
    JSON.stringify({ secret }),
    encodeURIComponent(secret),
    ...[0, 1, 2, 3].flatMap(offset =>
      (['base64', 'base64url', 'hex'] as const).map(encoding => bytes(offset).toString(encoding)),
    ),
    JSON.stringify(bytes(4)),
  ]
  for (const line of lines) {
    const watch = new LogWatch()
    watch.write('{"msg":"nothing"}\n')
    watch.write(`{"msg":"${line}"}\n`)
    t.throws(() => watch.check(), { message: /^The log holds credentials: credential in / }, line)
  }
  t.end()
})

t.test('what is no credential is not learned', t => {
  learnCredentials({ token_type: 'a bearer token', name: 'an ordinary name', password: 'short' })
  const watch = new LogWatch()
  watch.write('a bearer token, an ordinary name, short')
  watch.check()
  t.end()
})
