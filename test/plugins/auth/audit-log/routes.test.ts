import { randomUUID } from 'node:crypto'
import t from 'tap'
import { PARAMETERS, ROUTES, type Classified, type Id, type Kind } from '../matrix-routes.ts'
import { makeMatrix } from '../matrix-world.ts'
import { share } from '../../../helpers/share.ts'

const { app, ours, restore } = await makeMatrix(t)

/** Routes that write without an audit event, each with the reason. */
const UNAUDITED: Record<string, string> = {
  'POST /api/v1/sdk/schema/dry-run': 'stores nothing',
  'POST /api/v1/sdk/lineage/impact': 'stores nothing',
  'POST /api/v1/sdk/freshness/dry-run': 'stores nothing',
  'POST /api/v1/sdk/validity/dry-run': 'stores nothing',
  'POST /api/v1/sdk/metrics/dry-run': 'stores nothing',
  'POST /api/v1/sdk/referential/dry-run': 'stores nothing',
  'POST /api/v1/sdk/comparisons/dry-run': 'stores nothing',
  'POST /api/v1/sdk/assets/{asset_id}/preview-tables': 'stores nothing',
  'POST /api/v1/sdk/validity/{asset_id}/{rule_id}/check': 'what it found is among the results of the rule',
  'POST /api/v1/sdk/metrics/{asset_id}/{metric_id}/capture':
    'what it found is among the snapshots of the metric',
  'POST /api/v1/sdk/comparisons/{asset_id}/{comparison_id}/execute':
    'what it found is among the results of the comparison',
  'POST /api/v1/sdk/referential/{asset_id}/{check_id}/execute':
    'what it found is among the results of the check',
  'POST /api/v1/sdk/alerts/preview': 'stores nothing',
  'POST /api/v1/sdk/alerts/digests/preview': 'stores nothing',
  'POST /api/v1/sdk/alerts/investigations/explain': 'stores nothing',
  'POST /api/v1/sdk/monitors/{asset_id}/plan': 'stores nothing',
  'POST /api/v1/sdk/assets/{asset_id}/contract-test': 'stores nothing but its result',
  'POST /api/v1/contracts/validate': 'stores nothing',
  'POST /api/v1/contracts/{asset_id}/plan': 'stores nothing',
  'POST /api/v1/sdk/contracts/{name}/plan': 'stores nothing',
  'POST /api/v1/contracts/export-jobs': 'reads what the caller may read',
  'POST /api/v1/sdk/recommendations/{id}/past': 'measures the past, and changes no setting',
  'POST /api/v1/oauth/{provider_type}/link': 'is audited by the callback, which links',
  'POST /api/v1/auth/preferences/onboarding/events': 'notes of a tour',
  'POST /api/v1/auth/preferences/onboarding/reset': 'notes of a tour',
  'PATCH /api/v1/auth/preferences/onboarding': 'notes of a tour',
  'PATCH /api/v1/auth/preferences/onboarding/step': 'notes of a tour',
  'POST /api/v1/auth/preferences/onboarding/demo-lineage':
    'there is no demo asset here, and so nothing to load',
  'DELETE /api/v1/auth/preferences/onboarding/demo-alert':
    'there is no demo alert here, and so nothing to remove',
  'POST /api/v1/lineage': 'events of pipelines, which the graph and the runs show',
  'POST /api/v1/lineage/batch': 'events of pipelines, which the graph and the runs show',
  'POST /api/v1/sdk/assets/{asset_id}/check': 'is a job of its own, and changes no setting',
  'POST /api/v1/sdk/assets/{asset_id}/profile': 'is a job of its own, and changes no setting',
  'POST /api/v1/sdk/freshness/{asset_id}/refresh': 'is a job of its own, and changes no setting',
}

/** Bodies of which those of the matrix would change nothing. */
const BODIES: Record<string, (id: Id) => object> = {
  'POST /api/v1/sdk/freshness/schedules/bulk': id => ({ asset_id: id('source'), only_with_signal: false }),
}

const writing = app.server
  .table()
  .filter(({ method, settings }) => {
    const guard = settings.plugins?.access
    return method !== 'get' && (guard?.scope !== undefined || guard?.sessionOnly === true)
  })
  .map(({ method, path }) => `${method.toUpperCase()} ${path}`)

function send(name: string, idOf: Id) {
  const row = ROUTES[name] as Classified
  const [method, path] = name.split(' ') as [string, string]
  const filled = path.replaceAll(/\{(\w+)[*?]?\}/g, (_, parameter: string) => {
    const given = row.at?.[parameter] ?? PARAMETERS[parameter]
    return given?.startsWith('=') ? given.slice(1) : encodeURIComponent(idOf(given as Kind))
  })
  const body = BODIES[name] ?? row.body
  return app.ask(method, filled, body?.(idOf), ours.credentials.owner)
}

async function entriesAfter(sequence: number): Promise<Record<string, unknown>[]> {
  return app.query('select * from audit_log where company_id = $1 and sequence > $2 order by sequence', [
    ours.companyId,
    sequence,
  ])
}

async function lastEntry(): Promise<number> {
  const [head] = await app.query('select sequence::int from audit_heads where company_id = $1', [
    ours.companyId,
  ])
  return Number(head?.sequence ?? 0)
}

t.test('every route that writes is audited, or is on the list of exceptions', async t => {
  for (const name of Object.keys(UNAUDITED)) t.ok(writing.includes(name), `${name} is on the list and gone`)
  for (const name of share(writing, 'routes that write')) {
    if (!ROUTES[name]) {
      t.fail(`${name} is not classified: add a row to ROUTES in test/plugins/auth/matrix-routes.ts`)
      continue
    }
    const before = await lastEntry()
    const reply = await send(name, kind => ours.ids[kind])
    const { answers = 200 } = ROUTES[name]
    if (answers >= 400) {
      // What is refused here for its state is tried in the test of its feature.
      t.equal(reply.status, answers, name)
      continue
    }
    t.ok(reply.status < 400, `${name} gave ${reply.status}: ${JSON.stringify(reply.body).slice(0, 300)}`)
    const entries = await entriesAfter(before)
    if (UNAUDITED[name]) {
      t.strictSame(entries, [], `${name} is audited and on the list of exceptions: remove it from the list`)
    } else {
      t.ok(
        entries.length > 0,
        `${name} is not audited: call auditRequest in its transaction, or give the reason in UNAUDITED`,
      )
      for (const entry of entries) {
        t.match(entry, { action: /^[a-z_]+\.[a-z_]+$/, actor: /^user:/, request_id: /./, address: /./ }, name)
        t.match(entry, { target_type: /^[a-z_]+$/, target_id: /./ }, `${name} says what it was done to`)
      }
    }
    await restore()
  }
})

t.test('what is refused leaves no entry', async t => {
  const isText = (given: string) => given.startsWith('=')
  const naming = writing.filter(
    each => each.includes('{') && ROUTES[each] && !Object.values(ROUTES[each].at ?? {}).some(isText),
  )
  for (const name of share(naming, 'refused writes')) {
    const before = await lastEntry()
    const reply = await send(name, kind =>
      kind.endsWith('Number') ? '999999' : ours.ids[kind].replace(/[0-9a-f-]{32,36}/, randomUUID()),
    )
    t.ok(reply.status >= 400, `${name} gave ${reply.status}`)
    t.strictSame(await entriesAfter(before), [], name)
  }
})
