/** Functions that tests run in threads. */
import { threadId } from 'node:worker_threads'
import { retireThread } from '../../../server/text-pool/retire.ts'

export const double = (value: number): number => 2 * value

export function fail(message: string): never {
  throw new TypeError(message)
}

export function loop(): never {
  for (;;) Math.sqrt(2)
}

/** Keeps objects until the thread is ended. */
export function hoard(): never {
  const kept: object[] = []
  for (;;) kept.push({ at: kept.length })
}

/** Leaves objects that nothing refers to: they stay until there is need of their memory. */
export function litter(count: number): number {
  return Array.from({ length: count }, (_, at) => ({ at })).length
}

/** Takes CPU time and no memory. */
export function spin(milliseconds: number): string {
  const end = performance.now() + milliseconds
  while (performance.now() < end) Math.sqrt(2)
  return 'spun'
}

/** Blocks without taking CPU time until the first number is 1, and counts itself in the second meanwhile. */
export function wait(shared: Int32Array): number {
  Atomics.add(shared, 1, 1)
  Atomics.notify(shared, 1)
  Atomics.wait(shared, 0, 0)
  return Atomics.load(shared, 1)
}

/** One regular expression, which no code of ours can interrupt. */
export const backtrack = (text: string): boolean => /^(a+)+$/.test(text)

export const settings = (): string[] => Object.keys(process.env)

/** Takes time and no CPU, as a thread does that others leave none. */
export const rest = (milliseconds: number): Promise<string> =>
  new Promise(resolve => setTimeout(resolve, milliseconds, 'rested'))

/** @returns the id of its thread, which is to be ended where something broke */
export function whoAmI(isBroken: boolean): number {
  if (isBroken) retireThread()
  return threadId
}
