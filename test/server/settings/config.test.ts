import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ConfigError, describeSettings, packageRoot, readConfig } from '../../../server/settings/config.ts'

const key = randomBytes(32).toString('base64')

t.test('nothing needs to be set', async t => {
  t.match(readConfig({}, false), {
    port: 8000,
    host: '127.0.0.1',
    baseUrl: 'http://127.0.0.1:8000',
    role: 'all',
    dataDir: './.data',
    extensions: [],
    fileSources: [],
    defaultPlan: 'enterprise',
    demoEnabled: true,
    trustProxy: 0,
    webhookDelays: [0, 60, 300, 900, 3600],
    webhookPorts: [443],
    statementTimeout: 60,
    timezone: 'UTC',
    logLevel: 'info',
    logFormat: 'json',
  })
  t.match(readConfig({ PORT: '', LOG_LEVEL: '' }), { port: 8000, logLevel: 'info' }, 'empty is not set')
})

t.test('the log is short lines on a terminal and JSON elsewhere, unless it is set', async t => {
  t.equal(readConfig({}, true).logFormat, 'pretty')
  t.equal(readConfig({}, false).logFormat, 'json')
  t.equal(readConfig({ LOG_FORMAT: 'json' }, true).logFormat, 'json')
  t.equal(readConfig({ LOG_FORMAT: 'pretty' }, false).logFormat, 'pretty')
})

t.test('settings are read as what they are', async t => {
  const config = readConfig({
    PORT: '0',
    BASE_URL: 'https://watch.example.com/',
    DATABASE_URL: 'postgres://me@db/tidemark',
    SECRET_KEY: `${key},${key}`,
    EXTENSIONS: '@acme/oracle, ./mine.ts,',
    FILE_SOURCES: `/:${import.meta.dirname}`,
    EGRESS_ALLOW: '10.0.0.0/8,fd00::/8',
    WEBHOOK_DELAYS: '0,0.1',
    WEBHOOK_PORTS: '443, 8443',
    UNKNOWN: 'ignored',
  })
  t.match(config, {
    port: 0,
    baseUrl: 'https://watch.example.com',
    extensions: ['@acme/oracle', './mine.ts'],
    fileSources: ['/', import.meta.dirname],
    egressAllow: ['10.0.0.0/8', 'fd00::/8'],
    webhookDelays: [0, 0.1],
    webhookPorts: [443, 8443],
    demoEnabled: false,
  })
})

t.test(
  'a wrong one is named with what is allowed and what was given, all at once, secrets aside',
  async t => {
    const wrong = {
      PORT: 'abc',
      ROLE: 'queen',
      EGRESS_ALLOW: '10.0.0.0',
      WEBHOOK_DELAYS: '1,x',
      WEBHOOK_PORTS: '443,65536',
      TIMEZONE: 'Mars/Base',
      LOG_LEVEL: 'loud',
      DEFAULT_PLAN: 'gold',
      SECRET_KEY: 'canary',
    }
    const error = t.throws(() => readConfig(wrong)) as ConfigError
    t.ok(error instanceof ConfigError)
    for (const [name, value] of Object.entries(wrong)) {
      t.match(
        error.message,
        new RegExp(`${name}.*${name === 'SECRET_KEY' ? '32 bytes' : `"${value}"`}`),
        name,
      )
    }
    t.match(error.message, /^  ROLE must be one of all, web, worker, not "\w+"$/m)
    t.match(
      t.throws(() => readConfig({ LOG_LEVEL: 'debgu', PORT: '70000' })),
      {
        message:
          /PORT must be a port, 1 to 65535, not "70000"\n.*LOG_LEVEL must be one of .*, not "debgu"; did you mean `debug`\?$/,
      },
    )
    t.notMatch(error.message, 'canary')
    t.throws(() => readConfig({ DATABASE_URL: 'postgres://me@db/x' }), { message: /SECRET_KEY is required/ })
  },
)

