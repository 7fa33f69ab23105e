import { Worker } from 'node:worker_threads'
import type { Request } from '@hapi/hapi'
import { apiError, invalidInput } from '../../../server/http/errors.ts'
import { withTimeout } from '../../../server/with-timeout.ts'
import { MAX_YOUNG_MEGABYTES } from '../../../server/worker-memory.ts'
import { readBody, type BodyResult, type BodyTask, type BodyTasks } from './read-body.ts'

export interface BodyReader {
  /** Reads the body of a request, whose route leaves it as bytes. @throws 400 naming what is wrong, 413, 503 */
  read<Task extends BodyTask>(task: Task, request: Request): Promise<BodyTasks[Task]>
  /** Ends the thread. */
  stop(): Promise<void>
}

/** Events up to this are parsed at once, in a few milliseconds; starting a thread takes longer. */
const MAX_INLINE_BYTES = 262_144
const MAX_WAITING_BODIES = 4
/** The parsed form of a body is several times as large. */
const MAX_THREAD_MEGABYTES = 1_024
/** A project of 5,000 models takes four seconds. */
const MAX_THREAD_MS = 120_000

export const TOO_LARGE_ADVICE =
  'send it with "tidemark lineage dbt TARGET_DIR --source SOURCE", which sends only the parts that are used'

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'

/** Reads large bodies in a thread, one after the other: each takes ten times its size in memory. */
export function createBodyReader(): BodyReader {
  const threads = new Set<Worker>()
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  const readApart = async <Task extends BodyTask>(task: Task, bytes: Buffer): Promise<BodyResult<Task>> => {
    if (waiting >= MAX_WAITING_BODIES) {
      const error = apiError(
        'UNAVAILABLE',
        'Too many large bodies are being read: try again in a few seconds',
      )
      error.output.headers['Retry-After'] = '5'
      throw error
    }
    waiting++
    const turn = last.then(() => runThread(task, bytes, threads))
    last = turn.catch(() => undefined)
    return turn.finally(() => waiting--)
  }

  return {
    async read(task, request) {
      const bytes = Buffer.isBuffer(request.payload) ? request.payload : Buffer.alloc(0)
      // The SQL in dbt's artifacts may take much longer to read than its length says.
      const isSmall = task !== 'dbt' && bytes.length <= MAX_INLINE_BYTES
      const result = await (isSmall ? readBody(task, bytes) : readApart(task, bytes))
      if ('unreadable' in result) throw apiError('BAD_REQUEST', result.unreadable)
      if ('problems' in result) throw invalidInput(result.problems)
      return result.value
    },
    async stop() {
      await Promise.all([...threads].map(thread => thread.terminate()))
    },
  }
}

async function runThread<Task extends BodyTask>(
  task: Task,
  bytes: Buffer,
  threads: Set<Worker>,
): Promise<BodyResult<Task>> {
  const thread = new Worker(new URL(`./body-thread.${extension}`, import.meta.url), {
    resourceLimits: {
      maxOldGenerationSizeMb: MAX_THREAD_MEGABYTES,
      maxYoungGenerationSizeMb: MAX_YOUNG_MEGABYTES,
    },
    argv: [],
    execArgv: [],
    stderr: false,
  })
  threads.add(thread)
  const { promise, resolve, reject } = Promise.withResolvers<BodyResult<Task>>()
  thread.on('message', resolve).on('error', reject)
  thread.on('exit', () => reject(apiError('UNAVAILABLE', 'The service is stopping: try again later')))
  // A view of a larger buffer is copied, since its buffer is not ours alone.
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  const sent = isWhole ? new Uint8Array(bytes.buffer as ArrayBuffer) : Uint8Array.from(bytes)
  thread.postMessage({ task, bytes: sent }, [sent.buffer])
  try {
    return await withTimeout(promise, MAX_THREAD_MS, () => {
      throw apiError('PAYLOAD_TOO_LARGE', `The body takes too long to read: ${TOO_LARGE_ADVICE}`)
    })
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
    throw apiError('PAYLOAD_TOO_LARGE', `The body takes too much memory to read: ${TOO_LARGE_ADVICE}`)
  } finally {
    threads.delete(thread)
    await thread.terminate()
  }
}
