/** What caused what is being done right now, so that each line of the log says so. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** A request, or a job that nothing else caused, with all that follows from it. */
export interface Origin {
  /** The request's id or the job's; empty while a request has none yet. */
  id: string
  /** What each line of the log says beside it: ids, and the names of jobs. */
  fields: Readonly<Record<string, string | number>>
}

const origins = new AsyncLocalStorage<Origin | undefined>()

/** What is being followed here, if anything. */
export function currentOrigin(): Origin | undefined {
  return origins.getStore()
}

/** Runs work, and all that it starts, as caused by an origin. */
export function withOrigin<T>(origin: Origin, work: () => T): T {
  return origins.run(origin, work)
}

/** Runs work whose lines in the log say more than those around it. */
export function withFields<T>(fields: Origin['fields'], work: () => T): T {
  const around = origins.getStore()
  return origins.run({ id: around?.id ?? '', fields: { ...around?.fields, ...fields } }, work)
}

/** Lets the lines from here on say more, all those of the origin. */
export function noteFields(fields: Origin['fields']): void {
  const around = origins.getStore()
  if (around) around.fields = { ...around.fields, ...fields }
}

/** Runs what no origin is to blame for, such as the loss of a connection that a request opened long ago. */
export function withoutOrigin<T>(work: () => T): T {
  return origins.run(undefined, work)
}

/** What a line of the log says of its origin; a new object each time, since the logger writes into it. */
export function originFields(): Record<string, string | number> {
  const origin = origins.getStore()
  if (!origin) return {}
  return origin.id === '' ? { ...origin.fields } : { origin: origin.id, ...origin.fields }
}
