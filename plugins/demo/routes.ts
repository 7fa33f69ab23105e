import type { Request, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, caller } from '../../server/http/access.ts'
import { auditRequest } from '../../server/http/audit.ts'
import { envelope } from '../../server/http/replies.ts'
import {
  openDemoAlert,
  createDemoAsset,
  createDemoDestination,
  loadDemoLineage,
  removeDemoAlerts,
  type DemoRefusal,
  type DemoAudit,
} from './onboarding.ts'
import { replies } from './replies.ts'

const path = '/api/v1/auth/preferences/onboarding'
const options = {
  ...access.sessionWrite,
  tags: ['api', 'onboarding'],
  validate: { payload: Joi.object({}).allow(null), query: Joi.object({}) },
}

/** What new users are given to look at. */
export const routes: ServerRoute[] = [
  {
    method: 'POST',
    path: `${path}/demo-asset`,
    options: {
      ...options,
      description: 'Make the demo asset of the company, or give the one that is there',
      notes:
        'A source over a real database, a small shop; its discovery starts at once. Where the demo is switched off, `success` is false and `error` DEMO_DISABLED.',
      response: replies.asset,
    },
    handler: request => runForCompany(request, createDemoAsset),
  },
  {
    method: 'POST',
    path: `${path}/demo-lineage`,
    options: {
      ...options,
      description: 'Load which tables of the demo asset are made from which',
      notes:
        'Counts what is new. Without a demo asset, `success` is false and `error` ASSET_NOT_FOUND; while its tables are not known, NOT_DISCOVERED.',
      response: replies.lineage,
    },
    handler: request => runForCompany(request, loadDemoLineage),
  },
  {
    method: 'POST',
    path: `${path}/demo-alert`,
    options: {
      ...options,
      description: 'Open a simulated freshness alert, or give the one that is open',
      notes: 'Its `context_data.is_demo` is true. Nobody is told of it, neither when it is over.',
      response: replies.alert,
    },
    handler: request => runForCompany(request, openDemoAlert),
  },
  {
    method: 'DELETE',
    path: `${path}/demo-alert`,
    options: { ...options, description: 'Delete the demo alerts of the company', response: replies.removed },
    handler: request => runForCompany(request, removeDemoAlerts),
  },
  {
    method: 'POST',
    path: `${path}/demo-destination`,
    options: {
      ...options,
      description: 'Make a demo chat destination, or give the one that is there',
      notes:
        'Alerts are delivered to it as to any other, and each attempt is recorded as delivered; nothing is really sent. It is listed, tested, changed and deleted like any other, save that its config stays as it is.',
      response: replies.destination,
    },
    handler: request => runForCompany(request, createDemoDestination),
  },
]

/** Does something for the caller's company and answers with what came of it; a refusal is 200 too. */
async function runForCompany(
  request: Request,
  work: (server: Request['server'], companyId: string, tell: DemoAudit) => Promise<object | DemoRefusal>,
) {
  const tell: DemoAudit = (trx, action, target, details) =>
    auditRequest(request, trx, { action, target, details: { ...details } })
  const made = await work(request.server, caller(request).companyId, tell)
  return 'error' in made ? { success: false, data: null, ...made, meta: {} } : envelope(made)
}
