import type { Request, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, caller, routesOf } from '../../server/http/access.ts'
import { auditRequest } from '../../server/http/audit.ts'
import { envelope } from '../../server/http/replies.ts'
import {
  openDemoAlert,
  createDemoAsset,
  createDemoDestination,
  loadDemoLineage,
  removeDemoAlerts,
  type DemoAudit,
} from './onboarding.ts'
import type { DemoDeps } from './deps.ts'
import { replies } from './replies.ts'

const path = '/api/v1/auth/preferences/onboarding'

const route = routesOf('onboarding')
const validate = { payload: Joi.object({}).allow(null), query: Joi.object({}) }

export const routes = (deps: DemoDeps): ServerRoute[] => [
  route('POST', `${path}/demo-asset`, access.sessionWrite, {
    id: 'createDemoAsset',
    validate,
    description: 'Create the demo asset of the company, or return the existing one',
    notes:
      'A source over a real database, a small shop; its discovery starts at once. If the demo is disabled, `success` is false and `error` is DEMO_DISABLED.',
    response: replies.asset,
    handler: request => runForCompany(deps, request, createDemoAsset),
  }),
  route('POST', `${path}/demo-lineage`, access.sessionWrite, {
    id: 'createDemoLineage',
    validate,
    description: 'Load the lineage of the demo asset',
    notes:
      'Replies with the number of new nodes and edges. Without a demo asset, `success` is false and `error` is ASSET_NOT_FOUND; before its tables are discovered, NOT_DISCOVERED.',
    response: replies.lineage,
    handler: request => runForCompany(deps, request, loadDemoLineage),
  }),
  route('POST', `${path}/demo-alert`, access.sessionWrite, {
    id: 'createDemoAlert',
    validate,
    description: 'Open a simulated freshness alert, or return the open one',
    notes:
      'Its `context_data.is_demo` is true. No notification is sent for it, neither when it opens nor when it ends.',
    response: replies.alert,
    handler: request => runForCompany(deps, request, openDemoAlert),
  }),
  route('DELETE', `${path}/demo-alert`, access.sessionWrite, {
    id: 'deleteDemoAlerts',
    validate,
    description: 'Delete the demo alerts of the company',
    notes: 'Alerts about real data stay.',
    response: replies.removed,
    handler: request => runForCompany(deps, request, removeDemoAlerts),
  }),
  route('POST', `${path}/demo-destination`, access.sessionWrite, {
    id: 'createDemoDestination',
    validate,
    description: 'Create a demo chat destination, or return the existing one',
    notes:
      'Deliveries to it are recorded as delivered, but nothing is sent. It is listed, tested, changed and deleted like any other destination, except that its config cannot be changed.',
    response: replies.destination,
    handler: request => runForCompany(deps, request, createDemoDestination),
  }),
]

/** Runs work for the caller's company and replies with its result; a refusal has status 200 too. */
async function runForCompany(
  deps: DemoDeps,
  request: Request,
  work: (deps: DemoDeps, companyId: string, audit: DemoAudit) => Promise<object>,
) {
  const audit: DemoAudit = (trx, action, target, details) =>
    auditRequest(request, trx, { action, target, details: { ...details } })
  const made = await work(deps, caller(request).companyId, audit)
  return 'error' in made ? { success: false, data: null, ...made, meta: {} } : envelope(made)
}
