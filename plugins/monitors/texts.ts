/** Files of requests and replies: read and written in a thread where that takes long. */
import { caller, type AnyRequest, type ValidRequest } from '../../server/http/access.ts'
import { apiError } from '../../server/http/errors.ts'
import { unpackList } from '../../server/text-pool/parts.ts'
import { MODULE_EXTENSION, textTask } from '../../server/text-pool/text-pool.ts'
import { refuseTooLarge } from '../../server/text-pool/too-large.ts'
import type { MonitorsRequest } from './apply.ts'
import { toReadFile } from './file/read-file.ts'
import { writeMonitors, type MonitorsDocument } from './file/monitors-file.ts'
import type { readFiles } from './file/read-files.ts'
import type { writeMonitorsJson } from './file/write-json.ts'
import { MAX_FILE_BYTES, type MonitorsBody } from './schemas.ts'
import { faultsError } from './faults.ts'

/** Files of 2 MiB take two seconds and 200 MiB; those that are nothing but mistakes take several times as much. */
const LIMITS = { cpuMs: 10_000, megabytes: 512 }
/** Several sources are applied at the same time. */
const MAX_WAITING = 4

const ADVICE = 'leave out what is no check, or send the files of fewer tables'

/** Characters of JSON of 200 checks, which take 20 ms to write. */
const MAX_INLINE_CHARACTERS = 40_000

const moduleOf = (name: string) => new URL(`./file/${name}.${MODULE_EXTENSION}`, import.meta.url)
const reading = textTask<typeof readFiles>(moduleOf('read-files'), 'readFiles')
const writing = textTask<typeof writeMonitorsJson>(moduleOf('write-json'), 'writeMonitorsJson')

/**
 * @param kinds those that checks may be of
 * @throws 400 with the mistakes of all files; 413 for a file or files that are too large, naming the limit; 503 when too
 *   many requests of the company wait
 */
export async function readRequest(
  request: ValidRequest<MonitorsBody, unknown>,
  kinds: readonly string[],
): Promise<MonitorsRequest> {
  const { files, prune } = request.payload
  for (const { name, content } of files)
    if (typeof content === 'string' && Buffer.byteLength(content) > MAX_FILE_BYTES)
      throw apiError(
        'PAYLOAD_TOO_LARGE',
        `The file ${name} has more than ${MAX_FILE_BYTES} bytes: split it`,
        {
          limit: MAX_FILE_BYTES,
        },
      )
  const owner = caller(request).companyId
  const read = await request.server.textPool
    .run(reading, { files, kinds }, { ...LIMITS, owner, maxWaiting: MAX_WAITING })
    .catch(refuseTooLarge('The files', ADVICE))
  if ('faults' in read) throw faultsError(read.faults)
  if ('tooMuch' in read) throw apiError('PAYLOAD_TOO_LARGE', read.tooMuch)
  const heads = await unpackList(read.heads)
  const byFile = Map.groupBy(await unpackList(read.entries), ({ file }) => file)
  return { files: heads.map((head, file) => toReadFile(head, byFile.get(file) ?? [])), prune }
}

/**
 * Writes the checks of a source as YAML.
 * @throws 413 for more than can be written, 503 when too many requests of the company wait
 */
export async function writeText(
  request: AnyRequest,
  document: MonitorsDocument,
  schemaUrl: string,
): Promise<string> {
  const json = JSON.stringify(document)
  if (json.length <= MAX_INLINE_CHARACTERS) return writeMonitors(document, schemaUrl)
  const options = { ...LIMITS, owner: caller(request).companyId, maxWaiting: MAX_WAITING }
  return request.server.textPool
    .run(writing, { document: json, schemaUrl }, options)
    .catch(refuseTooLarge('The file', 'export it as JSON'))
}
