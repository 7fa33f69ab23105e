/**
 * Holds who may import what, by reading the sources. Every rule is also shown a made-up file that breaks it and
 * one that comes close but does not.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { STILL_OPEN } from './helpers/open-architecture.ts'
import { GENERATED_FILE, parseSource, readSources, root, type Source } from './helpers/sources.ts'

/** A rule names the offenders of one file, each as what it does wrong. */
interface Rule {
  promise: string
  offences(source: Source): string[]
  /** Path and text of files that break it. */
  bad: [string, string][]
  /** Path and text of files that do not. */
  good: [string, string][]
  /** Files, or single offences, that are left from before the rule: each is to go, and none to come. */
  open?: readonly string[]
}

const sources = readSources()

/** Engines are what the manifest takes from connectors/. */
const engines = parseSource('server/manifest.ts', readFileSync(join(root, 'server/manifest.ts'), 'utf8'))
  .imports.map(({ target = '' }) => target)
  .filter(target => target.startsWith('connectors/') && target !== 'connectors/connector.ts')
  .map(target => target.replace(/\/index\.ts$/, '/'))

const isEngine = (target: string) => engines.some(engine => target.startsWith(engine))
/** The kit runs a check type on a database that every Node has. */
const isKitDatabase = ({ path }: Source) => path === 'checks/conformance/memory-database.ts'
const isInterface = (target: string) =>
  (target.startsWith('connectors/') && !isEngine(target)) || /^checks\/(sql\/)?[^/]+\.ts$/.test(target)

/** Imports of files of ours that a rule does not allow. */
function wrongTargets(
  { imports }: Source,
  isAllowed: (target: string, isType: boolean) => boolean,
): string[] {
  return imports.flatMap(({ target, isType }) =>
    target === undefined || isAllowed(target, isType) ? [] : [`imports ${target}`],
  )
}

/** Packages are named with what is below them: `pg` is also `pg/lib/…`. */
function wrongPackages({ imports }: Source, ...names: string[]): string[] {
  return imports.flatMap(({ specifier }) =>
    names.some(name => specifier === name || specifier.startsWith(`${name}/`))
      ? [`imports ${specifier}`]
      : [],
  )
}

function matches({ text }: Source, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([found]) => `says ${found.trim()}`)
}

const CHECKED = ['auth', 'alerts', 'catalog', 'checks', 'validity', 'metrics', 'freshness']

/** Which features each feature may use; no feature uses `public`, `console` and `demo`. */
const below: Record<string, string[]> = {
  auth: [],
  alerts: ['auth'],
  catalog: ['auth', 'alerts'],
  operatingSchedules: ['auth'],
  checks: ['auth', 'alerts', 'catalog', 'operatingSchedules'],
  validity: ['auth', 'alerts', 'catalog', 'checks', 'operatingSchedules'],
  referential: ['auth', 'alerts', 'catalog', 'checks', 'operatingSchedules'],
  metrics: ['auth', 'alerts', 'catalog', 'checks', 'operatingSchedules'],
  freshness: ['auth', 'alerts', 'catalog', 'checks', 'operatingSchedules'],
  monitors: ['auth', 'alerts', 'catalog', 'checks', 'validity', 'metrics', 'referential', 'freshness'],
  profiles: ['auth', 'alerts', 'catalog', 'checks'],
  recommendations: [...CHECKED, 'referential', 'profiles'],
  badges: ['auth', 'catalog'],
  preferences: ['auth', 'alerts', 'catalog'],
  owners: ['auth', 'alerts', 'catalog'],
  lineage: ['auth', 'alerts', 'catalog', 'owners'],
  contracts: [...CHECKED, 'referential', 'recommendations', 'badges'],
}
const usable = Object.keys(below)

const CHECK_KIT = 'plugins/checks/kit.ts'

/** Tables of features above that one may read all the same: what explains an incident. */
const readAbove: Record<string, string[]> = {
  alerts: ['tables', 'schema_changes', 'checks'],
}

/** The feature that a file belongs to, by its name in `server.plugins`. */
function featureOf(path: string): string | undefined {
  const [, folder] = /^plugins\/([^/]+)\//.exec(path) ?? []
  return folder?.replace(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase())
}

/** The features that a feature may use, itself included. */
function usableBy(feature = ''): string[] {
  return [feature, ...(below[feature] ?? usable)]
}