t.test('the settings can be listed, secrets hidden', async t => {
  const settings = describeSettings({ PORT: '9000', SECRET_KEY: key })
  t.strictSame(
    settings.filter(({ group }) => !group),
    [],
    'each belongs to a group',
  )
  const of = (name: string) => settings.find(setting => setting.name === name)
  t.match(of('PORT'), { value: '9000', default: '8000', about: /Port/ })
  t.match(of('SECRET_KEY'), { value: '(set, hidden)', default: null })
  t.match(of('DATABASE_URL'), { value: null })
  t.notMatch(JSON.stringify(settings), key)
})

t.test('providers are read by their names, a preset with what it needs', async t => {
  const { oauth } = readConfig({
    OAUTH_GOOGLE_CLIENT_ID: 'mine.apps.googleusercontent.com',
    OAUTH_GOOGLE_CLIENT_SECRET: ' canary ',
    OAUTH_GITHUB_CLIENT_SECRET: 'of no client',
    OAUTH_MY_IDP_ISSUER: 'https://login.example.com/realms/one',
    OAUTH_MY_IDP_CLIENT_ID: 'tidemark',
    OAUTH_MY_IDP_SCOPES: 'openid, email groups',
    OAUTH_TOKEN: 'of another program',
    OAUTH_SLACK_CLIENT_ID: '',
  })
  t.strictSame(Object.fromEntries(oauth), {
    google: {
      clientId: 'mine.apps.googleusercontent.com',
      issuer: 'https://accounts.google.com',
      clientSecret: 'canary',
    },
    my_idp: {
      clientId: 'tidemark',
      issuer: 'https://login.example.com/realms/one',
      scopes: 'openid email groups',
    },
  })
  t.equal(readConfig({}).oauth.size, 0)
})

t.test('a provider that cannot work stops the start with a sentence, and no secret', async t => {
  const messageOf = (settings: Record<string, string>) =>
    (t.throws(() => readConfig(settings)) as ConfigError).message
  t.match(
    messageOf({ OAUTH_GOOGLE_CLIENT_ID: 'x' }),
    /OAUTH_GOOGLE_CLIENT_SECRET is required with OAUTH_GOOGLE_CLIENT_ID/,
  )
  const half = messageOf({ OAUTH_OKTA_CLIENT_SECRET: 'canary', PORT: 'abc' })
  t.match(half, /OAUTH_OKTA_ISSUER is required with OAUTH_OKTA_CLIENT_SECRET/)
  t.match(half, /OAUTH_OKTA_CLIENT_ID is required/)
  t.match(half, /PORT/, 'reported together with all others')
  t.notMatch(half, 'canary')
  const okta = { OAUTH_OKTA_CLIENT_ID: 'x', OAUTH_OKTA_ISSUER: 'https://okta.example.com' }
  t.match(messageOf({ ...okta, OAUTH_OKTA_SCOPES: 'email' }), /OAUTH_OKTA_SCOPES must hold openid.*"email"/)
  for (const issuer of [
    'http://okta.example.com',
    'okta',
    'https://a:b@okta.example.com',
    'https://okta.example.com?x=1',
  ])
    t.match(
      messageOf({ ...okta, OAUTH_OKTA_ISSUER: issuer }),
      /OAUTH_OKTA_ISSUER must be .*https:\/\/.*given was/,
      issuer,
    )
})

t.test('the providers can be listed with the settings, secrets hidden', async t => {
  const settings = describeSettings({
    OAUTH_OKTA_ISSUER: 'https://okta.example.com',
    OAUTH_OKTA_CLIENT_SECRET: 'canary',
  })
  const of = (name: string) => settings.find(setting => setting.name === name)
  t.match(of('OAUTH_<PROVIDER>_CLIENT_ID'), { value: null, about: /callback/ })
  t.match(of('OAUTH_OKTA_ISSUER'), { value: 'https://okta.example.com' })
  t.match(of('OAUTH_OKTA_CLIENT_SECRET'), { value: '(set, hidden)' })
  t.notMatch(JSON.stringify(settings), 'canary')
})

t.test('the package root is the one of this package', async t => {
  t.ok(existsSync(join(packageRoot, 'package.json')))
})
