/**
 * Which test files are run when. `quick` is `npm test`: unit tests, the API, the conformance kits on PostgreSQL and
 * SQLite, and a tenth of each generated matrix. `all` is `npm run test:all`. `rest` is what `quick` leaves of `all`.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const RINGS = ['quick', 'rest', 'all'] as const
export type Ring = (typeof RINGS)[number]

/** The part of generated matrices that `quick` takes, by `test/helpers/share.ts`. */
const QUICK_SHARE = 0.1

/**
 * The files that only `all` runs, by what they need. One list rather than a suffix of file names: a file is named after
 * its subject, and changes its ring in one line.
 */
const OUTER: Record<string, string[]> = {
  // Other files have parts that need it; `mariadbAbsent` skips those in `quick`.
  MariaDB: [
    'test/connectors/mysql.test.ts',
    'test/connectors/mysql/*.test.ts',
    'test/checks/engines/mysql.test.ts',
    'test/plugins/catalog/drift/mysql.test.ts',
  ],
  'doubles of warehouses and of other servers': [
    'test/connectors/{bigquery,databricks,redshift,snowflake,rest,foreign-servers}.test.ts',
    'test/checks/engines/{bigquery,databricks,redshift,snowflake}.test.ts',
    'test/plugins/freshness/engines*.test.ts',
    'test/engines.test.ts',
  ],
  'pages and messages for people without a console': [
    'test/plugins/badges/badges.test.ts',
    'test/plugins/public/{magic-login,unsubscribe}.test.ts',
    'test/plugins/alerts/destinations/email.test.ts',
  ],
  documents: ['test/plugins/public/docs*.test.ts', 'test/server/openapi/lint.test.ts'],
  'a browser': ['test/plugins/public/**/*browser.test.ts', 'test/plugins/console/browser/*.test.ts'],
  'what is written from the description of the API': ['test/plugins/public/client/operations.test.ts'],
  'several processes or clusters': [
    'test/server/cli/{cli,dashboard}.test.ts',
    'test/server/http/limits-processes.test.ts',
    'test/server/embedded/embedded.test.ts',
    'test/server/security/rotate.test.ts',
    'test/plugins/{freshness/freshness-command,metrics/detect-command,scans/check-command}.test.ts',
    'test/plugins/{monitors/commands,profiles/profile-command}.test.ts',
    'test/plugins/alerts/delivery/{auto-disable,fairness,interrupted}.test.ts',
    'test/server/process/stop.test.ts',
  ],
  'an OpenID provider': [
    'test/plugins/auth/oauth/{oauth,faults,links}.test.ts',
    'test/plugins/console/browser/oauth.test.ts',
  ],
  'random histories that are held against a model': [
    'test/plugins/alerts/delivery/receivers.test.ts',
    'test/plugins/alerts/lifecycle/deadlocks.test.ts',
    'test/plugins/catalog/discovery/privileges.test.ts',
    'test/plugins/metrics/groups.test.ts',
    'test/plugins/catalog/drift/{constraint-changes,constraint-properties,postgresql,recorded-alerts,schema}.test.ts',
    'test/plugins/contracts/yaml.test.ts',
  ],
  'histories that something is learnt or grouped from': [
    'test/plugins/metrics/feedback.test.ts',
    'test/plugins/validity/{auto,baseline,feedback}.test.ts',
    'test/plugins/alerts/incidents/{grouping,messages}.test.ts',
    'test/plugins/checks/by-hand.test.ts',
    'test/plugins/catalog/discovery/discovery-between.test.ts',
  ],
  'full matrices of faults': [
    'test/regular-expressions.test.ts',
    'test/connectors/conformance.test.ts',
    'test/connectors/postgresql/{session,settings}.test.ts',
    'test/plugins/alerts/delivery/{attempts,outbox}.test.ts',
    'test/plugins/checks/statements.test.ts',
    'test/server/extensions.test.ts',
    'test/server/telemetry/{alerts,log-watch,observability}.test.ts',
  ],
  'many tables, checks or rows': [
    'test/plugins/alerts/lifecycle/bulk.test.ts',
    'test/plugins/catalog/unwatched.test.ts',
    'test/plugins/contracts/enforcement/{exchange,input}.test.ts',
    'test/plugins/freshness/schedules/bulk.test.ts',
    'test/plugins/monitors/{many-checks,round-trip}.test.ts',
    'test/plugins/profiles/{engines,many-columns}.test.ts',
    'test/plugins/recommendations/{pages,watch/batches}.test.ts',
    'test/plugins/checks/bulk.test.ts',
    'test/plugins/checks/list/check-list.test.ts',
    'test/migrations.test.ts',
    'test/plugins/alerts/api-plans.test.ts',
    'test/plugins/metrics/many-groups.test.ts',
    'test/server/database/partitions.test.ts',
  ],
  'attacks of one company on others': ['test/hostile/*.test.ts'],
  'demos beside the one that every start makes': [
    'test/plugins/auth/sign-in/demo-sessions.test.ts',
    'test/plugins/preferences/{demo,demo-elsewhere}.test.ts',
    'test/plugins/demo/demo.test.ts',
  ],
  'the template, packing and installing': ['test/{plugin-template,template}.test.ts'],
}

export function isRing(word: string): word is Ring {
  return RINGS.includes(word as Ring)
}

export function shareOfRing(ring: Ring): number {
  return ring === 'quick' ? QUICK_SHARE : 1
}

/** Returns the files of a ring, relative to the root. `rest` repeats those that `quick` ran in part. */
export function filesOfRing(root: string, ring: Ring): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort()
  const outer = new Set(globSync(Object.values(OUTER).flat(), { cwd: root }))
  if (ring === 'all') return files
  if (ring === 'quick') return files.filter(file => !outer.has(file))
  return files.filter(file => outer.has(file) || isPartlyRun(join(root, file)))
}

function isPartlyRun(path: string): boolean {
  return /\b(share|sharedCount)\(|\bmariadbAbsent\b/.test(readFileSync(path, 'utf8'))
}
