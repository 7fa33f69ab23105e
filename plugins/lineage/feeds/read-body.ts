/** Reading of bodies of pipelines, in this thread or in another one. */
import { ArtifactError, reduceArtifacts } from '../dbt/artifacts.ts'
import { isRecord } from '../json.ts'
import { readProject, type DbtProject } from '../dbt/project.ts'
import { listModelRuns, listTests, type DbtModelRun, type DbtTest } from '../dbt/test-results.ts'
import { readEvent, type EventProblem, type LineageEvent } from '../openlineage/event.ts'

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

/** What is wrong with a body, or what it says. */
export type BodyResult<Task extends BodyTask> =
  { value: BodyTasks[Task] } | { problems: EventProblem[] } | { unreadable: string }

export const MAX_BATCH_EVENTS = 500

const MISSING_BODY = { field: 'body', error: 'a JSON object is required in the body' }

/** Parses and reduces a body. Its bytes are JSON in UTF-8. */
export async function readBody<Task extends BodyTask>(
  task: Task,
  bytes: Uint8Array,
): Promise<BodyResult<Task>> {
  let body: unknown
  if (bytes.length === 0) return { problems: [MISSING_BODY] }
  try {
    body = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return { unreadable: 'The body is not valid JSON: check quotes, commas and brackets' }
  }
  return body === null ? { problems: [MISSING_BODY] } : READERS[task](body)
}

const READERS: {
  [Task in BodyTask]: (body: unknown) => BodyResult<Task> | Promise<BodyResult<Task>>
} = {
  dbt: readDbt,
  event(body) {
    const found = readEvent(body)
    return 'event' in found ? { value: found.event } : found
  },
  events(body) {
    if (!Array.isArray(body) || body.length > MAX_BATCH_EVENTS)
      return {
        problems: [{ field: 'body', error: `the body must be a list of at most ${MAX_BATCH_EVENTS} events` }],
      }
    return { value: body.map(readEvent) }
  },
}

const DBT_FIELDS = ['source', 'manifest', 'catalog', 'run_results']

async function readDbt(body: unknown): Promise<BodyResult<'dbt'>> {
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
    const artifacts = await reduceArtifacts(body)
    const project = readProject(artifacts)
    return {
      value: {
        source: String(body.source),
        project,
        tests: listTests(artifacts, project),
        runs: listModelRuns(artifacts, project),
        invocationId: artifacts.run_results?.invocation_id ?? null,
      },
    }
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error
    return { problems: [{ field: error.field, error: `${error.field} ${error.message}` }] }
  }
}
