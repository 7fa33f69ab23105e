import { api } from '../../lib/api.ts'
import { inWords } from '../../lib/format.ts'
import type { ChartMark } from './points.ts'

/** How far back marks are drawn: as long as runs are kept. */
const DAYS = 90
const MAX_CHANGES = 100
const MAX_INCIDENTS = 50

/** What happened to a table in the last 90 days: schema changes, runs that write it, and incidents with alerts of it. */
export async function loadMarks(table: string, signal: AbortSignal): Promise<ChartMark[]> {
  const since = new Date(Date.now() - DAYS * 86_400_000).toISOString()
  // What a person may not see, or what fails, leaves the others.
  const found = await Promise.allSettled([
    api
      .get('/api/v1/sdk/schema/changes', {
        query: { asset_id: table, days_back: DAYS, limit: MAX_CHANGES },
        signal,
      })
      .then(({ data }) =>
        data.data.map(change => ({
          at: Date.parse(change.detected_at),
          kind: 'change' as const,
          text: `${inWords(change.change_type)}: ${change.object_name}`,
        })),
      ),
    api.get('/api/v1/sdk/lineage/runs', { query: { asset_id: table, days: DAYS }, signal }).then(({ data }) =>
      data.runs.map(run => ({
        at: Date.parse(run.ended_at ?? run.started_at ?? run.last_event_at),
        kind: 'run' as const,
        text: `run ${inWords(run.state)}: ${run.job_name}`,
      })),
    ),
    api
      .get('/api/v1/sdk/incidents', { query: { asset_id: table, since, limit: MAX_INCIDENTS }, signal })
      .then(({ data }) =>
        data.incidents.map(incident => ({
          at: Date.parse(incident.started_at ?? incident.first_detected_at),
          kind: 'incident' as const,
          text: incident.title,
        })),
      ),
  ])
  return found.flatMap((part): ChartMark[] => (part.status === 'fulfilled' ? part.value : []))
}
