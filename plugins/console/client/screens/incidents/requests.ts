import { api } from '../../lib/api.ts'

const path = (id: string) => ({ path: { id } })

/** An incident with its alerts and its timeline. */
export const loadIncident = async (id: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/incidents/{id}', { ...path(id), signal })).data
export type Incident = Awaited<ReturnType<typeof loadIncident>>
export type Activity = Incident['activities'][number]

/** What is made from the table of an alert, and who owns it. */
export const loadAffected = async (alertId: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/alerts/{id}/impact', { ...path(alertId), signal })).data

export type IncidentMove = 'acknowledge' | 'snooze' | 'resolve' | 'dismiss'

/** Changes the status of an incident and of its open alerts. */
export async function moveIncident(id: string, move: IncidentMove, body: object): Promise<void> {
  await api.post(`/api/v1/sdk/incidents/{id}/${move}` as '/api/v1/sdk/incidents/{id}/resolve', {
    ...path(id),
    body,
  })
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
