import { recordSpan } from '../../../server/telemetry/spans.ts'
import type { Telemetry } from '../../../server/telemetry/telemetry.ts'
import { ERROR_CLASSES } from './outcome-shape.ts'

/** Records one attempt. @param errorClass null for a delivered one */
export type AttemptRecorder = (type: string, errorClass: string | null, ms: number) => void

export function makeAttemptRecorder(telemetry: Telemetry): AttemptRecorder {
  const count = telemetry.addCounter('delivery_attempts', 'Attempts to deliver alerts', ['type', 'result'])
  const time = telemetry.addDuration('delivery_duration', 'Duration of attempts to deliver', ['type'])
  return (type, errorClass, ms) => {
    // A class of a third party's destination type could add series without end.
    const failure = ERROR_CLASSES.has(errorClass ?? '') ? errorClass! : 'other'
    count({ type, result: errorClass === null ? 'delivered' : failure })
    time({ type }, ms)
    recordSpan(`deliver ${type}`, {
      attributes: { 'tidemark.destination_type': type },
      ms,
      ...(errorClass !== null && { error: failure }),
    })
  }
}
