import type { Request } from '@hapi/hapi'
import { caller } from '../../../server/http/access.ts'
import { apiError, invalidInput, unprocessableInput } from '../../../server/http/errors.ts'
import { answers400 } from '../../../server/http/replies.ts'
import { MODULE_EXTENSION, TextLimitError, textTask } from '../../../server/text-pool/text-pool.ts'
import { unpack, type readPacked } from './packed-body.ts'
import { readSmallBody, type BodyResult, type BodyTask, type BodyTasks } from './read-body.ts'

/** Bodies up to this are read at once, in at most 10 ms; copying them to a thread and back takes about as long. */
const MAX_INLINE_BYTES: Record<BodyTask, number> = { dbt: 65_536, event: 262_144, events: 262_144 }

/** A project of 5,000 models takes four seconds; the parsed form of a body is several times as large as the body. */
const LIMITS = { cpuMs: 20_000, megabytes: 1_000 }

export const TOO_LARGE_ADVICE =
  'send it with "tidemark lineage dbt TARGET_DIR --source SOURCE", which sends only the parts that are used'

const ADVICE: Record<BodyTask, string> = {
  dbt: TOO_LARGE_ADVICE,
  event: 'leave out facets that are not needed',
  events: 'send fewer events at once',
}

const packed = textTask<typeof readPacked>(
  new URL(`./packed-body.${MODULE_EXTENSION}`, import.meta.url),
  'readPacked',
)

/**
 * Reads the body of a request, whose route leaves it as bytes: in a thread, unless it is small and has no SQL.
 * @throws 400 or 422 naming what is wrong, as the path has it, 413 naming the limit, 503 when another body of the company waits already
 */
export async function readRequestBody<Task extends BodyTask>(
  task: Task,
  request: Request,
): Promise<BodyTasks[Task]> {
  const bytes = Buffer.isBuffer(request.payload) ? request.payload : Buffer.alloc(0)
  const { timezone } = request.server.config
  const isSmall = bytes.length <= MAX_INLINE_BYTES[task]
  const result =
    (isSmall && (await readSmallBody(task, bytes, timezone))) || (await readApart(task, bytes, request))
  if ('unreadable' in result) throw apiError('BAD_REQUEST', result.unreadable)
  if ('problems' in result)
    throw answers400(request.path) ? invalidInput(result.problems) : unprocessableInput(result.problems)
  if ('tooLarge' in result) throw apiError('PAYLOAD_TOO_LARGE', result.tooLarge)
  return result.value
}

async function readApart<Task extends BodyTask>(
  task: Task,
  bytes: Buffer,
  request: Request,
): Promise<BodyResult<Task>> {
  // A view of a larger buffer is copied, since its buffer is not ours alone.
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  const sent = isWhole ? new Uint8Array(bytes.buffer as ArrayBuffer) : Uint8Array.from(bytes)
  const options = { ...LIMITS, owner: caller(request).companyId, transfer: [sent.buffer] }
  try {
    const result = await request.server.textPool.run(
      packed,
      { task, bytes: sent, timezone: request.server.config.timezone },
      options,
    )
    return await unpack(task, result as Awaited<ReturnType<typeof readPacked<Task>>>)
  } catch (error) {
    if (!(error instanceof TextLimitError)) throw error
    throw apiError('PAYLOAD_TOO_LARGE', `The body is too large: ${error.message}: ${ADVICE[task]}`)
  }
}
