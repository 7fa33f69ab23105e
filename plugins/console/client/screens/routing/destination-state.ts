import type { Destination } from 'tidemark/client'
import { routingTexts } from '../../texts/routing.ts'

/** How a destination fares. */
export interface DestinationState {
  state: 'active' | 'paused' | 'failing' | 'untested' | 'disabled'
  /** A status of `Status` that looks like it. */
  status: string
  word: string
  /** The same as a sentence. */
  sentence: string
}

export function describeDestination(
  destination: Pick<Destination, 'name' | 'is_active' | 'is_verified' | 'disabled_reason' | 'failing_since'>,
): DestinationState {
  const { name } = destination
  if (destination.disabled_reason !== null)
    return {
      state: 'disabled',
      status: 'failed',
      word: routingTexts.disabled,
      sentence: routingTexts.isDisabled(name),
    }
  if (!destination.is_active)
    return {
      state: 'paused',
      status: 'unknown',
      word: routingTexts.paused,
      sentence: routingTexts.isPaused(name),
    }
  if (destination.failing_since !== null)
    return {
      state: 'failing',
      status: 'failing',
      word: routingTexts.failing,
      sentence: routingTexts.isFailing(name),
    }
  if (!destination.is_verified)
    return {
      state: 'untested',
      status: 'info',
      word: routingTexts.untested,
      sentence: routingTexts.isUntested(name),
    }
  return {
    state: 'active',
    status: 'ready',
    word: routingTexts.active,
    sentence: routingTexts.takesMessages(name),
  }
}
