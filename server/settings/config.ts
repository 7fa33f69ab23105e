import { fileURLToPath } from 'node:url'
import Joi from 'joi'
import { WORDED_CENTRALLY, WORDED_MESSAGES, writeSentence } from '../http/sentences.ts'
import { describeOAuth, readOAuth, type OAuthSettings } from './oauth-settings.ts'
import { defaultFrom, smtpFrom, smtpUrl, type MailAddress, type SmtpServer } from './smtp-settings.ts'
import { cidrs, delays, folders, list, ports, postgresUrl, secretKey } from './setting-schemas.ts'
import { READING_SETTINGS } from './reading-settings.ts'
import { TIMEZONE } from './timezones.ts'

/** Every setting, parsed. Names are those of the environment variables in camelCase. */
export interface Config {
  port: number
  host: string
  /** Address that links in alerts and redirects start with; http://HOST:PORT unless set. */
  baseUrl: string
  role: 'all' | 'web' | 'worker'
  /** Absent: the embedded PostgreSQL under `dataDir`. */
  databaseUrl?: string
  appDatabaseUrl?: string
  dataDir: string
  /** Newest first; absent only with the embedded database, which keeps one of its own. */
  secretKey?: string
  extensions: string[]
  egressAllow?: string[]
  fileSources: string[]
  defaultPlan: Plan
  demoEnabled: boolean
  /** Whether people may create a company without an invitation. */
  registrationEnabled: boolean
  trustProxy: number
  /** Whether people may sign up for the beta, and how many; absent: any number. */
  betaOpen: boolean
  betaCapacity?: number
  /** Seconds before attempt 1, 2, … of a delivery, each counted from the end of the attempt before. */
  webhookDelays: number[]
  /** Ports of public addresses that alerts may be sent to. */
  webhookPorts: number[]
  /** The server that mail is handed to; absent: no mail is sent. */
  smtpUrl?: SmtpServer
  smtpFrom: MailAddress
  /** What the dashboard command is signed in to with; absent: made anew each time. */
  dashboardPassword?: string
  /** Where the operators have published the dashboard; absent: nowhere. */
  dashboardUrl?: string
  /** Seconds after which a statement at a source is cancelled there. */
  statementTimeout: number
  timezone: string
  /** Estimated rows from which the parts of a table that did not change are not read again. */
  partsFromRows: number
  /** Days after which they are read again all the same, and compared. */
  partsRescanDays: number
  /** Days for which results, snapshots and freshness checks are kept, at least. */
  retentionResultsDays: number
  /** The same for schema changes and runs of discovery. */
  retentionChangesDays: number
  profileRowLimit: number
  /** The same for alerts, counted from their end, and for what was sent. */
  retentionAlertsDays: number
  incidentWindowMinutes: number
  incidentDelaySeconds: number
  /** Providers that users may sign in through, by their lower-cased names. */
  oauth: ReadonlyMap<string, OAuthSettings>
  /** Where metrics and health of this process are served; absent: nowhere. */
  metricsPort?: number
  metricsHost: string
  logLevel: string
  logFormat: 'json' | 'pretty'
}

