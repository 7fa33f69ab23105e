import Joi from 'joi'
import t from 'tap'
import { apiError } from '../../../server/http/errors.ts'
import { GiveUp, PutOff } from '../../../server/jobs/jobs.ts'
import { runJob } from '../../../server/jobs/run-job.ts'
import { jobContext } from '../../helpers/job-context.ts'
import { startServer } from '../../helpers/server.ts'

const { server, signUp } = await startServer(t)
const { companyId } = await signUp()

/** What is thrown, and the errors that are stored of it. */
async function fails(error: Error, { isLast = false } = {}) {
  const stored: string[] = []
  const job = runJob<{ company_id: string; run_id: string }>({
    name: 'probe.run',
    data: { run_id: Joi.string().required() },
    expireSeconds: 60,
    work: () => Promise.reject(error),
    fail: (_trx, { run_id: id }, { message }) => Promise.resolve(stored.push(`${id}: ${message}`)),
  })
  const context = jobContext(server, { isLast: () => isLast })
  const thrown = await Promise.resolve(job.work({ company_id: companyId, run_id: 'r' }, context)).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { thrown, stored }
}

t.test('a run has failed at its last try, or at the first that would fail the same way again', async t => {
  const error = new Error('away')
  t.strictSame(await fails(error), { thrown: error, stored: [] })
  t.strictSame(await fails(error, { isLast: true }), { thrown: error, stored: ['r: away'] })
  const { thrown, stored } = await fails(apiError('CONFLICT', 'is off'))
  t.ok(thrown instanceof GiveUp)
  t.strictSame(stored, ['r: is off'])
})

t.test('a run whose source is busy is put off, at its last try too', async t => {
  for (const error of [apiError('UNAVAILABLE', 'busy'), new PutOff('busy', 30)]) {
    const { thrown, stored } = await fails(error, { isLast: true })
    t.ok(thrown instanceof PutOff)
    t.strictSame(stored, [])
  }
})
