import type { JobResult, JobWithMetadata } from 'pg-boss'
import type { Logger } from 'pino'
import type { Server } from '@hapi/hapi'
import { checked, GiveUp, PutOff, type Job } from './job.ts'
import { Crashed, sentData, type Crashes } from './crashes.ts'
import type { Running } from './drain.ts'
import { idsOf, splitCause } from './origin.ts'
import { withOrigin } from '../telemetry/origin.ts'
import { failSpan, inSpan, type SpanStart } from '../telemetry/spans.ts'

export interface Surroundings {
  server: Server
  log: Logger
  running: Running
  crashes: Crashes
  /** Called with the running jobs whenever one begins. */
  note(atWork: string): void
}

/** The loss of the process of a job's previous try. */
export interface Loss {
  /** Settles when it is counted; absent for jobs that handle losses themselves. */
  counted: Promise<void> | undefined
}

interface Try {
  /** Aborts when the job is no longer claimed, or took too long. */
  signal: AbortSignal
  loss: Loss | undefined
}

/** A job that was put off: nothing of it is stored. */
export interface PutOffResult {
  status: 'put_off'
  seconds: number
}

/**
 * Runs one job under the cause that sent it, or as its own cause if a schedule did, with a span and metrics. All log lines
 * of the run carry the cause, the job and the ids of its data.
 */
export function workJob(
  job: Job,
  record: JobWithMetadata<object>,
  surroundings: Surroundings,
  thisTry: Try,
): Promise<JobResult | PutOffResult> {
  const { log, server } = surroundings
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
      const result = await tryJob(job, record, surroundings, thisTry)
      const ms = performance.now() - startedAt
      server.telemetry.job(job.name, RESULTS[result.status], ms)
      if (result.status === 'completed') {
        // Sweeps run every minute, mostly without work.
        log[job.every ? 'debug' : 'info']({ attempt, ms: Math.round(ms) }, 'job completed')
      } else if (result.status !== 'put_off') failSpan(span, result.status)
      return result
    }),
  )
}

const RESULTS = {
  completed: 'completed',
  failed: 'failed',
  deadletter: 'gave_up',
  put_off: 'put_off',
} as const

/** Limit of a job's stored output: an operator's view loads many of them. */
const MAX_OUTPUT_CHARACTERS = 2_048

/** Runs one try of a job. @returns its result; never rejects */
async function tryJob(
  job: Job,
  record: JobWithMetadata<object>,
  surroundings: Surroundings,
  { signal: claimed, loss }: Try,
): Promise<JobResult | PutOffResult> {
  const { server, log, running } = surroundings
  const attempt = record.retryCount + 1
  const isLast = () => attempt > record.retryLimit && !running.handingBack.aborted
  try {
    if (loss?.counted) {
      await loss.counted
      surroundings.crashes.refuse(record)
    }
    const output = await running.track(job.name, record.id, async () => {
      surroundings.note(running.describe())
      const data = checked(job, splitCause(sentData(record)).data)
      const signal = AbortSignal.any([claimed, running.handingBack])
      return job.work(data, {
        server,
        log,
        attempt,
        isLast,
        signal,
        id: record.id,
        isAfterLoss: loss !== undefined,
      })
    })
    return { id: record.id, status: 'completed', output: small(output ?? {}) }
  } catch (error) {
    const { name, message } = error as Error
    if (error instanceof PutOff && !claimed.aborted) {
      log.info({ attempt, reason: message, seconds: error.seconds }, 'job put off')
      return { status: 'put_off', seconds: error.seconds }
    }
    const isFinal = error instanceof GiveUp || error instanceof Crashed
    const isHandedBack = running.handingBack.aborted && !isFinal
    const isOver = isFinal || isLast()
    if (isHandedBack) log.info({ attempt, err: message }, 'job handed back')
    else if (isOver) log.error({ attempt, err: message }, 'job given up on')
    else log.warn({ attempt, err: message }, 'job failed')
    // Only name and message are stored: an error of an HTTP client carries headers.
    return { id: record.id, status: isOver ? 'deadletter' : 'failed', output: small({ name, message }) }
  }
}

/** Cuts a text that is too long, and leaves out any other value that is. */
function small(output: object) {
  const bytes = Buffer.byteLength(JSON.stringify(output))
  if (bytes <= MAX_OUTPUT_CHARACTERS) return output
  const { name, message } = output as { name?: string; message?: string }
  if (typeof message !== 'string') return { truncated: `The output had ${bytes} bytes` }
  // An escaped character takes at most six bytes.
  return { name: String(name).slice(0, 40), message: `${message.slice(0, 250)}…` }
}
