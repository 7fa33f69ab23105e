import { api, isMissing } from '../../lib/api.ts'
import type { Data } from '../../lib/data.ts'

const path = (id: string) => ({ path: { id } })

export const loadIncidents = async (query: object, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/incidents', { query, signal })).data
export type IncidentsPage = Awaited<ReturnType<typeof loadIncidents>>
export type ListedIncident = IncidentsPage['incidents'][number]

/** An incident with its alerts and its timeline. */
export const loadIncident = async (id: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/incidents/{id}', { ...path(id), signal })).data
export type Incident = Awaited<ReturnType<typeof loadIncident>>

/** What is made from a table, and who owns it; null of what is gone. */
export const loadDownstream = async (id: string, signal: AbortSignal) => {
  try {
    const query = { depth: 10, direction: 'downstream' as const, details: true }
    return (await api.get('/api/v1/sdk/lineage/{asset_id}', { path: { asset_id: id }, query, signal })).data
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

export type Downstream = Data<Awaited<ReturnType<typeof loadDownstream>>>

export type IncidentMove = 'acknowledge' | 'snooze' | 'resolve' | 'dismiss'

/** Changes the status of an incident and of its open alerts. */
export async function moveIncident(id: string, move: IncidentMove, body: object): Promise<void> {
  await api.post(`/api/v1/sdk/incidents/{id}/${move}` as '/api/v1/sdk/incidents/{id}/resolve', {
    ...path(id),
    body,
  })
}

/** Moves alerts into a new incident. @returns its id */
export async function splitIncident(id: string, alertIds: readonly string[]): Promise<string> {
  const body = { alert_ids: [...alertIds] }
  return (await api.post('/api/v1/sdk/incidents/{id}/split', { ...path(id), body })).data.id
}

/** Gives the alerts of an incident to another one. */
export async function mergeIncident(id: string, into: string): Promise<void> {
  await api.post('/api/v1/sdk/incidents/{id}/merge', { ...path(id), body: { into } })
}

/** Other incidents that are not over, for a choice. */
export const loadOthers = async (id: string, signal: AbortSignal) => {
  const status: ('open' | 'acknowledged' | 'snoozed')[] = ['open', 'acknowledged', 'snoozed']
  const { data } = await api.get('/api/v1/sdk/incidents', { query: { status, limit: 100 }, signal })
  return data.incidents.filter(incident => incident.id !== id)
}

/** Destinations that take messages, for a choice. */
export const loadDestinations = async (signal: AbortSignal) => {
  const query = { is_active: true, limit: 100 }
  return (await api.get('/api/v1/sdk/alerts/destinations', { query, signal })).data.destinations
}

export async function sendIncident(id: string, destinationId: string): Promise<void> {
  await api.post('/api/v1/sdk/incidents/{id}/send', { ...path(id), body: { destination_id: destinationId } })
}

export async function addComment(id: string, comment: string): Promise<void> {
  await api.post('/api/v1/sdk/incidents/{id}/comment', { ...path(id), body: { comment } })
}

export async function changeIncident(
  id: string,
  body: { assignee_id?: string | null; post_mortem?: string | null },
): Promise<void> {
  await api.patch('/api/v1/sdk/incidents/{id}', { ...path(id), body })
}
