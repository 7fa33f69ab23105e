import type { Request, ServerRoute } from '@hapi/hapi'
import { access, actorOf, caller, inCompany, routesOf } from '../../server/http/access.ts'
import { auditRequestAll } from '../../server/http/audit.ts'
import { param } from '../../server/http/input.ts'
import type { CheckType } from '../../checks/check.ts'
import type { Registry } from '../../server/registry.ts'
import type { ChecksApi } from '../checks/api.ts'
import type { Monitors } from './apply.ts'
import { monitorsSchema } from './file/json-schema.ts'
import { presentPlan } from './present.ts'
import { readRequest, writeText } from './texts.ts'
import { exportQuery, MAX_BYTES, monitorsBody, monitorsParams, replies } from './schemas.ts'

export const SCHEMA_PATH = '/api/public/schemas/monitors.json'

const route = routesOf('monitors')
const base = '/api/v1/sdk/monitors/{asset_id}'

export const routes = (
  monitors: Monitors,
  { checks, types, baseUrl }: { checks: ChecksApi; types: Registry<CheckType>; baseUrl: string },
): ServerRoute[] => [
  route('GET', base, access.read, {
    id: 'exportMonitors',
    description: 'Export the checks of a source as a monitors file',
    notes:
      'Rules, metrics, referential checks, comparisons and freshness schedules, without defaults; as YAML where Accept names it. Checks that no file manages yet get keys made of their tables, columns and types.',
    validate: { params: monitorsParams, query: exportQuery },
    response: replies.exported,
    app: { isHeavy: true, errors: ['ASSET_NOT_FOUND', 'NOT_FOUND'] },
    handler: async (request, h) => {
      const { check_id: checkId } = request.query
      const document = await inCompany(request, trx =>
        monitors.exportSource(trx, param(request, 'asset_id'), checkId),
      )
      if (!acceptsYaml(request)) return { data: document }
      const text = await writeText(request, document, `${baseUrl}${SCHEMA_PATH}`)
      return h.response(text).type('application/yaml')
    },
  }),
  route('POST', `${base}/plan`, access.read, {
    id: 'planMonitors',
    description: 'Compare monitors files with the checks of a source',
    notes:
      'Says field by field what an apply would create, change and remove, and what was changed on the server since the last one. Writes nothing. SQL of the caller needs the scope read-write. Faulty files are refused as a whole; each error names file, line and column.',
    payload: { maxBytes: MAX_BYTES },
    validate: { params: monitorsParams, payload: monitorsBody },
    response: replies.planned,
    app: { isHeavy: true },
    handler: async request => {
      const wanted = await readRequest(request, kindsOf(checks))
      const entries = wanted.files.flatMap(file => file.entries.map(({ entry }) => entry))
      checks.requireScopeForSql(request, entries)
      const { companyId } = caller(request)
      const planned = await monitors.plan(companyId, param(request, 'asset_id'), wanted)
      return { data: presentPlan(planned) }
    },
  }),
  route('POST', `${base}/apply`, access.write, {
    id: 'applyMonitors',
    description: 'Make the checks of a source those of monitors files',
    notes:
      'Creates and changes checks by their keys, in one transaction; applying the same files again does nothing. A check that was made by hand is never removed; an equal one is adopted. With `prune`, checks that a file managed and no file has any more are removed.',
    payload: { maxBytes: MAX_BYTES },
    validate: { params: monitorsParams, payload: monitorsBody },
    response: replies.applied,
    app: { isHeavy: true },
    handler: async request => {
      const wanted = await readRequest(request, kindsOf(checks))
      const { companyId } = caller(request)
      const assetId = param(request, 'asset_id')
      const asked = { ...wanted, by: actorOf(caller(request)) }
      const applied = await monitors.apply(companyId, assetId, asked, (trx, events) =>
        auditRequestAll(request, trx, events),
      )
      return { data: presentPlan(applied) }
    },
  }),
  route('GET', SCHEMA_PATH, access.open, {
    id: 'getMonitorsSchema',
    description: 'Get the JSON Schema of monitors files, for editors',
    notes: 'Name its address in the first line of a file: `# yaml-language-server: $schema=…`.',
    response: replies.schema,
    handler: () => monitorsSchema({ kinds: checks.declaredKinds(), types: types.all() }),
  }),
]

const kindsOf = (checks: ChecksApi) => checks.declaredKinds().map(({ kind }) => kind)

function acceptsYaml({ headers }: Request): boolean {
  return /\byaml\b/i.test(String(headers.accept ?? ''))
}
