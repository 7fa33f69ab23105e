import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const app = await startServer({ teardown: down => t.teardown(down) }, { settings: { ROLE: 'web' } })
const url = 'https://127.0.0.1:9/hook'
const missing = (code: string, details: object) => ({ status: 404, body: { error: { code, details } } })

t.test("a rule names only destinations and assets that are there, and are the company's", async t => {
  const [world, theirs] = [await makeWorld(app), await makeWorld(app)]
  const { id } = await world.addDestination({ url })
  const { id: foreign } = await theirs.addDestination({ url })
  const rule = { name: 'One', destination_ids: [id] }
  const { body } = await world.ask('POST', `${ALERTS}/rules`, { ...rule, asset_ids: [world.sourceId] })
  const path = `${ALERTS}/rules/${body.data.id}`
  for (const [field, code, named, ids] of [
    ['destination_ids', 'DESTINATION_NOT_FOUND', 'destination_id', [randomUUID(), foreign]],
    ['asset_ids', 'ASSET_NOT_FOUND', 'asset_id', [randomUUID(), theirs.sourceId, id]],
  ] as const)
    for (const unknown of ids) {
      const own = field === 'asset_ids' ? world.sourceId : id
      const given = { [field]: [own, unknown] }
      const expected = missing(code, { [named]: unknown })
      t.match(await world.ask('POST', `${ALERTS}/rules`, { ...rule, ...given }), expected)
      t.match(await world.ask('PATCH', path, given), expected)
      t.match(await world.ask('POST', `${ALERTS}/preview`, given), expected)
    }
  t.strictSame((await world.ask('GET', path)).body.data, body.data)
  t.equal((await world.ask('GET', `${ALERTS}/rules`)).body.data.pagination.total, 1)
})

t.test('ids are the same in either case', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const given = {
    name: 'One',
    destination_ids: [id.toUpperCase()],
    asset_ids: [world.sourceId.toUpperCase()],
  }
  t.match(await world.ask('POST', `${ALERTS}/rules`, given), {
    status: 201,
    body: { data: { destination_ids: [id], asset_ids: [world.sourceId] } },
  })
  const twice = { ...given, destination_ids: [id, id.toUpperCase()] }
  t.equal((await world.ask('POST', `${ALERTS}/rules`, twice)).status, 400)
})

t.test('what a rule names and is gone since does not keep the rule from being changed', async t => {
  const world = await makeWorld(app)
  const [stays, goes] = [await world.addDestination({ url }), await world.addDestination({ url })]
  const rule = {
    name: 'One',
    destination_ids: [stays.id, goes.id],
    asset_ids: [await world.addSource('gone')],
  }
  const {
    id,
    created_at: _made,
    updated_at: _changed,
    ...read
  } = (await world.ask('POST', `${ALERTS}/rules`, rule)).body.data
  await world.ask('DELETE', `${ALERTS}/destinations/${goes.id}`)
  await app.query('delete from sources where id = any($1)', [rule.asset_ids])
  // A deleted destination is taken out of the rules.
  const left = { ...read, destination_ids: [stays.id] }
  const changed = await world.ask('PATCH', `${ALERTS}/rules/${id}`, { ...left, name: 'Two' })
  t.match(changed, { status: 200, body: { data: { ...left, name: 'Two' } } })
  const again = await world.ask('POST', `${ALERTS}/rules`, rule)
  t.match(again, missing('DESTINATION_NOT_FOUND', { destination_id: goes.id }))
})

t.test('tags always have a mode, and no tags have none', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const lone = { status: 400, body: { error: { details: { field: 'tag_filter_mode' } } } }
  const rule = { name: 'One', destination_ids: [id] }
  for (const tags of [{}, { tag_filter_tags: null }])
    t.match(await world.ask('POST', `${ALERTS}/rules`, { ...rule, tag_filter_mode: 'all', ...tags }), lone)
  const made = await world.ask('POST', `${ALERTS}/rules`, { ...rule, tag_filter_tags: ['money'] })
  t.match(made.body.data, { tag_filter_mode: 'any', tag_filter_tags: ['money'] })
  const change = async (fields: object) => world.ask('PATCH', `${ALERTS}/rules/${made.body.data.id}`, fields)
  const steps: [object, string | null, string[] | null][] = [
    [{ tag_filter_mode: 'all' }, 'all', ['money']],
    [{ tag_filter_tags: ['people'] }, 'all', ['people']],
    [{ tag_filter_mode: null }, 'any', ['people']],
    [{ tag_filter_tags: null }, null, null],
    [{ name: 'Two' }, null, null],
    [{ tag_filter_mode: 'all', tag_filter_tags: ['money'] }, 'all', ['money']],
    [{ tag_filter_mode: null, tag_filter_tags: null }, null, null],
    [{ tag_filter_tags: ['money'] }, 'any', ['money']],
  ]
  for (const [fields, mode, tags] of steps) {
    const { data } = (await change(fields)).body
    t.match(data, { tag_filter_mode: mode, tag_filter_tags: tags }, JSON.stringify(fields))
  }
  t.match(await change({ tag_filter_mode: 'all', tag_filter_tags: null }), lone)
  await change({ tag_filter_tags: null })
  t.match(await change({ tag_filter_mode: 'any' }), lone)
})

