import type { HealthSummary } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { sourceAddress, withQuery } from '../../lib/router.ts'
import { canWrite, updatePreferences, type Preferences } from '../../lib/session.ts'

/** A step of setting up a company. */
export interface SetupStep {
  id: 'connect' | 'discover' | 'freshness' | 'checks' | 'destination'
  isDone: boolean
  /** The screen on which it is done. */
  address: string
}

/** The steps of setting up a company, each done once there is something. Features that are not loaded have none. */
export function listSetupSteps(
  { coverage, freshness, checks, alerts }: HealthSummary,
  sources: readonly { name: string }[],
): SetupStep[] {
  const [first] = sources
  const step = (id: SetupStep['id'], isDone: boolean, address: string) => ({ id, isDone, address })
  return [
    step('connect', first !== undefined, '/sources?add='),
    step(
      'discover',
      coverage.total_tables > 0,
      first ? withQuery(sourceAddress(first.name), { tab: 'tables' }) : '/sources',
    ),
    ...(freshness ? [step('freshness', freshness.total_tables > 0, '/catalog')] : []),
    ...(checks ? [step('checks', checks.passing + checks.failing + checks.error > 0, '/catalog')] : []),
    step('destination', alerts.active_destinations > 0, '/routing'),
  ]
}

const HIDDEN = 'hidden'

export const isChecklistHidden = ({ custom }: Preferences): boolean => custom.checklist === HIDDEN

/** Whether a user is led through the setup: one who may do it, and has neither finished the tour nor hidden it. */
export function isLedThroughSetup(preferences: Preferences | null): preferences is Preferences {
  return (
    preferences !== null && canWrite() && !preferences.onboarding.completed && !isChecklistHidden(preferences)
  )
}

/** Hides the checklist from this user, or shows it again. */
export async function hideChecklist(isHidden: boolean): Promise<void> {
  // `custom` is replaced as a whole, and another client may have stored something since.
  const { data: now } = await api.get('/api/v1/auth/preferences')
  const { checklist: _former, ...custom } = now.custom
  const { data } = await api.patch('/api/v1/auth/preferences', {
    body: { custom: isHidden ? { ...custom, checklist: HIDDEN } : custom },
  })
  updatePreferences(data)
}
