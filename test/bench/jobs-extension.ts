/** A job that does nothing, added as an extension adds one, so that `jobs.ts` measures the engine as it runs. */
import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import type { Job } from '../../server/jobs/jobs.ts'

/** Jobs at once, of all together and of each company. */
export const AT_ONCE = 8

/** Who hears that a job has begun. */
export const listener: { heard(n: number): void } = { heard: () => undefined }

/** The job; its data is a number that identifies it. */
export const nothingJob: Job<{ n: number }> = {
  name: 'bench.nothing',
  data: Joi.object({ n: Joi.number().required() }),
  concurrency: { local: AT_ONCE, perGroup: AT_ONCE },
  work({ n }) {
    listener.heard(n)
    return Promise.resolve()
  },
}

export default { name: 'bench-jobs', register: (server: Server) => server.jobs.add(nothingJob as Job) }
