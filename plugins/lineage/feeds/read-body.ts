/** Reading of bodies of pipelines, in this thread or in another one. */
import { NOT_JSON } from '../../../server/readable-body.ts'
import { ArtifactError } from '../dbt/artifact-error.ts'
import { reduceArtifacts } from '../dbt/artifacts.ts'
import { hasSqlToRead } from '../dbt/column-lineage.ts'
import { isRecord, type Json } from '../json.ts'
import { readProject, type DbtProject } from '../dbt/project.ts'
import { listModelRuns, listTests, type DbtModelRun, type DbtTest } from '../dbt/test-results.ts'
import { readEvent, type EventProblem, type LineageEvent } from '../openlineage/event.ts'
import { findExcessOfEvent, findExcessOfProject } from './body-limits.ts'

/** What a body of dbt's artifacts says. */
export interface DbtBody {
  source: string
  project: DbtProject
  tests: DbtTest[]
  runs: DbtModelRun[]
  invocationId: string | null
}

export type ReadEvent = { event: LineageEvent } | { problems: EventProblem[] }

/** By task, what a body becomes. */
export interface BodyTasks {
  dbt: DbtBody
  event: LineageEvent
  events: ReadEvent[]
}

export type BodyTask = keyof BodyTasks

/** What is wrong with a body. */
type Refusal = { problems: EventProblem[] } | { unreadable: string } | { tooLarge: string }

/** What is wrong with a body, or what it says. */
export type BodyResult<Task extends BodyTask> = { value: BodyTasks[Task] } | Refusal

export const MAX_BATCH_EVENTS = 500

const MISSING_BODY = { field: 'body', error: 'a JSON object is required in the body' }

/**
 * Parses and reduces a body, which may take seconds for a large one. Its bytes are JSON in UTF-8.
 * @param timezone of times without an offset: the setting `TIMEZONE`
 * @throws what is no fault of the body
 */
export async function readBody<Task extends BodyTask>(
  task: Task,
  bytes: Uint8Array,
  timezone: string,
): Promise<BodyResult<Task>> {
  const parsed = parseBody(bytes)
  return 'body' in parsed ? readParsed(task, parsed.body, timezone) : parsed
}

/**
 * The same of a small body, in the thread that serves people.
 * @returns undefined where it holds SQL, which takes longer to read than its length says
 */
export async function readSmallBody<Task extends BodyTask>(
  task: Task,
  bytes: Uint8Array,
  timezone: string,
): Promise<BodyResult<Task> | undefined> {
  const parsed = parseBody(bytes)
  if (!('body' in parsed)) return parsed
  const { body } = parsed
  if (task === 'dbt' && isRecord(body) && hasSqlToRead(body.manifest, body.catalog)) return undefined
  return readParsed(task, body, timezone)
}

function parseBody(bytes: Uint8Array): { body: Json } | Refusal {
  if (bytes.length === 0) return { problems: [MISSING_BODY] }
  try {
    const body: Json = JSON.parse(new TextDecoder().decode(bytes))
    return body === null ? { problems: [MISSING_BODY] } : { body }
  } catch {
    return { unreadable: NOT_JSON }
  }
}

async function readParsed<Task extends BodyTask>(
  task: Task,
  body: Json,
  timezone: string,
): Promise<BodyResult<Task>> {
  try {
    return await READERS[task](body, timezone)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { unreadable: 'The body is nested too deeply: send what the tool wrote' }
  }
}

const READERS: {
  [Task in BodyTask]: (body: unknown, timezone: string) => BodyResult<Task> | Promise<BodyResult<Task>>
} = {
  dbt: readDbt,
  event(body, timezone) {
    const found = readEvent(body, timezone)
    if (!('event' in found)) return found
    const tooLarge = findExcessOfEvent(found.event)
    return tooLarge === undefined ? { value: found.event } : { tooLarge }
  },
  events(body, timezone) {
    if (!Array.isArray(body) || body.length > MAX_BATCH_EVENTS)
      return {
        problems: [{ field: 'body', error: `the body must be a list of at most ${MAX_BATCH_EVENTS} events` }],
      }
    return { value: body.map(event => readLimitedEvent(event, timezone)) }
  },
}

/** An event of several, of which each is refused by itself. */
function readLimitedEvent(given: Json, timezone: string): ReadEvent {
  const found = readEvent(given, timezone)
  const excess = 'event' in found ? findExcessOfEvent(found.event) : undefined
  return excess === undefined ? found : { problems: [{ field: 'body', error: excess }] }
}

const DBT_FIELDS = ['source', 'manifest', 'catalog', 'run_results']

async function readDbt(body: unknown, timezone: string): Promise<BodyResult<'dbt'>> {
  if (!isRecord(body))
    return {
      problems: [
        {
          field: 'body',
          error: 'the body has a source and a manifest, as in {"source": "shop", "manifest": {…}}',
        },
      ],
    }
  const unknown = Object.keys(body).filter(key => !DBT_FIELDS.includes(key))
  const problems = unknown.map(field => ({
    field,
    error: `there is no field ${field}: there are ${DBT_FIELDS.join(', ')}`,
  }))
  if (typeof body.source !== 'string' || body.source === '')
    problems.push({ field: 'source', error: 'source must be the id or name of a source' })
  if (body.manifest == null)
    problems.push({ field: 'manifest', error: 'manifest is required: the content of manifest.json' })
  if (problems.length > 0) return { problems }
  try {
    const artifacts = await reduceArtifacts(body, timezone)
    const project = readProject(artifacts)
    const value: DbtBody = {
      source: String(body.source),
      project,
      tests: listTests(artifacts, project, timezone),
      runs: listModelRuns(artifacts, project, timezone),
      invocationId: artifacts.run_results?.invocation_id ?? null,
    }
    const tooLarge = findExcessOfProject(value)
    return tooLarge === undefined ? { value } : { tooLarge }
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error
    return { problems: [{ field: error.field, error: `${error.field} ${error.message}` }] }
  }
}