t.test('of two that change a rule at once, neither undoes what the other did', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const rule = { name: 'One', destination_ids: [id], tag_filter_mode: 'all', tag_filter_tags: ['money'] }
  const path = `${ALERTS}/rules/${(await world.ask('POST', `${ALERTS}/rules`, rule)).body.data.id}`
  for (let round = 0; round < 10; round += 1) {
    await world.ask('PATCH', path, rule)
    await Promise.all([
      world.ask('PATCH', path, { tag_filter_tags: null }),
      world.ask('PATCH', path, { severities: ['critical'] }),
    ])
    const { data } = (await world.ask('GET', path)).body
    t.match(data, { tag_filter_mode: null, tag_filter_tags: null, severities: ['critical'] })
  }
})

t.test('rules are found by destination, and by whether they are on', async t => {
  const world = await makeWorld(app)
  const [one, two] = [await world.addDestination({ url }), await world.addDestination({ url })]
  await world.ask('POST', `${ALERTS}/rules`, { name: 'both', destination_ids: [one.id, two.id] })
  await world.ask('POST', `${ALERTS}/rules`, { name: 'off', destination_ids: [two.id], is_active: false })
  const names = async (query: string) =>
    (await world.ask('GET', `${ALERTS}/rules?${query}`)).body.data.data.map(
      ({ name }: { name: string }) => name,
    )
  t.strictSame(await names(`destination_id=${one.id}`), ['both'])
  t.strictSame(await names(`destination_id=${two.id}`), ['off', 'both'])
  t.strictSame(await names(`destination_id=${two.id}&is_active=false`), ['off'])
  t.strictSame(await names(`destination_id=${randomUUID()}`), [])
})

t.test('rules have the names that clients of this family of APIs read and send', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const make = (fields: object) =>
    world.ask('POST', `${ALERTS}/rules`, { name: 'One', destination_ids: [id], ...fields })
  const all = (await make({})).body.data
  t.match(all, { enabled: true, rule_type: 'all', severity: 'info', is_notify_code_authors: false })
  const off = (
    await make({
      enabled: false,
      event_types: ['freshness_stale', 'freshness_alert'],
      severities: ['critical', 'warning'],
      is_notify_code_authors: false,
      code_author_min_confidence: 0.8,
    })
  ).body.data
  t.match(off, {
    is_active: false,
    enabled: false,
    event_types: ['freshness_violation'],
    rule_type: 'freshness_violation',
    severity: 'warning',
    code_author_min_confidence: 0.8,
  })
  t.match((await make({ event_types: ['schema_drift', 'validity_failure'] })).body.data, {
    event_types: ['schema_change', 'validity_failure'],
    rule_type: 'several',
  })
  const ids = async (query: string) =>
    (await world.ask('GET', `${ALERTS}/rules?${query}`)).body.data.data.map((rule: { id: string }) => rule.id)
  t.notOk((await ids('enabled_only=true')).includes(off.id))
  t.ok((await ids('enabled_only=false')).includes(off.id))
  const put = (fields: object) => world.ask('PUT', `${ALERTS}/rules/${off.id}`, fields)
  t.match(await put({ name: 'Two' }), {
    status: 200,
    body: { data: { name: 'Two', severities: off.severities } },
  })
  t.match((await put({ enabled: true })).body.data, { is_active: true })
  t.match((await put({ enabled: true, is_active: false })).body.data, { is_active: false })
  const refusals: [object, string][] = [
    [{ is_notify_code_authors: true }, 'is_notify_code_authors'],
    [{ code_author_min_confidence: 2 }, 'code_author_min_confidence'],
    [{ severity: 'critical' }, 'severities'],
    [{ rule_type: 'all' }, 'event_types'],
  ]
  for (const [fields, field] of refusals)
    t.match(await put(fields), { status: 400, body: { error: { details: { field } } } }, field)
})