/** A file without its comments, whose words are English. */
function codeOf({ text }: Source): string {
  return text.replaceAll(/(^|\s)\/\*[\s\S]*?\*\//g, '$1').replaceAll(/(^|\s)\/\/ .*/g, '$1')
}

/** What a file of a feature says, as pairs of a name and the feature. */
function namedBy(path: RegExp, name: RegExp): [string, string][] {
  return sources.flatMap(source => {
    const feature = featureOf(source.path)
    return feature && path.test(source.path)
      ? [...codeOf(source).matchAll(name)].map(([, named = '']): [string, string] => [named, feature])
      : []
  })
}

/** The feature that owns each table: by its models, or by the statements that insert into it. */
const tableOwners = new Map([
  ...namedBy(/\.ts$/, /\binsert into (\w+)/g),
  ...namedBy(/\/models\.ts$/, /tableName = '(\w+)'/g),
])

/** The tables that other features may read, as the api.ts of each feature names them. */
const readableTables = new Set(
  namedBy(/^plugins\/[^/]+\/api\.ts$/, /READABLE_TABLES = \[([^\]]*)\]/g).flatMap(([list]) =>
    [...list.matchAll(/'(\w+)'/g)].map(([, table]) => table),
  ),
)

/** Statements, and helpers of server/, that write a table. */
const WRITES =
  /\b(?:(?:insert into|delete from|update|merge into|truncate)\s+(?:only\s+)?|(?:claimDue|deleteFirst)\((?:trx, )?'|\btable: ')([a-z_]+)\b/g
const READS = /(?<!\bdelete )\b(?:from|join)\s+(?:only\s+)?([a-z_]+)\b/g

/** Tables of other features that a file of a feature names in some way. */
function foreignTables(source: Source, pattern: RegExp): { table: string; owner: string }[] {
  const own = featureOf(source.path)
  if (own === undefined) return []
  return [...codeOf(source).matchAll(pattern)].flatMap(([, table = '']) => {
    const owner = tableOwners.get(table)
    return owner === undefined || owner === own ? [] : [{ table, owner }]
  })
}

/** Files that put a feature together, or run it from outside: the command line builds a server of its own. */
const TAKES_SERVER = /\/(index|deps|(.+-)?routes|(.+-)?jobs?|.+-commands?)\.ts$|\/commands?\//

/** Statements that lock rows and change them at once. Each takes one kind of row, or skips rows that are locked. */
const claims = new Set([
  'plugins/alerts/delivery/claims.ts',
  'plugins/alerts/delivery/postponed.ts',
  'plugins/alerts/prune.ts',
  'plugins/catalog/discovery/jobs.ts',
  'server/database/due.ts',
  'server/database/prune.ts',
  // New secrets in batches, while the service runs.
  'server/security/installation.ts',
  'server/security/rotate.ts',
  // The schema: migrations, and months of partitioned tables.
  'server/database/database.ts',
  'server/database/partitions.ts',
])

/** What may be asked of Boom outside server/http/errors.ts: telling its errors, and what strategies must throw. */
const boomUses: Record<string, RegExp> = {
  'server/http/replies.ts': /^(isBoom|badRequest)$/,
  'server/http/limits.ts': /^isBoom$/,
  'server/process/drain.ts': /^isBoom$/,
  'plugins/auth/sign-in/strategies.ts': /^(isBoom|unauthorized)$/,
}

/** The folders of alerts, from those who call to those who are called. */
const ALERT_LAYERS = ['incidents', 'lifecycle', 'rules', 'messages', 'delivery', 'destinations']
const ALERT_COMPOSITION = /^plugins\/alerts\/(index|jobs|demo|make-alerts|destination-routes)\.ts$/

const rules: Rule[] = [
  {
    promise: 'server/ knows no feature, engine, check or migration, except for the manifest and the commands',
    offences: source =>
      source.path.startsWith('server/') && source.path !== 'server/manifest.ts'
        ? wrongTargets(
            source,
            target =>
              target.startsWith('server/') ||
              isInterface(target) ||
              (source.path === 'server/feature-commands.ts' && /^plugins\/.*-commands?\.ts$/.test(target)),
          )
        : [],
    bad: [
      ['server/x.ts', `import { auth } from '../plugins/auth/index.ts'`],
      ['server/x.ts', `import type { Source } from '../plugins/catalog/models.ts'`],
      ['server/x.ts', `import { postgresql } from '../connectors/postgresql/index.ts'`],
      ['server/x.ts', `import * as accounts from '../migrations/0001_accounts.ts'`],
      ['server/x.ts', `export { rules } from '../checks/rules/index.ts'`],
      ['server/x.ts', `import { badgeCommand } from '../plugins/badges/badge-command.ts'`],
      ['server/feature-commands.ts', `import { badges } from '../plugins/badges/index.ts'`],
    ],
    good: [
      ['server/manifest.ts', `import { auth } from '../plugins/auth/index.ts'`],
      ['server/feature-commands.ts', `import { badgeCommand } from '../plugins/badges/badge-command.ts'`],
      ['server/x.ts', `import type { Connector } from '../connectors/connector.ts'\nimport './y.ts'`],
    ],
  },
  {
    promise: 'connectors/ stands alone',
    offences: source =>
      source.path.startsWith('connectors/')
        ? wrongTargets(source, target => target.startsWith('connectors/'))
        : [],
    bad: [
      ['connectors/x.ts', `import { mayReach } from '../server/security/egress.ts'`],
      ['connectors/postgresql/x.ts', `import { scan } from '../../checks/scan.ts'`],
    ],
    good: [['connectors/postgresql/x.ts', `import { sql } from '../sql.ts'\nimport pg from 'pg'`]],
  },
  {
    promise: 'checks/ knows the interfaces of connectors/, never an engine or its driver',
    offences: source =>
      source.path.startsWith('checks/')
        ? [
            ...wrongTargets(
              source,
              target =>
                target.startsWith('checks/') ||
                isInterface(target) ||
                // With the functions that its SQL needs there, as in a source.
                (isKitDatabase(source) && target === 'plugin-template/reader/functions.ts'),
            ),
            ...wrongPackages(source, 'pg', 'mysql2', 'knex'),
            ...(isKitDatabase(source) ? [] : wrongPackages(source, 'node:sqlite')),
          ]
        : [],
    bad: [
      ['checks/x.ts', `import { postgresql } from '../connectors/postgresql/index.ts'`],
      ['checks/rules/x.ts', `import { rows } from '../../server/database/database.ts'`],
      ['checks/x.ts', `import pg from 'pg'`],
      ['checks/x.ts', `import { DatabaseSync } from 'node:sqlite'`],
      ['checks/x.ts', `import { addFunctions } from '../plugin-template/reader/functions.ts'`],
    ],
    good: [
      [
        'checks/rules/x.ts',
        `import { sql } from '../../connectors/sql.ts'\nimport type { Rule } from '../check.ts'`,
      ],
    ],
  },
  {
    promise:
      'a feature imports server/, interfaces, its own files and types of the api.ts of features below it: no engine, check or driver',
    offences: source => {
      const [, own] = /^(plugins\/[^/]+\/)/.exec(source.path) ?? []
      if (!own) return []
      const others = usableBy(featureOf(source.path))
      const isAllowed = (target: string, isType: boolean) =>
        target.startsWith(own) ||
        (target.startsWith('server/') && target !== 'server/manifest.ts') ||
        isInterface(target) ||
        // What kinds of checks are made with, extensions' among them.
        (target === CHECK_KIT && others.includes('checks')) ||
        (isType && /^plugins\/[^/]+\/api\.ts$/.test(target) && others.includes(featureOf(target) ?? ''))
      return [...wrongTargets(source, isAllowed), ...wrongPackages(source, 'pg', 'pg-boss')]
    },
    bad: [
      ['plugins/checks/x.ts', `import type { Table } from '../catalog/models.ts'`],
      ['plugins/checks/x.ts', `const models = await import('../catalog/models.ts')`],
      ['plugins/checks/x.ts', `export type { Table } from "../catalog/models.ts"`],
      ['plugins/checks/x.ts', `type Table = import('../catalog/models.ts').Table`],
      ['plugins/checks/x.ts', `import {\n  dial,\n} from '../../connectors/postgresql/dial.ts'`],
      ['plugins/checks/x.ts', `import { rules } from '../../checks/rules/index.ts'`],
      ['plugins/checks/x.ts', `import { manifest } from '../../server/manifest.ts'`],
      ['plugins/checks/x.ts', `import { sqlite } from '../../plugin-template/connector.ts'`],
      ['plugins/checks/x.ts', `import { Client } from 'pg'`],
      ['plugins/checks/x.ts', `import { EVENT_TYPES } from '../alerts/api.ts'`],
      ['plugins/checks/x.ts', `import { type EventType } from '../alerts/api.ts'`],
      ['plugins/checks/x.ts', `export type { EventType } from '../alerts/api.ts'`],
      ['plugins/checks/x.ts', `import type { Freshness } from '../freshness/api.ts'`],
      ['plugins/checks/deep/x.ts', `import type { Source } from '../../catalog/deep/api.ts'`],
      ['plugins/checks/x.ts', `import { PgBoss } from 'pg-boss'`],
      ['plugins/validity/x.ts', `import { runScan } from '../checks/run/scan.ts'`],
      ['plugins/catalog/x.ts', `import { CheckRow } from '../checks/kit.ts'`],
    ],
    good: [
      [
        'plugins/checks/x.ts',
        `import { scan } from '../../checks/scan.ts'\nimport { y } from './deep/y.ts'\nimport { sql } from '../../connectors/sql.ts'\nimport '../../server/http/page.ts'`,
      ],
      ['plugins/checks/x.ts', `import type {\n  Asset,\n} from '../catalog/api.ts'`],
      ['plugins/validity/x.ts', `import type { ScheduleUser } from '../operating-schedules/api.ts'`],
      ['plugins/public/x.ts', `import type { Asset } from '../catalog/api.ts'`],
      ['plugins/validity/x.ts', `import { CheckRow } from '../checks/kit.ts'`],
    ],
  },
  {
    promise: 'alerts call in one direction: down the list of their folders',
    offences: source => {
      const layerOf = (path: string) =>
        ALERT_LAYERS.findIndex(layer => path.startsWith(`plugins/alerts/${layer}/`))
      const own = layerOf(source.path)
      return own < 0
        ? []
        : wrongTargets(source, target => {
            const layer = layerOf(target)
            // The files beside the folders: what they all share, and what puts them together.
            return layer < 0 ? !ALERT_COMPOSITION.test(target) : layer >= own
          })
    },
    bad: [
      ['plugins/alerts/delivery/x.ts', `import { compose } from '../messages/compose.ts'`],
      ['plugins/alerts/messages/x.ts', `import type { Recipient } from '../rules/recipients.ts'`],
      ['plugins/alerts/rules/x.ts', `import { raiseAll } from '../lifecycle/raise.ts'`],
      ['plugins/alerts/destinations/x.ts', `import { jobs } from '../jobs.ts'`],
    ],
    good: [
      ['plugins/alerts/lifecycle/x.ts', `import { findRecipients } from '../rules/recipients.ts'`],
      ['plugins/alerts/rules/deep/x.ts', `import { post } from '../../destinations/post.ts'`],
      ['plugins/alerts/jobs.ts', `import { raiseAll } from './lifecycle/raise.ts'`],
      ['plugins/alerts/delivery/x.ts', `import { Alert } from '../models.ts'`],
    ],
  },
  {
    promise: 'features use each other along one order only',
    offences: source => {
      const allowed = usableBy(featureOf(source.path))
      return [...source.text.matchAll(/\bplugins(?:\.(\w+)|\['(\w+)'\])/g)].flatMap(
        ([found, dotted, quoted]) => {
          const used = dotted ?? quoted ?? ''
          const isFeature = usable.includes(used) || ['public', 'console', 'demo'].includes(used)
          return source.path.startsWith('plugins/') && isFeature && !allowed.includes(used)
            ? [`uses ${found}`]
            : []
        },
      )
    },
    bad: [
      ['plugins/catalog/x.ts', 'request.server.plugins.checks.contribute()'],
      ['plugins/alerts/x.ts', `type Source = Server['plugins']['catalog']\nserver.plugins['catalog']`],
      ['plugins/metrics/x.ts', 'server.plugins.validity'],
      ['plugins/console/x.ts', 'server.plugins.public'],
    ],
    good: [
      [
        'plugins/metrics/x.ts',
        'server.plugins.checks\nserver.plugins.metrics\nroute.settings.plugins.access',
      ],
      ['plugins/public/x.ts', 'server.plugins.validity'],
    ],
  },
  {
    promise: 'plugins/public/client/ runs in browsers: it imports its own files only',
    offences: ({ path, imports }) =>
      path.startsWith('plugins/public/client/')
        ? imports.flatMap(({ specifier, target }) =>
            target?.startsWith('plugins/public/client/') ? [] : [`imports ${specifier}`],
          )
        : [],
    bad: [
      ['plugins/public/client/x.ts', `import { randomUUID } from 'node:crypto'`],
      ['plugins/public/client/x.ts', `import ky from 'ky'`],
      ['plugins/public/client/x.ts', `import type { ErrorCode } from '../../../server/http/errors.ts'`],
    ],
    good: [['plugins/public/client/x.ts', `import { ApiError } from './errors.ts'`]],
  },
  {
    promise: 'migrations know knex types and each other only',
    offences: source =>
      source.path.startsWith('migrations/')
        ? [
            ...wrongTargets(source, target => target.startsWith('migrations/')),
            ...matches(source, /^import (?!type\b)[^\n]*'knex'/gm),
          ]
        : [],
    bad: [
      ['migrations/9.ts', `import { ROLES } from '../server/http/access.ts'`],
      ['migrations/9.ts', `import knex from 'knex'`],
    ],
    good: [
      ['migrations/9.ts', `import type { Knex } from 'knex'\nimport { companyTable } from './tenant.ts'`],
    ],
  },
  {
    promise: 'plugin-template/ has what any team has: the public exports',
    offences: source =>
      source.path.startsWith('plugin-template/')
        ? [
            ...wrongTargets(source, target => target.startsWith('plugin-template/')),
            ...source.imports.flatMap(({ specifier }) =>
              specifier.startsWith('tidemark') &&
              !/^tidemark\/(connector|check|destination)(\/conformance)?$/.test(specifier)
                ? [`imports ${specifier}`]
                : [],
            ),
          ]
        : [],
    bad: [
      ['plugin-template/x.ts', `import { sql } from '../connectors/sql.ts'`],
      ['plugin-template/x.ts', `import { sql } from 'tidemark/connectors/sql.ts'`],
    ],
    good: [
      ['plugin-template/reader/x.ts', `import { sql } from 'tidemark/connector'\nimport '../errors.ts'`],
    ],
  },
  {
    promise: 'only server/jobs/ knows pg-boss',
    offences: source =>
      /^server\/jobs\/[\w-]+\.ts$/.test(source.path) ? [] : wrongPackages(source, 'pg-boss'),
    bad: [
      ['server/x.ts', `import type { Job } from 'pg-boss'`],
      ['plugins/x/job-queues.ts', `import type { Job } from 'pg-boss'`],
    ],
    good: [['server/jobs/jobs.ts', `import { PgBoss } from 'pg-boss'`]],
  },
  {
    promise: 'only server/http/errors.ts makes HTTP errors; others may recognise them',
    offences: source => {
      if (source.path === 'server/http/errors.ts') return []
      const allowed = boomUses[source.path]
      if (!allowed) return wrongPackages(source, '@hapi/boom')
      const calls = [...source.text.matchAll(/\bnew Boom\b|\bBoom\.(\w+)\(/g)]
      return calls.flatMap(([found, method]) => (method && allowed.test(method) ? [] : [`says ${found}`]))
    },
    bad: [
      ['plugins/catalog/x.ts', `import { notFound } from '@hapi/boom'`],
      ['server/http/replies.ts', `throw new Boom.Boom('x')`],
      ['plugins/auth/sign-in/strategies.ts', `throw Boom.forbidden('x')`],
    ],
    good: [
      ['server/http/errors.ts', `import Boom from '@hapi/boom'\nnew Boom.Boom('x')`],
      [
        'plugins/auth/sign-in/strategies.ts',
        `import Boom from '@hapi/boom'\nthrow Boom.unauthorized(null, 'ApiKey')`,
      ],
    ],
  },
  {
    promise: 'only server/settings/config.ts reads the environment',
    offences: source =>
      source.path === 'server/settings/config.ts' || source.path.startsWith('plugin-template/test/')
        ? []
        : matches(
            source,
            /\bprocess\??\.env\b|\bprocess\[['"]env['"]\]|\benv\b[^'"\n]*\bfrom 'node:process'/g,
          ),
    bad: [
      ['server/x.ts', 'const { PORT } = process.env'],
      ['plugins/auth/x.ts', `import { env } from 'node:process'`],
    ],
    good: [['server/settings/config.ts', 'process.env.PORT']],
  },
  {
    promise: 'only server/security/egress.ts judges addresses, and server/dns.ts looks them up for it',
    offences: source =>
      // The kit lets a team test against a database of its own, wherever it is; limits count callers by network.
      source.path === 'server/security/egress.ts' ||
      source.path === 'server/dns.ts' ||
      source.path === 'server/http/limits.ts' ||
      source.path.startsWith('connectors/conformance/')
        ? []
        : [...wrongPackages(source, 'ipaddr.js', 'node:dns'), ...matches(source, /\bnew BlockList\b/g)],
    bad: [
      ['plugins/alerts/x.ts', `import { lookup } from 'node:dns/promises'`],
      ['connectors/mysql/x.ts', `import ipaddr from 'ipaddr.js'`],
      ['server/x.ts', 'const list = new BlockList()'],
    ],
    good: [['server/security/egress.ts', `import { lookup } from 'node:dns/promises'`]],
  },
  {
    promise: 'a feature names in SQL its own tables and those of features that it may use',
    offences: source => {
      const own = featureOf(source.path)
      if (!own) return []
      const allowed = [own, ...(below[own] ?? [...tableOwners.values()])]
      return [...source.text.matchAll(/\b(?:from|join|update|into)\s+(?:only\s+)?([a-z_]+)\b/g)].flatMap(
        ([, table = '']) => {
          const owner = tableOwners.get(table)
          const isRead = owner === undefined || allowed.includes(owner) || readAbove[own]?.includes(table)
          return isRead ? [] : [`names ${table} of ${owner}`]
        },
      )
    },
    bad: [
      ['plugins/badges/x.ts', '`select 1 from checks`'],
      ['plugins/alerts/x.ts', '`delete from badges b using badges c join sources s on true`'],
    ],
    good: [
      ['plugins/badges/x.ts', '`select 1 from badges b join sources s on true`'],
      ['plugins/demo/x.ts', '`select 1 from checks`'],
    ],
  },
  {
    promise: 'only its owner writes a table',
    offences: source =>
      foreignTables(source, WRITES).map(({ table, owner }) => `writes ${table} of ${owner}`),
    bad: [
      ['plugins/badges/x.ts', '`update sources set name = 1`'],
      ['plugins/incidents/x.ts', '`with gone as (delete from alerts where true returning id) select 1`'],
      ['plugins/freshness/x.ts', '`insert into runs\n (id) values (1)`'],
      ['plugins/watch/x.ts', `await claimDue(trx, 'sources', {})`],
      ['plugins/watch/x.ts', `server.retention.push({ table: 'profiles', column: 'profiled_at', days: 1 })`],
    ],
    good: [
      ['plugins/catalog/x.ts', '`update sources set name = 1`'],
      ['plugins/badges/x.ts', '`update badges b set name = s.name from sources s`'],
      [
        'plugins/badges/x.ts',
        '// An update sources get.\n/** delete from alerts */\n`select 1 from sources`',
      ],
    ],
    open: STILL_OPEN.writes,
  },
  {
    promise: 'a feature reads of others the tables that their api.ts names',
    offences: source =>
      foreignTables(source, READS).flatMap(({ table, owner }) =>
        readableTables.has(table) ? [] : [`reads ${table} of ${owner}`],
      ),
    bad: [
      ['plugins/badges/x.ts', '`select 1 from schema_baselines`'],
      ['plugins/contracts/x.ts', '`select 1 from badges b join metric_states s on true`'],
    ],
    good: [
      ['plugins/badges/x.ts', '`select 1 from badges b join sources s on true`'],
      ['plugins/catalog/x.ts', '`select 1 from schema_baselines`'],
    ],
    open: STILL_OPEN.reads,
  },
  {
    promise: 'inside a feature the function is called, not server.plugins.<own>',
    offences: source => {
      const own = featureOf(source.path)
      if (own === undefined || /-commands?\.ts$|\/commands?\//.test(source.path)) return []
      const asked = new RegExp(
        `\\bplugins(\\.${own}\\b|\\['${own}'\\])|\\{[^{}]*\\b${own}\\b[^{}]*\\} = [\\w.]*\\bplugins\\b|\\bplugins: \\{[^{}]*\\b${own}\\b`,
        'g',
      )
      return matches({ ...source, text: codeOf(source) }, asked)
    },
    bad: [
      ['plugins/badges/x.ts', 'request.server.plugins.badges.ensureBadge(trx)'],
      ['plugins/chart-links/x.ts', `server.plugins['chartLinks']`],
      ['plugins/badges/routes.ts', 'const { catalog, badges } = request.server.plugins'],
      ['plugins/badges/index.ts', 'api: ({ db, plugins: { badges } }) => badges'],
    ],
    good: [
      [
        'plugins/badges/x.ts',
        '/** As `server.plugins.badges`. */\nconst { catalog } = request.server.plugins',
      ],
      ['plugins/badges/badge-command.ts', 'await server.plugins.badges.ensureBadge(trx)'],
    ],
    open: STILL_OPEN.callsItself,
  },
  {
    promise: 'a feature takes the server in index.ts, routes, jobs and commands only',
    offences: source =>
      source.path.startsWith('plugins/') && !TAKES_SERVER.test(source.path)
        ? matches({ ...source, text: codeOf(source) }, /[\w}]+\??: (Pick<)?Server\b/g)
        : [],
    bad: [
      ['plugins/badges/badges.ts', 'export function ensureBadge(server: Server, trx: Transaction) {}'],
      ['plugins/badges/badges.ts', 'const prune = ({ db, config }: Server) => db'],
      ['plugins/badges/badges.ts', `function list({ db }: Pick<Server, 'db'>) {}`],
    ],
    good: [
      ['plugins/badges/badges.ts', 'export function ensureBadge({ db, catalog }: BadgesDeps) {}'],
      ['plugins/badges/routes.ts', 'export const routes = (server: Server) => []'],
      ['plugins/badges/api.ts', `declare module '@hapi/hapi' {\n  interface Server {}\n}`],
    ],
    open: STILL_OPEN.takesServer,
  },
  {
    promise:
      'locks are taken by the functions of locks.ts, and by statements that claim rows and change them',
    offences: source =>
      /^(server|plugins)\//.test(source.path) && !/\/locks\.ts$/.test(source.path) && !claims.has(source.path)
        ? matches(
            source,
            /\bfor (no key )?update\b|\bfor (key )?share\b|\bskip locked\b|\bpg_(try_)?advisory\w*|\block table only\b|\.(for(Update|NoKeyUpdate|Share|KeyShare)|skipLocked)\(/g,
          )
        : [],
    bad: [
      ['plugins/x/x.ts', '`select 1 from sources for update`'],
      ['plugins/x/x.ts', 'Source.query(trx).findById(id).forNoKeyUpdate()'],
      ['server/x.ts', '`select pg_advisory_xact_lock(1)`'],
    ],
    good: [
      ['plugins/x/locks.ts', '`select 1 from sources for share`'],
      ['plugins/x/x.ts', '// what waits for updates'],
      [
        'server/database/due.ts',
        '`update t set a = 1 where id in (select id from t for update skip locked)`',
      ],
    ],
  },
  {
    promise: 'no source file has more than 350 lines',
    offences: ({ text }) => {
      const count = text.trimEnd().split('\n').length
      return count > 350 ? [`has ${count} lines`] : []
    },
    bad: [['server/x.ts', 'x\n'.repeat(351)]],
    good: [['server/x.ts', 'x\n'.repeat(350)]],
  },
]

/** Each offence as `file: what it does`. */
function offenders(rule: Rule, files: readonly Source[]): string[] {
  return files.flatMap(file => rule.offences(file).map(offence => `${file.path}: ${offence}`))
}

for (const rule of rules) {
  t.test(rule.promise, async t => {
    const { open = [] } = rule
    const isOf = (offence: string) => (place: string) => offence === place || offence.startsWith(`${place}: `)
    const all = offenders(rule, sources)
    t.strictSame(
      all.filter(offence => !open.some(isOf(offence))),
      [],
    )
    t.strictSame(
      open.filter(place => !all.some(offence => isOf(offence)(place))),
      [],
      'take what is mended out of test/helpers/open-architecture.ts',
    )
    for (const [path, text] of rule.bad) {
      t.not(
        offenders(rule, [parseSource(path, text)]).length,
        0,
        `is broken by ${path}: ${text.slice(0, 80)}`,
      )
    }
    for (const [path, text] of rule.good) {
      t.strictSame(offenders(rule, [parseSource(path, text)]), [], `is kept by ${path}: ${text.slice(0, 80)}`)
    }
  })
}

/** Returns the sets of files that import each other in a circle, types included, each sorted. */
function findCircles(files: readonly Source[]): string[][] {
  const imports = new Map(
    files.map(({ path, imports }) => [path, new Set(imports.flatMap(({ target }) => target ?? []))]),
  )
  const reaches = (from: string, to: string): boolean => {
    const seen = new Set<string>()
    const open = [from]
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      for (const target of imports.get(path) ?? []) {
        if (target === to) return true
        if (!seen.has(target)) open.push(target)
        seen.add(target)
      }
    }
    return false
  }
  const inCircles = files.map(({ path }) => path).filter(path => reaches(path, path))
  const circles = Map.groupBy(inCircles, path =>
    inCircles.find(other => reaches(path, other) && reaches(other, path)),
  )
  return [...circles.values()]
}

t.test('no files import each other in a circle, types included', async t => {
  t.strictSame(findCircles(sources), [])
  const files = [
    parseSource('a.ts', `import type { B } from './b.ts'`),
    parseSource('b.ts', `type C = import('./x/c.ts').C`),
    parseSource('x/c.ts', `export { a } from '../a.ts'\nimport './d.ts'`),
    parseSource('x/d.ts', ''),
    parseSource('e.ts', `import { e } from './e.ts'`),
  ]
  t.strictSame(findCircles(files), [['a.ts', 'b.ts', 'x/c.ts'], ['e.ts']], 'it can fail')
})

/** Returns type names that more than three files declare, with the files. */
function repeatedTypes(files: readonly Source[]): string[] {
  const declared = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:export )?(?:declare )?(?:interface|type|class) (\w+)/gm)].map(([, name]) => ({
      name: name!,
      path,
    })),
  )
  return [...Map.groupBy(declared, ({ name }) => name)]
    .filter(([, found]) => found.length > 3)
    .map(([name, found]) => `${name}: ${found.map(({ path }) => path).join(' ')}`)
}

