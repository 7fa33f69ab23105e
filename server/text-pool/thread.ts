/** What a worker thread of the pool runs: one exported function of a module, with one argument. */
import { threadId } from 'node:worker_threads'

export interface ThreadTask {
  /** The address of the module. */
  module: string
  /** The function that it exports. */
  name: string
  input: unknown
  /** Receives the id of the thread when the task begins. */
  begun: Int32Array
}

/** @throws what the function throws, and TypeError where the module has none of that name */
export default async function runInThread({ module, name, input, begun }: ThreadTask): Promise<unknown> {
  const exported = (await import(module)) as Record<string, (input: unknown) => unknown>
  // Loading counts for no task.
  Atomics.store(begun, 0, threadId)
  const run = exported[name]
  if (typeof run !== 'function') throw new TypeError(`${module} exports no function ${name}`)
  return await run(input)
}
