import { api } from '../../lib/api.ts'
import { inWords } from '../../lib/format.ts'
import type { ChartMark } from './points.ts'

/** What happened to a table in the last 90 days: schema changes, runs that write it, and incidents with alerts of it. */
export async function loadMarks(table: string, signal: AbortSignal): Promise<ChartMark[]> {
  const { data } = await api.get('/api/v1/sdk/health/events/{asset_id}', {
    path: { asset_id: table },
    signal,
  })
  return data.events.map(event => ({ at: Date.parse(event.at), kind: event.type, text: textOf(event) }))
}

function textOf({ type, name, state }: { type: ChartMark['kind']; name: string; state: string }): string {
  return type === 'incident' ? name : `${inWords(state)} ${name}`
}