export const PLANS = ['free_trial', 'starter', 'growth', 'professional', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

/** Four weeks, which is what a detector compares a day with, and a week of room. */
const retention = Joi.number().integer().min(35).max(36_500).default(400)

/** One row a setting: what it belongs to, its schema with its default, whether it is secret, and what it does. */
const SETTINGS = {
  PORT: {
    group: 'HTTP',
    schema: Joi.number().port().default(8000),
    about: 'Port of the HTTP server; 0 takes a free one.',
  },
  HOST: {
    group: 'HTTP',
    schema: Joi.string().default('127.0.0.1'),
    about: 'Address the HTTP server listens on.',
  },
  BASE_URL: {
    group: 'HTTP',
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: 'Base address of links; defaults to http://HOST:PORT.',
  },
  ROLE: {
    group: 'Process',
    schema: Joi.string().valid('all', 'web', 'worker').default('all'),
    about: 'What this process does: web serves HTTP, worker works jobs, all does both.',
  },
  DATABASE_URL: {
    group: 'Database',
    schema: postgresUrl,
    secret: true,
    about:
      'PostgreSQL 13 or newer; its role owns the database. Without it an embedded PostgreSQL runs under DATA_DIR.',
  },
  APP_DATABASE_URL: {
    group: 'Database',
    schema: postgresUrl,
    secret: true,
    about: 'Connection as the application role, if the role of DATABASE_URL may not create roles.',
  },
  DATA_DIR: {
    group: 'Process',
    schema: Joi.string().default('./.data'),
    about: 'Folder of the embedded PostgreSQL, its secret key and the demo source.',
  },
  SECRET_KEY: {
    group: 'Database',
    schema: secretKey,
    secret: true,
    about:
      'Encrypts stored secrets: 32 bytes in base64, or several keys separated by commas, newest first. Required with DATABASE_URL.',
  },
  EXTENSIONS: {
    group: 'Process',
    schema: list(',').default([]),
    about: 'Packages or files of extensions (hapi plugins), separated by commas.',
  },
  EGRESS_ALLOW: {
    group: 'Sources',
    schema: cidrs,
    about:
      'CIDRs that sources and webhooks may reach besides public addresses. If unset with the embedded database, sources may reach loopback.',
  },
  FILE_SOURCES: {
    group: 'Sources',
    schema: folders.default([]),
    about: 'Existing folders whose database and data files may be sources, separated by colons.',
  },
  DEFAULT_PLAN: {
    group: 'Accounts',
    schema: Joi.string()
      .valid(...PLANS)
      .default('enterprise'),
    about: 'Plan of new companies; it sets the rate limits of API keys.',
  },
  DEMO_ENABLED: {
    group: 'Accounts',
    schema: Joi.boolean(),
    about: 'Whether to create the demo company; defaults to true with the embedded database, else false.',
  },
  REGISTRATION_ENABLED: {
    group: 'Accounts',
    schema: Joi.boolean().default(true),
    about: 'Whether people without an invitation may register; the first account can always be created.',
  },
  TRUST_PROXY: {
    group: 'HTTP',
    schema: Joi.number().integer().min(0).max(10).default(0),
    about: 'Number of proxies in front, to find the client address.',
  },
  BETA_OPEN: {
    group: 'Accounts',
    schema: Joi.boolean().default(true),
    about: 'Whether the beta accepts sign-ups.',
  },
  BETA_CAPACITY: {
    group: 'Accounts',
    schema: Joi.number().integer().min(0),
    about: 'Maximum number of beta sign-ups; unlimited by default.',
  },
  WEBHOOK_DELAYS: {
    group: 'Alerts',
    schema: delays.default([0, 60, 300, 900, 3600]),
    about: 'Seconds before each delivery attempt, counted from the end of the previous one.',
  },
  SMTP_URL: {
    group: 'Alerts',
    schema: smtpUrl,
    secret: true,
    about:
      'Mail server for alerts, invitations and password resets: smtps://USER:PASSWORD@HOST (TLS) or smtp://… (STARTTLS; with ?tls=off none, for a relay next door).',
  },
  SMTP_FROM: {
    group: 'Alerts',
    schema: smtpFrom,
    about:
      'Sender of mail, such as Tidemark <alerts@example.com>; defaults to tidemark@ the host of BASE_URL.',
  },
  WEBHOOK_PORTS: {
    group: 'Alerts',
    schema: ports.default([443]),
    about:
      'Ports of public addresses that alerts may be sent to; networks of EGRESS_ALLOW are reachable on any port.',
  },
  DASHBOARD_PASSWORD: {
    group: 'Operation',
    schema: Joi.string().min(12),
    secret: true,
    about: 'Password of the dashboard command, 12 characters or more; generated and printed by default.',
  },
  DASHBOARD_URL: {
    group: 'Operation',
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: 'Address of the job dashboard, if you publish it: admins see a link to it in the console.',
  },
  ...READING_SETTINGS,
  RETENTION_RESULTS_DAYS: {
    group: 'Retention',
    schema: retention,
    about:
      'Days to keep results, snapshots, freshness checks, profiles and the history of contracts; 35 or more.',
  },
  RETENTION_CHANGES_DAYS: {
    group: 'Retention',
    schema: retention,
    about: 'Days to keep schema changes and discovery runs; 35 or more.',
  },
  RETENTION_ALERTS_DAYS: {
    group: 'Retention',
    schema: retention,
    about: 'Days to keep closed alerts and what was sent; 35 or more.',
  },
  INCIDENT_WINDOW_MINUTES: {
    group: 'Alerts',
    schema: Joi.number().integer().min(1).max(10_080).default(60),
    about: 'Minutes after the last alert of an incident within which related alerts join it.',
  },
  INCIDENT_DELAY_SECONDS: {
    group: 'Alerts',
    schema: Joi.number().integer().min(0).max(600).default(5),
    about: 'Seconds for which alerts are gathered before they become incidents, and are sent as such.',
  },
  TIMEZONE: {
    group: 'Sources',
    schema: TIMEZONE.default('UTC'),
    about:
      'Time zone of timestamps without one: of sources that set none, and of times in requests and events.',
  },
  METRICS_PORT: {
    group: 'Operation',
    schema: Joi.number().port(),
    about: 'Port that serves /metrics and /health of this process, in every role; off by default.',
  },
  METRICS_HOST: {
    group: 'Operation',
    schema: Joi.string().default('127.0.0.1'),
    about: 'Address that METRICS_PORT listens on, which has no authentication.',
  },
  LOG_LEVEL: {
    group: 'Operation',
    schema: Joi.string().valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').default('info'),
    about: 'Lowest level that is logged.',
  },
  LOG_FORMAT: {
    group: 'Operation',
    schema: Joi.string().valid('json', 'pretty'),
    about: 'json, or pretty for short lines; defaults to pretty on a terminal, else json.',
  },
} satisfies Record<string, { group: string; schema: Joi.Schema; secret?: true; about: string }>

const schema = Joi.object(
  Object.fromEntries(
    Object.entries(SETTINGS).map(([name, setting]) => [name, setting.schema.empty('').label(name)]),
  ),
).prefs({ abortEarly: false, errors: { wrap: { label: false } }, messages: WORDED_MESSAGES })

/** Wrong settings: the message names each with what is allowed and what was given. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * Reads the settings.
 * @param environment variables by name; others than ours are ignored
 * @param isTerminal whether the log goes to a terminal, where it defaults to short lines
 * @throws ConfigError naming every wrong setting
 */
export function readConfig(
  environment: Record<string, string | undefined> = process.env,
  isTerminal = process.stderr.isTTY ?? false,
): Config {
  const given = Object.fromEntries(Object.keys(SETTINGS).map(name => [name, environment[name]]))
  const { value, error } = schema.validate(given)
  const oauth = readOAuth(environment)
  const lines = (error?.details ?? []).map(({ path, type, context = {}, message }) => {
    const name = String(path[0])
    const isSecret = 'secret' in SETTINGS[name as keyof typeof SETTINGS]
    const subject = { name, isRoot: false, isQuery: false, isSecret }
    // As it was written: a number was read from it.
    const value = given[name]
    if (message === WORDED_CENTRALLY) {
      const { text } = writeSentence(type, subject, { ...context, value }) ?? { text: `${name} ${message}` }
      return `  ${text}`
    }
    return `  ${message}${isSecret ? '' : `; given was ${JSON.stringify(value)}`}`
  })
  lines.push(...oauth.problems)
  if (lines.length > 0) throw new ConfigError(`Wrong settings:\n${lines.join('\n')}`)
  if (value.DATABASE_URL && !value.SECRET_KEY)
    throw new ConfigError(
      'Wrong settings:\n  SECRET_KEY is required with DATABASE_URL: make one with openssl rand -base64 32, and keep it',
    )
  const baseUrl: string = (value.BASE_URL ?? `http://${value.HOST}:${value.PORT}`).replace(/\/+$/, '')
  return {
    ...(Object.fromEntries(
      Object.entries(value).map(([name, setting]) => [camelCase(name), setting]),
    ) as unknown as Config),
    baseUrl,
    smtpFrom: value.SMTP_FROM ?? defaultFrom(baseUrl),
    demoEnabled: value.DEMO_ENABLED ?? value.DATABASE_URL === undefined,
    logFormat: value.LOG_FORMAT ?? (isTerminal ? 'pretty' : 'json'),
    oauth: oauth.providers,
  }
}

/** The names in EXTENSIONS, whatever the other settings are: the command line needs them for wrong settings, too. */
export function readExtensionNames(environment: Record<string, string | undefined> = process.env): string[] {
  return (SETTINGS.EXTENSIONS.schema.validate(environment.EXTENSIONS || undefined).value ?? []) as string[]
}

/** Every setting with its value (secrets hidden), its default and what it does; for `tidemark settings`. */
export function describeSettings(
  environment: Record<string, string | undefined> = process.env,
): { group: string; name: string; value: string | null; default: string | null; about: string }[] {
  const settings = Object.entries(SETTINGS).map(([name, setting]) => {
    const fallback = setting.schema.describe().flags as { default?: unknown } | undefined
    const given = environment[name] || null
    return {
      group: setting.group,
      name,
      value: given !== null && 'secret' in setting ? '(set, hidden)' : given,
      default: fallback?.default === undefined ? null : String(fallback.default),
      about: setting.about,
    }
  })
  return [...settings, ...describeOAuth(environment)]
}

function camelCase(name: string): string {
  return name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** The folder of the package itself, for files that ship with it. */
export const packageRoot = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../..' : '../../..', import.meta.url),
)

/** The defaults, with the extensions of the environment. */
export const readExtensionConfig = (): Config => readConfig({ EXTENSIONS: process.env.EXTENSIONS })
