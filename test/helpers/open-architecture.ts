/**
 * Where rules of test/architecture.test.ts do not hold yet. Nothing is added: an entry goes with its last offence, which
 * the test asks for. An entry is a file, or one offence as the test names it.
 */
export const STILL_OPEN: Record<'writes' | 'reads' | 'callsItself' | 'takesServer', string[]> = {
  writes: ['plugins/freshness/jobs.ts: writes runs of catalog'],
  reads: [
    'plugins/alerts/incidents/explain/capsule.ts: reads freshness_schedules of freshness',
    'plugins/alerts/incidents/explain/raw-findings.ts: reads freshness_schedules of freshness',
  ],
  callsItself: ['plugins/freshness/run/record.ts'],
  takesServer: [
    'plugins/freshness/run/check.ts',
    'plugins/freshness/dry-run.ts',
    'plugins/freshness/run/learn.ts',
    'plugins/freshness/lists.ts',
    'plugins/freshness/run/read.ts',
    'plugins/freshness/run/record.ts',
    'plugins/freshness/schedules/bulk.ts',
    'plugins/freshness/schedules/columns.ts',
    'plugins/freshness/schedules/declaration.ts',
    'plugins/freshness/schedules/expression.ts',
    'plugins/freshness/schedules/judge-once.ts',
    'plugins/freshness/schedules/listed.ts',
    'plugins/freshness/schedules/schedules.ts',
    'plugins/freshness/schedules/signals.ts',
    'plugins/freshness/run/watched.ts',
    'plugins/operations/service.ts',
    'plugins/public/beta.ts',
    'plugins/checks/list/check-list.ts',
  ],
}
