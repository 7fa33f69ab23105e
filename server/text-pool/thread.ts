/** What a worker thread of the pool runs: one exported function of a module, with one argument. */
import { threadId } from 'node:worker_threads'
import { enterTask, TASK_FIELDS } from './retire.ts'

export interface ThreadTask {
  /** The address of the module. */
  module: string
  /** The function that it exports. */
  name: string
  input: unknown
  /** What the thread says of itself, at the places of `TASK_FIELDS`. */
  shared: Int32Array
}

/** @throws what the function throws, and TypeError where the module has none of that name */
export default async function runInThread({ module, name, input, shared }: ThreadTask): Promise<unknown> {
  const exported = (await import(module)) as Record<string, (input: unknown) => unknown>
  // Loading counts for no task.
  Atomics.store(shared, TASK_FIELDS.thread, threadId)
  enterTask(shared)
  const run = exported[name]
  if (typeof run !== 'function') throw new TypeError(`${module} exports no function ${name}`)
  return await run(input)
}
