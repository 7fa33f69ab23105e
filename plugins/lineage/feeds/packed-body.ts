/** Bodies on their way from the thread that read them: long lists go in parts. */
import { packList, unpackList, type PackedList } from '../../../server/text-pool/parts.ts'
import type { DbtEdge, DbtExposure, DbtRelation } from '../dbt/project.ts'
import type { DbtModelRun, DbtTest } from '../dbt/test-results.ts'
import type { LineageEvent } from '../openlineage/event.ts'
import {
  readBody,
  type BodyResult,
  type BodyTask,
  type BodyTasks,
  type DbtBody,
  type ReadEvent,
} from './read-body.ts'

/** By task, what a thread sends. */
interface PackedBodies {
  dbt: Pick<DbtBody, 'source' | 'invocationId'> & {
    name: string
    relations: PackedList<DbtRelation>
    exposures: PackedList<DbtExposure>
    edges: PackedList<DbtEdge>
    tests: PackedList<DbtTest>
    runs: PackedList<DbtModelRun>
  }
  event: PackedList<LineageEvent>
  events: PackedList<ReadEvent>
}

type PackedResult<Task extends BodyTask> =
  { packed: PackedBodies[Task] } | Exclude<BodyResult<Task>, { value: unknown }>

const PACKERS: { [Task in BodyTask]: (value: BodyTasks[Task]) => PackedBodies[Task] } = {
  dbt: ({ source, invocationId, project, tests, runs }) => ({
    source,
    invocationId,
    name: project.name,
    relations: packList(project.relations.values()),
    exposures: packList(project.exposures.values()),
    edges: packList(project.edges),
    tests: packList(tests),
    runs: packList(runs),
  }),
  event: event => packList([event]),
  events: packList,
}

const UNPACKERS: { [Task in BodyTask]: (packed: PackedBodies[Task]) => Promise<BodyTasks[Task]> } = {
  async dbt({ source, invocationId, name, relations, exposures, edges, tests, runs }) {
    const byId = async <Item extends { uniqueId: string }>(list: PackedList<Item>) =>
      new Map((await unpackList(list)).map(item => [item.uniqueId, item]))
    return {
      source,
      invocationId,
      project: {
        name,
        relations: await byId(relations),
        exposures: await byId(exposures),
        edges: await unpackList(edges),
      },
      tests: await unpackList(tests),
      runs: await unpackList(runs),
    }
  },
  async event(packed) {
    const [event] = await unpackList(packed)
    return event!
  },
  events: unpackList,
}

/** What a thread of the pool runs. */
export async function readPacked<Task extends BodyTask>({
  task,
  bytes,
  timezone,
}: {
  task: Task
  bytes: Uint8Array
  timezone: string
}): Promise<PackedResult<Task>> {
  const result = await readBody(task, bytes, timezone)
  return 'value' in result ? { packed: PACKERS[task](result.value) } : result
}

/** What the thread that serves people makes of it. */
export async function unpack<Task extends BodyTask>(
  task: Task,
  result: PackedResult<Task>,
): Promise<BodyResult<Task>> {
  return 'packed' in result ? { value: await UNPACKERS[task](result.packed) } : result
}
