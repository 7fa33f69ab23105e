/** Log lines, metrics and the span of one attempt of a job. */
import type { JobResult, JobWithMetadata } from 'pg-boss'
import type { Logger } from 'pino'
import type { Job } from './job.ts'
import { idsOf, splitCause } from './origin.ts'
import { withOrigin } from '../telemetry/origin.ts'
import { failSpan, inSpan, type SpanStart } from '../telemetry/spans.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/**
 * Runs one job under the cause that sent it, or as its own cause if a schedule did. All log lines of the run carry the
 * cause, the job and the ids of its data.
 * @param work never rejects
 */
export function followJob(
  job: Pick<Job, 'name' | 'every'>,
  record: JobWithMetadata<object>,
  { log, telemetry }: { log: Logger; telemetry: Telemetry },
  work: () => Promise<JobResult>,
): Promise<JobResult> {
  const { data, cause } = splitCause(record.data ?? {})
  const ids = idsOf(data)
  const attempt = record.retryCount + 1
  const start: SpanStart = {
    kind: 'consumer',
    attributes: {
      'messaging.destination.name': job.name,
      'messaging.message.id': record.id,
      'tidemark.attempt': attempt,
      ...Object.fromEntries(Object.entries(ids).map(([name, id]) => [`tidemark.${name}`, id])),
    },
    ...(cause?.trace !== undefined && { parent: cause.trace }),
  }
  const origin = { id: cause?.id ?? record.id, fields: { job: job.name, job_id: record.id, ...ids } }
  return withOrigin(origin, () =>
    inSpan(`job ${job.name}`, start, async span => {
      const startedAt = performance.now()
      const result = await work()
      const ms = performance.now() - startedAt
      telemetry.job(job.name, RESULTS[result.status], ms)
      if (result.status === 'completed') {
        // Sweeps run every minute, mostly without work.
        log[job.every ? 'debug' : 'info']({ attempt, ms: Math.round(ms) }, 'job completed')
      } else failSpan(span, result.status)
      return result
    }),
  )
}

const RESULTS = {
  completed: 'completed',
  failed: 'failed',
  deadletter: 'gave_up',
} as const
