import { generateKeyPairSync, randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { share } from '../../../helpers/share.ts'

const app = await startServer(t, {
  settings: { EXTENSIONS: new URL('../../../helpers/extensions/guarded-engine.ts', import.meta.url).href },
})
const tenant = await app.signUp()

const SOURCES = '/api/v1/sdk/assets'
const patch = (id: string, config: object) =>
  tenant.ask('PATCH', `${SOURCES}/${id}`, { connection_config: config })

async function add(engine: string, config: object): Promise<string> {
  const body = { name: `source-${randomUUID()}`, source_type: engine, connection_config: config }
  const made = await tenant.ask('POST', SOURCES, body)
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body.data.id
}

const key = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey
const account = (name: string) => ({
  type: 'service_account',
  client_email: `${name}@acme.example`,
  private_key: key(),
})
const authority = (name: string) =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(name).toString('base64')}\n-----END CERTIFICATE-----\n`

/** The words of libpq, from the weakest. */
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

/** What a change of one field needs: `secret` is given again, or `nothing`. */
interface Field {
  other: unknown
  needs: 'secret' | 'nothing'
}

interface Engine {
  config: Record<string, unknown>
  /** Secrets as they are given again. */
  secrets: Record<string, unknown>
  fields: Record<string, Field>
}

const server = (tls: string): Engine => ({
  config: {
    host: 'db.example.com',
    port: 1234,
    database: 'shop',
    username: 'reader',
    password: 'a secret',
    [tls]: 'verify-full',
    ssl_ca: authority('ours'),
  },
  secrets: { password: 'a secret' },
  fields: {
    host: { other: 'elsewhere.example.com', needs: 'secret' },
    port: { other: 1235, needs: 'secret' },
    database: { other: 'stock', needs: 'nothing' },
    username: { other: 'another', needs: 'nothing' },
    [tls]: { other: 'verify-ca', needs: 'secret' },
    ssl_ca: { other: authority('theirs'), needs: 'secret' },
  },
})

/** Every field of every engine that has secrets. */
const ENGINES: Record<string, Engine> = {
  postgresql: server('sslmode'),
  redshift: server('sslmode'),
  mysql: server('ssl'),
  snowflake: {
    config: { account: 'acme-one', warehouse: 'W', database: 'D', username: 'reader', password: 'token' },
    secrets: { password: 'token' },
    fields: {
      account: { other: 'acme-two', needs: 'secret' },
      warehouse: { other: 'V', needs: 'nothing' },
      database: { other: 'E', needs: 'nothing' },
      schema: { other: 'S', needs: 'nothing' },
      role: { other: 'R', needs: 'nothing' },
      username: { other: 'another', needs: 'nothing' },
    },
  },
  bigquery: {
    config: { project_id: 'acme-shop', credentials_json: account('reader') },
    secrets: { credentials_json: account('reader') },
    fields: {
      // The key goes to Google alone, whatever project is read.
      project_id: { other: 'acme-stock', needs: 'nothing' },
      dataset: { other: 'sales', needs: 'nothing' },
      location: { other: 'EU', needs: 'nothing' },
      maximum_bytes_billed: { other: 10_485_760, needs: 'nothing' },
    },
  },
  databricks: {
    config: {
      host: 'adb-1.azuredatabricks.net',
      http_path: '/sql/1.0/warehouses/1a',
      access_token: 'pat',
      default_catalog: 'shop',
    },
    secrets: { access_token: 'pat' },
    fields: {
      host: { other: 'adb-2.azuredatabricks.net', needs: 'secret' },
      // A warehouse of the same workspace, which takes the token before it looks at the path.
      http_path: { other: '/sql/1.0/warehouses/2b', needs: 'nothing' },
      default_catalog: { other: 'stock', needs: 'nothing' },
    },
  },
  guarded: {
    config: { endpoint: 'one', api_token: 'token' },
    secrets: { api_token: 'token' },
    fields: {
      endpoint: { other: 'two', needs: 'secret' },
      tls: { other: false, needs: 'secret' },
      verification: { other: 'chain', needs: 'secret' },
      // Without an order of its values, any other one may be weaker.
      ciphers: { other: 'NULL', needs: 'secret' },
      page_size: { other: 5, needs: 'nothing' },
    },
  },
}

interface Described {
  keys: Record<string, { metas?: { secret?: true }[] }>
}

/** The names of the secrets of an engine. */
function secretsOf(engine: string): string[] {
  const { keys } = app.server.connectors.get(engine).config.describe() as unknown as Described
  return Object.keys(keys).filter(name => keys[name]?.metas?.some(({ secret }) => secret))
}

t.test(
  'a stored secret goes to another address, or over weaker TLS, only when it is given again',
  async t => {
    const { connectors } = app.server
    const withSecrets = connectors.names().filter(name => secretsOf(name).length > 0)
    t.strictSame(withSecrets, Object.keys(ENGINES).sort(), 'all engines with secrets are tried')
    for (const [engine, { config, secrets, fields }] of Object.entries(ENGINES)) {
      const { keys } = connectors.get(engine).config.describe() as unknown as Described
      const open = Object.keys(keys).filter(name => !secretsOf(engine).includes(name))
      t.strictSame(open.sort(), Object.keys(fields).sort(), `${engine}: every field is tried`)
      const [secret] = Object.keys(secrets)
      for (const [field, { other, needs }] of share(Object.entries(fields), `fields of ${engine}`)) {
        const id = await add(engine, config)
        const label = `${engine}: another ${field}`
        const changed = await patch(id, { [field]: other })
        if (needs === 'nothing') {
          t.match(changed, { status: 200 }, label)
          continue
        }
        t.match(
          changed,
          {
            status: 400,
            body: {
              error: {
                code: 'VALIDATION_ERROR',
                details: {
                  field: `connection_config.${secret}`,
                  error: new RegExp(`has to be given again with (another|a weaker) ${field}`),
                },
              },
            },
          },
          label,
        )
        t.match(await patch(id, { [field]: other, ...secrets }), { status: 200 }, `${label}, with the secret`)
        t.match(await patch(id, { [field]: other }), { status: 200 }, `${label} is the same now`)
      }
    }
  },
)

t.test('a mode of TLS may be made stronger, not weaker, without the secret', async t => {
  for (const [engine, field] of [
    ['postgresql', 'sslmode'],
    ['redshift', 'sslmode'],
    ['mysql', 'ssl'],
  ] as const) {
    const { ssl_ca: _, ...config } = ENGINES[engine]!.config
    for (const [from, former] of MODES.entries()) {
      const id = await add(engine, { ...config, [field]: former })
      for (const [to, mode] of MODES.entries()) {
        const label = `${engine}: ${former} to ${mode}`
        const { status, body } = await patch(id, { [field]: mode })
        t.equal(status, to < from ? 400 : 200, label)
        if (status === 400) t.match(body.error.message, `given again with a weaker ${field}`, label)
        else await patch(id, { [field]: former, password: 'a secret' })
      }
    }
  }
})

t.test('taking a setting out counts as what it then is', async t => {
  const { config } = ENGINES.postgresql!
  const id = await add('postgresql', config)
  for (const field of ['port', 'sslmode', 'ssl_ca'])
    t.match(await patch(id, { [field]: null }), { status: 400 }, field)
  const both = await patch(id, { port: 1, sslmode: null })
  t.match(both.body.error.message, 'given again with another port and a weaker sslmode')
  const guarded = await add('guarded', { ...ENGINES.guarded!.config, tls: false, verification: 'none' })
  t.match(
    await patch(guarded, { tls: null, verification: null }),
    { status: 200 },
    'the defaults are stronger',
  )
})

t.test('a source without a secret of its own has none to lose', async t => {
  const id = await add('postgresql', { ...ENGINES.postgresql!.config, password: '' })
  t.match(await patch(id, { port: 1, sslmode: 'disable' }), { status: 200 })
})

t.test('two names of one field are refused together', async t => {
  for (const [engine, alias, field] of [
    ['postgresql', 'user', 'username'],
    ['redshift', 'user', 'username'],
    ['mysql', 'user', 'username'],
    ['guarded', 'token', 'api_token'],
  ] as const) {
    const { config } = ENGINES[engine]!
    const refusal = {
      status: 400,
      body: {
        error: {
          message: `${alias} and ${field} are two names of one field: give one of them`,
          details: { field: `connection_config.${alias}` },
        },
      },
    }
    const body = {
      name: `source-${randomUUID()}`,
      source_type: engine,
      connection_config: { ...config, [alias]: 'another' },
    }
    t.match(await tenant.ask('POST', SOURCES, body), refusal, `${engine}: a new source`)
    const id = await add(engine, config)
    t.match(await patch(id, { [alias]: 'a', [field]: 'b' }), refusal, `${engine}: a patch`)
    t.match(await patch(id, { [alias]: 'a' }), { status: 200 }, `${engine}: one of them`)
  }
})
