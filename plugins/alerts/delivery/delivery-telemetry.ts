import { recordSpan } from '../../../server/telemetry/spans.ts'
import type { Telemetry } from '../../../server/telemetry/telemetry.ts'

/** Other classes, of a third party's destination type, count as `other`: they could add series without end. */
const ERROR_CLASSES = [
  ...['egress_refused', 'dns', 'connect', 'tls', 'timeout', 'protocol', 'status', 'configuration'],
]

type AttemptRecorder = (type: string, errorClass: string | null, ms: number) => void

/** By the telemetry of a server: plugins and jobs see it as different objects, and its telemetry as one. */
const recorders = new WeakMap<Telemetry, AttemptRecorder>()

export function addDeliveryTelemetry(telemetry: Telemetry): void {
  const count = telemetry.addCounter('delivery_attempts', 'Attempts to deliver alerts', ['type', 'result'])
  const time = telemetry.addDuration('delivery_duration', 'Duration of attempts to deliver', ['type'])
  recorders.set(telemetry, (type, errorClass, ms) => {
    const failure = ERROR_CLASSES.includes(errorClass ?? '') ? errorClass! : 'other'
    count({ type, result: errorClass === null ? 'delivered' : failure })
    time({ type }, ms)
    recordSpan(`deliver ${type}`, {
      attributes: { 'tidemark.destination_type': type },
      ms,
      ...(errorClass !== null && { error: failure }),
    })
  })
}

/** Records one attempt. @param errorClass null for a delivered one */
export function recordAttempt(telemetry: Telemetry, ...attempt: Parameters<AttemptRecorder>): void {
  recorders.get(telemetry)?.(...attempt)
}