/** Each engine, check and destination has its `Config`; `Row` is what a query gives. */
const SHARED_TYPE_NAMES = ['Config', 'Row']
t.test('no more than three files declare a type of the same name', async t => {
  const isShared = (line: string) => SHARED_TYPE_NAMES.includes(line.slice(0, line.indexOf(':')))
  t.strictSame(
    repeatedTypes(sources).filter(line => !isShared(line)),
    [],
  )
  const files = ['a', 'b', 'c', 'd'].map(name => parseSource(name, 'export interface Same {}\ntype Own = 1'))
  t.strictSame(repeatedTypes(files), ['Same: a b c d', 'Own: a b c d'], 'it can fail')
  t.strictSame(repeatedTypes(files.slice(1)), [])
})

/** Tables of the host itself; and words that are English, or name a thing of the host or of an interface, too. */
const HOST_TABLES = ['audit_heads', 'audit_log', 'companies', 'idempotent_replies', 'installation']
const ENGLISH_TABLES = [
  'checks',
  ...[
    'alerts',
    'badges',
    'destinations',
    'identities',
    'incidents',
    'metrics',
    'monitors',
    'profiles',
    'recommendations',
    'runs',
    'sessions',
    'sources',
    'tables',
  ],
  ...['tags', 'tickets', 'unsubscribed', 'users', 'invitations', 'prospects', 'api_keys'],
]

