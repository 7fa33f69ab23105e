import assert from 'node:assert/strict'
import type { ConnectorError } from '../errors.ts'
import type { Stage } from '../connector.ts'
import { assertRejects, failIfHung, query, type ConformanceKit, type PromiseGroup } from './kit.ts'

/** A key of a Joi schema as `describe` returns it. */
interface ConfigKeyDescription {
  metas?: { secret?: boolean; address?: boolean; tls?: boolean }[]
}

/** What some drivers take for a host, and would then open on their own. */
const INVALID_HOSTS = [
  '/var/run/database',
  './socket',
  'https://db.example.com',
  'reader@db.example.com',
  'db.example.com/path',
  'db.example.com ssl=off',
]

const HOST_NAMES = /^(host|hostname|server|server_hostname|endpoint)$/

/** Keys that decide which server receives the secrets. */
const ADDRESSES = /^(host|hostname|server|server_hostname|endpoint|port|ur[il]|account|proxy\w*)$/

/** Keys that decide how the secrets are protected on the way. */
const TLS_SETTINGS = /^(ssl|tls|encrypt|verify)/

/** What a configuration may hold and what is said of one that does not work. */
export const configGroups: readonly PromiseGroup[] = [
  {
    name: 'config',
    async run(kit) {
      const keys = keysOf(kit)
      await kit.holds('a working configuration is accepted and secrets are marked', async () => {
        kit.validate(kit.rawConfig)
        for (const [name, key] of Object.entries(keys)) {
          if (!/password|token|secret|private_key|credentials/i.test(name)) continue
          assert.ok(isMarked(key, 'secret'), `${name} is marked .meta({ secret: true })`)
        }
      })
      const hasSecrets = Object.values(keys).some(key => isMarked(key, 'secret'))
      const withoutSecrets = hasSecrets ? undefined : 'the configuration has no secrets'
      await kit.holdsUnless(
        withoutSecrets,
        'what decides who gets the secrets is marked as an address',
        async () => {
          for (const [name, key] of Object.entries(keys)) {
            const isMeant = isMarked(key, 'address') || !ADDRESSES.test(name)
            assert.ok(isMeant, `${name} is marked .meta({ address: true })`)
          }
          const isAnyMarked = Object.values(keys).some(key => isMarked(key, 'address'))
          assert.ok(
            isAnyMarked || kit.fixture.hasFixedAddress,
            'something is marked .meta({ address: true })',
          )
        },
      )
      await kit.holdsUnless(
        withoutSecrets,
        'what protects the secrets on the way is marked as TLS, as an address, or is a secret itself',
        async () => {
          for (const [name, key] of Object.entries(keys)) {
            const isMeant = isMarked(key, 'tls', 'address', 'secret') || !TLS_SETTINGS.test(name)
            assert.ok(isMeant, `${name} is marked .meta({ tls: true })`)
          }
        },
      )
      await kit.holds('an unknown key is refused, so that no driver option slips in', async () => {
        const { error } = kit.connector.config.validate({ ...kit.rawConfig, no_such_option: true })
        assert.ok(error, 'refused')
      })
      await kit.holds('an empty configuration is refused', async () => {
        assert.ok(kit.connector.config.validate({}).error, 'refused')
      })
      const hosts = Object.keys(keys).filter(name => HOST_NAMES.test(name))
      await kit.holdsUnless(
        hosts.length === 0 ? 'the configuration has no host' : undefined,
        'a host is a name or an address, no path and no URL',
        async () => {
          for (const name of hosts) {
            for (const host of INVALID_HOSTS) {
              const { error } = kit.connector.config.validate({ ...kit.rawConfig, [name]: host })
              assert.ok(error, `${name} ${host} is refused`)
            }
          }
        },
      )
    },
  },
  {
    name: 'refusals',
    async run(kit) {
      for (const { name, config, kind } of kit.fixture.refused) {
        await kit.holds(`${name} is refused with kind ${kind}, in words and without a secret`, async () => {
          const opened = kit.session(async () => {}, kit.validate(config))
          const error = await assertRejects(kind, opened)
          assertAdvises(error, kit)
          assertNoSecrets(error, kit, config)
        })
        await kit.holds(`${name} fails one stage of test() and skips the later ones`, async () => {
          const stages = await failIfHung(kit.connector.test(kit.validate(config), kit.options))
          const failed = stages.findIndex(stage => stage.status === 'failed')
          assert.equal(stages[failed]?.error?.kind, kind)
          const later = stages.slice(failed + 1)
          assert.ok(later.every(stage => stage.status === 'skipped' && stage.latencyMs === 0))
          assert.ok(stages.slice(0, failed).every(stage => stage.status !== 'failed'))
          assertAdvises(stages[failed]?.error as ConnectorError, kit)
          for (const stage of stages) assertNoSecretsInStage(stage, kit, config)
        })
      }
      const { revokeAccess: revoked } = kit.fixture
      await kit.holdsUnless(
        revoked ? undefined : 'the fixture revokes nothing',
        'what may not be read is refused with kind permission and advice, and the session goes on',
        async () => {
          const { statement, config = kit.rawConfig } = (await revoked?.()) ?? {}
          assert.ok(statement)
          await kit.session(async connection => {
            const error = await assertRejects('permission', query(connection, statement))
            assertAdvises(error, kit)
            assert.match(error.message, /grant|allow|give|right|privilege|role|access/i, 'it advises')
            assertNoSecrets(error, kit, config)
            await connection.introspect({ tables: [] })
          }, kit.validate(config))
        },
      )
    },
  },
]

function keysOf({ connector }: ConformanceKit): Record<string, ConfigKeyDescription> {
  return connector.config.describe().keys as Record<string, ConfigKeyDescription>
}

function isMarked({ metas = [] }: ConfigKeyDescription, ...marks: ('secret' | 'address' | 'tls')[]): boolean {
  return metas.some(meta => marks.some(mark => meta[mark]))
}

/** A sentence of its own, beside the engine's name and code, which programs read. */
function assertAdvises(error: ConnectorError, { connector }: ConformanceKit): void {
  assert.equal(error.engine, connector.name)
  assert.ok(error.message.split(/\s+/).length >= 4, `a sentence, not ${JSON.stringify(error.message)}`)
}

/** The message is shown; messages and stacks of the causes are logged with it. */
function assertNoSecrets(error: ConnectorError, kit: ConformanceKit, config: Record<string, unknown>): void {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    assertNoSecretIn(`${each.message}\n${each.stack}`, kit, config)
  }
}

function assertNoSecretsInStage(stage: Stage, kit: ConformanceKit, config: Record<string, unknown>): void {
  assert.ok(stage.message.length > 0)
  assertNoSecretIn(stage.message, kit, config)
  if (stage.error) assertNoSecrets(stage.error, kit, config)
}

/** No secret of the configuration stands in a text, nor a line of one; three characters are found anywhere. */
function assertNoSecretIn(text: string, kit: ConformanceKit, config: Record<string, unknown>): void {
  const secrets = Object.entries(keysOf(kit)).flatMap(([name, key]) =>
    isMarked(key, 'secret') ? [config[name]] : [],
  )
  const lines = secrets.flatMap(secret =>
    (typeof secret === 'string' ? secret : JSON.stringify(secret ?? '')).split(/\\n|\s*\n\s*/),
  )
  for (const line of lines) {
    if (line.length > 3 && !line.startsWith('-----')) assert.ok(!text.includes(line), 'no secret is shown')
  }
}
