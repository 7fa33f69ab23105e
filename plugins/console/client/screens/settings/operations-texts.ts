import { countOf } from '../../lib/format.ts'

/** The sentences of the jobs of the company and the state of the service, in English. */
export const operationsTexts = {
  /** What the first line says. */
  headline: (waiting: number, running: number, dead: number, isLate: boolean) => {
    if (isLate) return 'Jobs wait, and no worker takes them up'
    if (dead > 0) return `${countOf(dead, 'job')} failed for good`
    return waiting + running === 0
      ? 'All jobs are done'
      : `${countOf(running, 'job')} ${running === 1 ? 'runs' : 'run'}, ${waiting} ${waiting === 1 ? 'waits' : 'wait'}`
  },
  statuses: {
    ok: 'healthy',
    degraded: 'needs an operator',
    draining: 'shutting down',
  },
  jobStates: {
    up: 'run on time',
    late: 'late: no worker takes them up',
    down: 'unknown: the database does not answer',
  },
  workerStates: {
    up: 'running',
    stuck: 'stuck: restart it',
    none: 'none: it only serves requests',
  },
  versionsOf: (versions: { tidemark: string; node: string; postgresql: string }) =>
    `Tidemark ${versions.tidemark}, Node ${versions.node}, PostgreSQL ${versions.postgresql}`,
  extensions: 'Extensions',
  uptime: (seconds: number) => {
    if (seconds < 3_600) return countOf(Math.max(1, Math.floor(seconds / 60)), 'minute')
    return seconds < 2 * 86_400
      ? countOf(Math.floor(seconds / 3_600), 'hour')
      : countOf(Math.floor(seconds / 86_400), 'day')
  },
  dashboardCommand: 'Operators open it on their machine with',
  queues: 'Queues',
  work: 'Work',
  /** What the jobs of a queue do; queues of extensions have only their name. */
  works: {
    'alerts.deliver': 'Send a message',
    'alerts.prune': 'Delete old alerts',
    'alerts.retry': 'Send a message again',
    'alerts.sweep': 'Look for messages that are due',
    'catalog.discover': 'Discover a source',
    'catalog.dispatch': 'Look for sources whose discovery is due',
    'checks.backfill': 'Compute the past of new checks',
    'contracts.enforce': 'Judge a contract',
    'contracts.export': 'Export contracts',
    'contracts.test': 'Test a contract',
    'freshness.check': 'Check freshness',
    'freshness.past': 'Read the past of freshness',
    'freshness.refresh': 'Check freshness on request',
    'incidents.prune': 'Delete old incidents',
    'incidents.review': 'Compare incidents with the lineage that is known now',
    'incidents.sweep': 'Look for alerts without an incident',
    'incidents.update': 'Group alerts into incidents',
    'lineage.prune': 'Delete lineage that is no longer reported',
    'lineage.prune-runs': 'Delete old runs of pipelines',
    'partitions.keep': 'Make and delete months of results',
    'profiles.profile': 'Profile tables',
    'queues.thin': 'Thin the counts of queues',
    'recommendations.count': 'Count the recommendations of a source',
    'recommendations.dispatch': 'Look for tables to count recommendations of',
    'rows.expire': 'Delete what has expired or is too old',
    'scans.check': 'Run checks on request',
    'scans.dispatch': 'Look for checks that are due',
    'scans.run': 'Run due checks',
    'watch.apply': 'Create the checks of a level',
    'watch.dispatch': 'Look for sources to create checks for',
  } as Record<string, string>,
  waiting: 'Waiting',
  later: 'Later',
  running: 'Running',
  dead: 'Failed for good',
  deadJobs: 'Jobs that failed for good',
  redrive: 'Send again',
  discard: 'Discard',
  discardOf: (what: string) => `Discard: ${what}`,
  discardAll: 'Discard all',
}
