import type { Dimension } from '../alerts/api.ts'

/** What each dimension of alerts is about. */
const ABOUT: Record<Dimension, string> = {
  freshness: 'Tables whose newest data is too old.',
  volume: 'Tables with an unusual number of rows.',
  schema: 'Schema changes.',
  validity: 'Values: rules, other metrics, references and comparisons.',
  contracts: 'Clauses of contracts that do not hold.',
  pipelines: 'Sources that cannot be reached, and failed checks of other systems.',
}

/** The dimensions of alerts in the order in which they are shown, with what they are about. */
export const DIMENSIONS = Object.entries(ABOUT)
