import type { AlertEventType } from 'tidemark/client'
import { api } from './api.ts'

/** The kinds of alerts, also of extensions, with what people call them. */
export async function loadAlertKinds(signal: AbortSignal): Promise<AlertEventType[]> {
  const { data } = await api.get('/api/v1/sdk/alerts/rules', { query: { limit: 1 }, signal })
  return sortKinds(data.event_types)
}

/** Kinds by what people call them. */
export const sortKinds = (kinds: readonly AlertEventType[]): AlertEventType[] =>
  kinds.toSorted((a, b) => a.label.localeCompare(b.label))
