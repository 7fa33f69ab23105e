import type { ServerRoute } from '@hapi/hapi'
import {
  access,
  caller,
  inCompany,
  routesOf,
  type AnyRequest,
  type ValidRequest,
} from '../../server/http/access.ts'
import { auditRequest } from '../../server/http/audit.ts'
import { reply } from '../../server/http/envelopes.ts'
import { pagination } from '../../server/http/page.ts'
import type { Transaction } from '../../server/database/database.ts'
import { discardDead, listDead, listQueues, type DeadFilter } from '../../server/jobs/dead-letters.ts'
import { presentDeadJobs } from './dead-jobs.ts'
import { deadJobQuery, emptyQuery, replies, whichDeadJobs, type WhichDeadJobs } from './schemas.ts'
import { readService } from './service.ts'

const base = '/api/v1/sdk/operations'
const route = routesOf('operations')

export const routes: ServerRoute[] = [
  route('GET', base, access.admin, {
    id: 'getOperations',
    description: 'Get the state of the service and of the jobs of the company',
    notes:
      'For admins. The numbers of jobs are those of your company; the service itself is shared by all. `status` is `late` when jobs wait that no worker takes up.',
    validate: { query: emptyQuery },
    response: reply(replies.operations),
    async handler(request) {
      const service = await readService(request.server)
      const queues = await inCompany(request, trx => listQueues(request.server.jobs, scopeOf(request, trx)))
      return { data: { ...service, queues } }
    },
  }),
  route('GET', `${base}/dead-jobs`, access.admin, {
    id: 'listDeadJobs',
    description: 'List the jobs of the company that failed for good, the latest first',
    notes: 'For admins. They are kept for 30 days, until they are redriven or discarded.',
    validate: { query: deadJobQuery },
    response: reply(replies.deadJobs),
    handler: request =>
      inCompany(request, async trx => {
        const { queue, ...page } = request.query
        const scope = scopeOf(request, trx)
        const { dead, total } = await listDead(scope, queue === undefined ? {} : { queue }, page)
        return { data: await presentDeadJobs(scope, dead), pagination: pagination(total, page) }
      }),
  }),
  route('POST', `${base}/dead-jobs/redrive`, access.admin, {
    id: 'redriveDeadJobs',
    description: 'Send jobs that failed for good to their queues again',
    notes: 'For admins. Each starts anew, with all its tries. Give one of `ids`, `queue` and `all`.',
    validate: { payload: whichDeadJobs },
    response: reply(replies.redriven),
    handler: request =>
      changeDeadJobs(request, 'redriven', (filter, scope) => request.server.jobs.redrive(filter, scope)),
  }),
  route('POST', `${base}/dead-jobs/discard`, access.admin, {
    id: 'discardDeadJobs',
    description: 'Delete jobs that failed for good',
    notes: 'For admins. What they were to do is not done. Give one of `ids`, `queue` and `all`.',
    validate: { payload: whichDeadJobs },
    response: reply(replies.discarded),
    handler: request => changeDeadJobs(request, 'discarded', (filter, scope) => discardDead(scope, filter)),
  }),
]

const scopeOf = (request: AnyRequest, trx: Transaction) => ({ trx, companyId: caller(request).companyId })

/** Changes dead jobs of the caller's company, and records it in the audit log in the same transaction. */
function changeDeadJobs(
  request: ValidRequest<WhichDeadJobs, unknown>,
  what: 'redriven' | 'discarded',
  change: (filter: DeadFilter, scope: ReturnType<typeof scopeOf>) => Promise<number>,
) {
  const { ids, queue } = request.payload
  const filter = { ...(ids && { ids }), ...(queue !== undefined && { queue }) }
  return inCompany(request, async trx => {
    const count = await change(filter, scopeOf(request, trx))
    await auditRequest(request, trx, {
      action: `dead_jobs.${what}`,
      target: { type: 'queue', id: queue ?? 'all' },
      details: { ...filter, count },
    })
    return { data: { [what]: count } }
  })
}
