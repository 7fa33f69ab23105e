import { setTimeout as wait } from 'node:timers/promises'
import Joi from 'joi'
import type { Plugin } from '@hapi/hapi'
import { GiveUp, PutOff, type Job, type JobContext } from '../../../server/jobs/jobs.ts'

/** What a probe does. */
export interface Probe {
  id: string
  /** How many tries fail; all when absent. */
  failures?: number
}

/** The tries of every probe, by its id. */
export const tries = new Map<string, number[]>()

function note({ id }: Probe, { attempt }: JobContext): void {
  tries.set(id, [...(tries.get(id) ?? []), attempt])
}

/** What an HTTP client throws: it carries what must not be stored. */
class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly options = { headers: { authorization: 'Bearer secret-token' } }
}

const data = Joi.object({ id: Joi.string().required(), failures: Joi.number() })

/** Does what its data requests, and records the caller. */
export const echo: Job<Probe> = {
  name: 'probe.echo',
  data,
  async work(probe, context) {
    note(probe, context)
    return { echoed: probe.id }
  },
}

/** Fails some times, then works; two retries without a pause. */
export const flaky: Job<Probe> = {
  name: 'probe.flaky',
  data,
  queue: { retries: 2, retryDelaySeconds: 0 },
  async work(probe, context) {
    note(probe, context)
    if (context.attempt <= (probe.failures ?? Infinity))
      throw new RequestError(`try ${context.attempt} failed`)
    return { attempt: context.attempt }
  },
}

/** Would fail the same way each time, and says so. */
export const hopeless: Job<Probe> = {
  name: 'probe.hopeless',
  data,
  queue: { retries: 5, retryDelaySeconds: 0 },
  async work(probe, context) {
    note(probe, context)
    throw new GiveUp(`${probe.id} cannot be done`)
  },
}

/** Is put off as often as it should fail, then works. It has one try. */
export const busy: Job<Probe> = {
  name: 'probe.busy',
  data,
  queue: { retries: 0 },
  async work(probe, context) {
    note(probe, context)
    if (tries.get(probe.id)!.length <= (probe.failures ?? Infinity))
      throw new PutOff('All sessions are in use', 0)
    return { attempt: context.attempt }
  },
}

/** How many of a crowd were at work at once. */
export const crowdSize = { now: 0, most: 0 }

/** Takes a moment; four at once. */
export const crowd: Job<Probe> = {
  name: 'probe.crowd',
  data,
  concurrency: { local: 4 },
  async work() {
    crowdSize.now += 1
    crowdSize.most = Math.max(crowdSize.most, crowdSize.now)
    await wait(Math.random() * 10)
    crowdSize.now -= 1
  },
}

/** The extension. */
export const plugin: Plugin<undefined> = {
  name: 'probe-jobs',
  register(server) {
    server.jobs.add(echo as Job, flaky as Job, hopeless as Job, busy as Job, crowd as Job)
  },
}
