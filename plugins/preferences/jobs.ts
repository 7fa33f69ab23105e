import Joi from 'joi'
import type { Job } from '../../server/jobs/jobs.ts'

const RETENTION_DAYS = 90

export const pruneOnboardingEvents: Job = {
  name: 'preferences.prune',
  data: Joi.object({}),
  every: '41 3 * * *',
  async work(_data, { server }) {
    const [row] = await server.db.statement<{ count: number }>(
      `with gone as (delete from onboarding_events where at < now() - make_interval(days => :days) returning 1)
       select cast(count(*) as int) as count from gone`,
      { days: RETENTION_DAYS },
    )
    return { deleted: row?.count ?? 0 }
  },
}
