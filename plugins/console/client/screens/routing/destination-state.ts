import type { Destination } from 'tidemark/client'
import { routingTexts } from './texts.ts'

/** How a destination fares. */
export interface DestinationState {
  state: 'active' | 'paused' | 'failing' | 'untested' | 'disabled'
  /** A status of `Status` that looks like it. */
  status: string
  word: string
  /** The same as a sentence. */
  sentence: string
}

type State = DestinationState['state']

const STATES: Record<State, { status: string; word: string; describe(name: string): string }> = {
  disabled: { status: 'failed', word: 'switched off', describe: routingTexts.isDisabled },
  paused: { status: 'unknown', word: routingTexts.paused, describe: routingTexts.isPaused },
  failing: { status: 'failing', word: 'failing', describe: routingTexts.isFailing },
  untested: { status: 'info', word: 'not tested', describe: routingTexts.isUntested },
  active: { status: 'ready', word: routingTexts.active, describe: routingTexts.takesMessages },
}

type Described = Pick<Destination, 'name' | 'is_active' | 'is_verified' | 'disabled_reason' | 'failing_since'>

/** How a destination fares; what stops its messages comes first. */
export function describeDestination(destination: Described): DestinationState {
  const state = stateOf(destination)
  const { status, word, describe } = STATES[state]
  return { state, status, word, sentence: describe(destination.name) }
}

function stateOf(destination: Described): State {
  if (destination.disabled_reason !== null) return 'disabled'
  if (!destination.is_active) return 'paused'
  if (destination.failing_since !== null) return 'failing'
  return destination.is_verified ? 'active' : 'untested'
}
