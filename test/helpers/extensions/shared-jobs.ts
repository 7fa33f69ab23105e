import Joi from 'joi'
import type { Plugin } from '@hapi/hapi'
import type { Job } from '../../../server/jobs/jobs.ts'

/** A job that is held until the test releases it. */
export interface HeldData {
  company_id: string
  id: string
}

/** The held jobs that run, by their ids. */
export const running = new Map<string, HeldData & { release(): void }>()

/** Companies share eight slots; two jobs of a group run at once. */
export const hold: Job<HeldData> = {
  name: 'probe.hold',
  data: Joi.object({ company_id: Joi.string().required(), id: Joi.string().required() }),
  concurrency: { isShared: true, local: 8, perGroup: 2 },
  async work(data, { signal }) {
    const { promise, resolve } = Promise.withResolvers<void>()
    running.set(data.id, { ...data, release: resolve })
    signal.addEventListener('abort', () => resolve())
    await promise
    running.delete(data.id)
  },
}

/** What each attempt of a job received of the attempt before it, by job id. */
export const losses = new Map<string, (boolean | undefined)[]>()

/** Deals with lost processes itself. */
export const survivor: Job<{ id: string }> = {
  name: 'probe.survivor',
  data: Joi.object({ id: Joi.string().required() }),
  losses: 'handled',
  async work({ id }, { isAfterLoss }) {
    losses.set(id, [...(losses.get(id) ?? []), isAfterLoss])
  },
}

/** The extension. */
export const plugin: Plugin<undefined> = {
  name: 'shared-jobs',
  register(server) {
    server.jobs.add(hold as Job, survivor as Job)
  },
}
