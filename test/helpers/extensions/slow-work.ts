import { once } from 'node:events'
import Joi from 'joi'
import type { Server } from '@hapi/hapi'
import { access } from '../../../server/http/access.ts'
import type { Job } from '../../../server/jobs/jobs.ts'

/** What is under way, and what is to end it: `release` of the name of the work. */
export const work = new EventTarget()

/** Runs until it is released, and keeps on beyond its signal unless it is of those who listen. */
export const slow: Job<{ id: string; listens: boolean }> = {
  name: 'slow.run',
  data: Joi.object({ id: Joi.string().required(), listens: Joi.boolean().required() }),
  queue: { retries: 0 },
  concurrency: { local: 2 },
  async work({ id, listens }, { signal }) {
    const released = once(work, id, listens ? { signal } : {})
    work.dispatchEvent(new Event(`begun ${id}`))
    await released
  },
}

export default {
  name: 'slow-work',
  register(server: Server) {
    server.jobs.add(slow)
    server.route({
      method: 'GET',
      path: '/slow',
      async handler() {
        const released = once(work, 'answer')
        work.dispatchEvent(new Event('asked'))
        await released
        return 'done'
      },
      options: { ...access.open, description: 'Answers when it is released', tags: ['api', 'public'] },
    })
  },
}