/** States the order in which all features take locks. */
const LOCK_ORDER = 'server/database/locks.ts'

/** What the host must not name: tables, alert kinds and paths of features. */
function featureNames(files: readonly Source[]): RegExp {
  const find = (path: RegExp, name: RegExp) =>
    files
      .filter(file => path.test(file.path))
      .flatMap(({ text }) => [...text.matchAll(name)].map(match => match[1]!))
  const tables = find(/^migrations\//, /create table (?:if not exists )?(\w+)\b(?!\.)/g)
  const kinds = find(/^plugins\/.*\balert-kinds?\.ts$/, /\bname: '(\w+)'/g)
  const names = [...tables, ...kinds].filter(name => ![...HOST_TABLES, ...ENGLISH_TABLES].includes(name))
  return new RegExp(`\\b(${[...new Set(names)].join('|')})\\b|/sdk/[\\w{$]`)
}

t.test('the host names no table, alert kind or path of a feature', async t => {
  const names = featureNames(sources)
  for (const name of ['check_results', 'deliveries', 'schema_change', 'metric_anomaly'])
    t.match(names.source, name)
  const named = sources.flatMap(({ path, text }) =>
    path.startsWith('server/') && path !== LOCK_ORDER && names.test(text)
      ? [`${path}: ${names.exec(text)?.[0]}`]
      : [],
  )
  t.strictSame(named, [])
  t.match('/api/v1/sdk/jobs', names, 'it can fail')
})

t.test('no folder holds more than 25 source files', async t => {
  const folders = Map.groupBy(sources, ({ path }) => dirname(path))
  // Migrations only ever become more.
  const full = [...folders].filter(([folder, files]) => folder !== 'migrations' && files.length > 25)
  t.strictSame(
    full.map(([folder, files]) => `${folder}: ${files.length}`),
    [],
  )
})

const topLevel = [
  ...['server', 'connectors', 'checks', 'plugins', 'migrations', 'plugin-template', 'test'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'README.md', 'LICENSE'],
]
/** Made by installing and building, and never committed. */
const made = ['node_modules', 'dist']

function strayEntries(entries: readonly string[]): string[] {
  return entries.filter(entry => !entry.startsWith('.') && ![...topLevel, ...made].includes(entry))
}

t.test('the top level holds the seven folders and what npm, TypeScript and readers need', async t => {
  const entries = readdirSync(root)
  t.strictSame(strayEntries(entries), [])
  for (const folder of topLevel.slice(0, 7)) t.ok(entries.includes(folder), folder)
  t.strictSame(strayEntries(['src', 'server', '.ci', 'knexfile.ts']), ['src', 'knexfile.ts'], 'it can fail')
})

/** What there is too much of, and how much is left. A budget is lowered with what it counts, and never raised. */
const BUDGETS: { what: string; pattern: RegExp; isCounted(path: string): boolean; most: number }[] = [
  {
    what: 'functions that take the whole server',
    pattern: /\bserver: Server\b|\}: Server\b/g,
    isCounted: () => true,
    most: 65,
  },
  {
    what: 'values that any type takes: `as never`',
    pattern: /\bas never\b/g,
    isCounted: () => true,
    most: 0,
  },
  { what: 'types that are taken by force', pattern: /\bas unknown as\b/g, isCounted: () => true, most: 38 },
  {
    what: 'bodies and queries whose type no schema gives',
    pattern: /\b(?:bodyOf|queryOf)</g,
    // The console types the bodies that it sends by the names of the API.
    isCounted: path => !path.startsWith('plugins/console/client/'),
    most: 0,
  },
  {
    what: 'functions that return some object',
    pattern: /\): (?:object|Promise<object>)(?= [|{]|$)/gm,
    isCounted: () => true,
    most: 0,
  },
]

t.test('what there is too much of does not become more', async t => {
  for (const { what, pattern, isCounted, most } of BUDGETS) {
    const count = sources.reduce(
      (sum, source) => sum + (isCounted(source.path) ? [...codeOf(source).matchAll(pattern)].length : 0),
      0,
    )
    t.ok(count <= most, `${what}: ${count}, allowed ${most}`)
    if (count < most) t.comment(`lower the budget of ${what} to ${count}`)
  }
  // Each table is whole in one of them. After the first release a change is a file of its own, and raises this.
  t.equal(sources.filter(({ path }) => /^migrations\/\d{4}_/.test(path)).length, 19, 'migrations')
})

t.test('the sources were read, and the engines found', async t => {
  t.ok(sources.length > 100)
  t.ok(sources.flatMap(({ imports }) => imports).length > 300)
  t.ok(engines.includes('connectors/postgresql/'))
  const missing = sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ target }) =>
      target && target !== GENERATED_FILE && !sources.some(source => source.path === target)
        ? [`${path}: ${target}`]
        : [],
    ),
  )
  t.strictSame(missing, [], 'every import of ours leads to a file that is held to the rules too')
})
