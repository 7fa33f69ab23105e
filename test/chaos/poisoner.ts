/** An extension of the servers under test: jobs that take their process down, each in its own way, and good ones. */
import { setTimeout as wait } from 'node:timers/promises'
import Joi from 'joi'
import type { Server } from '@hapi/hapi'
import type { Job } from '../../server/jobs/jobs.ts'

/** The data of a job. */
export interface Dose {
  id: string
  how: 'exit' | 'loop' | 'memory' | 'good'
}

/** Only the heartbeat of the engine distinguishes crashes from failures. */
export const dose: Job<Dose> = {
  name: 'poison.swallow',
  data: Joi.object({ id: Joi.string().required(), how: Joi.string().required() }),
  queue: { retries: 10, retryDelaySeconds: 1 },
  concurrency: { local: 8 },
  async work({ how }) {
    if (how === 'exit') process.exit(1)
    if (how === 'loop') for (;;);
    if (how === 'memory') {
      const held: string[][] = []
      for (;;) held.push(Array.from({ length: 100_000 }, () => `${Math.random()}`))
    }
    await wait(5)
    return {}
  },
}

export const plugin = {
  name: 'chaos-poisoner',
  register(server: Server): void {
    process.once('disconnect', () => process.exit())
    server.jobs.add(dose as Job)
  },
}
