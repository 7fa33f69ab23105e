import t from 'tap'
import type { DetectorState } from '../../../checks/detector.ts'
import { ValidityRule } from '../../../plugins/validity/models.ts'
import { recordChecks } from '../../../plugins/checks/run/record.ts'
import { makeValidityKind } from '../../../plugins/validity/kind.ts'
import { depsOf } from '../../../plugins/checks/deps.ts'
import { makeStage } from '../../helpers/world.ts'
import { pastRules } from './past.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const DAY = 86_400_000
const AUTO = { detection_mode: 'auto', sensitivity: 3 }

/** So many results of the last days, of five to six percent by default. */
const past = (count: number, invalid = 50) =>
  Array.from({ length: count }, (_, index) => ({
    at: Date.now() - (count - index) * DAY,
    invalid: invalid + ((index * 7) % 11),
  }))

type World = Awaited<ReturnType<typeof pastRules>>

/** How many results a rule has learned of; undefined when they are to be read again. */
async function count({ learned }: World, rule: string): Promise<number | undefined> {
  return ((await learned(rule)) as DetectorState | null)?.count
}

t.test('a rule that becomes automatic judges at once by the results that it has', async t => {
  const { make, remember, patch, check, spoil } = await pastRules(t, stage)
  const rule = await make({ alert_threshold_percent: 50 })
  await remember(rule, past(20))
  await spoil(300)
  t.match(await check(rule), { status: 'pass', expected_value: null, learning: false })
  t.match((await patch(rule, AUTO)).body.data, { detection_mode: 'auto' })
  t.match(await check(rule), { status: 'fail', learning: false, expected_value: Number })
})

t.test('other settings of how a baseline is read make it be read again, and lose nothing of it', async t => {
  const world = await pastRules(t, stage)
  const { make, remember, patch, check, spoil, schedule } = world
  const rule = await make(AUTO)
  await remember(rule, past(30))
  await spoil(55)
  await check(rule)
  t.equal(await count(world, rule), 31)
  const hours = await schedule({
    name: 'always',
    timezone: 'UTC',
    rules: [{ days: [1, 2, 3, 4, 5, 6, 7], start: '00:00', end: '24:00' }],
  })
  const edits = [
    { check_interval: 'weekly' },
    { check_interval: 'daily' },
    { operating_period_mode: 'auto' },
    { operating_period_mode: 'schedule', operating_schedule_id: hours },
    { operating_period_mode: 'off' },
    { operating_schedule_id: null },
    { detection_mode: 'auto' },
  ]
  for (const [index, edit] of edits.entries()) {
    t.equal((await patch(rule, edit)).status, 200)
    t.equal(await count(world, rule), undefined, JSON.stringify(edit))
    t.match(await check(rule), { status: 'pass', learning: false, expected_value: Number })
    t.equal(await count(world, rule), 32 + index)
  }
  await patch(rule, { detection_mode: 'manual', alert_threshold_percent: 90 })
  await check(rule)
  t.equal(await count(world, rule), undefined, 'a manual rule keeps nothing')
})

t.test('other settings keep what was learned', async t => {
  const world = await pastRules(t, stage)
  const { make, remember, patch, check, spoil, learned } = world
  const rule = await make(AUTO)
  await remember(rule, past(30))
  await spoil(55)
  await check(rule)
  const before = await learned(rule)
  const edit = {
    severity: 'critical',
    name: 'renamed',
    description: 'x',
    sensitivity: 4,
    alert_threshold_percent: 3,
    treat_null_as_valid: false,
  }
  const { treat_null_as_valid: _, ...plain } = edit
  await patch(rule, plain)
  t.same(await learned(rule), before)
  await patch(rule, { is_active: false })
  await patch(rule, { is_active: true })
  t.same(await learned(rule), before)
  await patch(rule, edit)
  await check(rule)
  t.equal(await count(world, rule), 32, 'the null policy of before is no other one')
})

t.test('another null policy measures another thing: its baseline starts anew', async t => {
  const world = await pastRules(t, stage)
  const { make, remember, patch, check, source, alerts } = world
  const rule = await make({ ...AUTO, rule_type: 'REGEX', rule_config: { pattern: '@' } })
  await remember(rule, past(30))
  await source.query(`update orders set email = case when id > 40 then 'bad' end where id <= 55`)
  t.match(await check(rule), { status: 'pass', invalid_count: 55, learning: false })
  await patch(rule, { treat_null_as_valid: true })
  for (let i = 1; i <= 7; i++)
    t.match(await check(rule), { status: 'pass', invalid_count: 15, learning: true, expected_value: null })
  const judged = await check(rule)
  t.match(judged, { status: 'pass', learning: false })
  t.ok(Math.abs(judged.expected_value - 1.5) < 0.5, 'by results of the same policy only')

  await patch(rule, { check_interval: 'weekly' })
  t.match(await check(rule), { learning: false })
  t.equal(await count(world, rule), 9, 'also when it is read again')
  await source.query(`update orders set email = 'bad' where id <= 500`)
  t.match(await check(rule), { status: 'fail' })
  const [alert] = await alerts()
  const { history } = (alert?.event as { details: { history: object[] } }).details
  t.same(new Set(history.map(({ value }: { value?: number }) => value)), new Set([1.5]))
})

t.test('what is measured while the null policy changes is not recorded, but due again', async t => {
  const { make, patch, results, app, tenant } = await pastRules(t, stage)
  const rule = await make({ ...AUTO, rule_type: 'UNIQUE' })
  await app.query(
    `update checks set running_slot = next_run_at, next_run_at = next_run_at + interval '1 day'`,
  )
  const due = async () =>
    (await app.query('select running_slot, next_run_at <= now() as is_due, table_id from checks'))[0]
  t.match(await due(), { running_slot: Date, is_due: false })
  await patch(rule, { treat_null_as_valid: false })
  t.match(await due(), { running_slot: Date, is_due: false }, 'the policy of before is no other one')
  await patch(rule, { treat_null_as_valid: true })
  const { table_id: tableId, ...slot } = (await due()) ?? {}
  t.same(slot, { running_slot: null, is_due: true })
  const ran = await app.server.plugins.checks.runTable(tenant.companyId, String(tableId), 'claimed')
  t.match([ran.checks, await results(rule)], [0, []])
})

t.test('NOT_NULL has no null policy, so that nothing starts anew', async t => {
  const world = await pastRules(t, stage)
  const { make, remember, patch, check, spoil } = world
  const rule = await make(AUTO)
  await remember(rule, past(30))
  await patch(rule, { treat_null_as_valid: true })
  await spoil(55)
  t.match(await check(rule), { status: 'pass', learning: false })
  t.equal(await count(world, rule), 31)
})

t.test('a result that could not be had is no part of a baseline', async t => {
  const world = await pastRules(t, stage)
  const { make, remember, check, spoil, source, app } = world
  const rule = await make(AUTO)
  await remember(rule, past(10))
  await source.query('alter table orders rename column email to mail')
  t.match(await check(rule), { status: 'error' })
  t.equal(await count(world, rule), undefined, 'nothing is learned')
  await source.query('alter table orders rename column mail to email')
  await spoil(55)
  await check(rule)
  t.equal(await count(world, rule), 11)
  await app.query(
    `update check_results set total_rows = 0, value = 0, details = '{"invalidCount": 0}' where status = 'error'`,
  )
  await app.query('delete from check_states')
  await check(rule)
  t.equal(await count(world, rule), 12, 'also when it is read again, and whatever numbers it has')
})

t.test('however many rules of a table are judged, their states and pasts are read together', async t => {
  const { make, remember, app, tenant, schedule } = await pastRules(t, stage)
  const hours = await schedule({
    name: 'always',
    timezone: 'UTC',
    rules: [{ days: [1, 2, 3, 4, 5, 6, 7], start: '00:00', end: '24:00' }],
  })
  const scheduled = { ...AUTO, operating_period_mode: 'schedule', operating_schedule_id: hours }
  const first = await make(scheduled)
  await remember(first, past(30))

  /** Statements that recording a pass of each rule takes. */
  async function statements(): Promise<string[]> {
    const texts: string[] = []
    await app.server.db.company(tenant.companyId, async trx => {
      const rules = await ValidityRule.query(trx).orderBy('id').forUpdate()
      const loaded = await app.server.plugins.catalog.loadTable(trx, rules[0]!.tableId)
      trx.on('query', ({ sql }: { sql: string }) => void texts.push(sql))
      const counted = { id: '', durationMs: 1, samples: [], measured: {}, total: 1000, invalid: 55 }
      const taken = rules.map(row => ({
        row,
        outcome: { ...counted, status: 'counted' as const },
        slot: null,
      }))
      const deps = depsOf(app.server, {
        kinds: new Map(),
        sourceKinds: new Map(),
        listeners: [],
        parts: { fromRows: 0, rescanDays: 7, countMismatch: () => {} },
      })
      const at = new Date()
      const recording = { table: loaded!, measured: taken, at, takenAt: at }
      const stored = await recordChecks(deps, trx, makeValidityKind(deps), recording)
      t.same(
        stored.map(([result]) => result?.checkId),
        rules.map(({ id }) => id),
        'in the order of the rules',
      )
    })
    return texts.filter(text => text !== 'COMMIT;')
  }
  const ofOne = await statements()
  t.equal(ofOne.length, 6, ofOne.join('\n'))
  t.equal((await statements()).length, 5, 'what is stored is not read from the results')
  await app.query(
    `insert into checks (uuid, company_id, source_id, table_id, column_name, type, name, severity,
       check_interval, kind, sensitivity, settings, operating_schedule_id)
     select gen_random_uuid(), company_id, source_id, table_id, column_name, type, name, severity,
       check_interval, kind, sensitivity, settings, operating_schedule_id
     from checks, generate_series(2, 50)`,
  )
  await app.query(
    `insert into check_results (company_id, check_id, status, total_rows, details, value,
       duration_ms, at)
     select r.company_id, v.id, 'pass', 1000, jsonb_build_object('invalidCount', 50 + n % 7), 5 + n % 7 / 10.0, 1, now() - n * interval '1 day'
     from checks v join sources r on r.id = v.source_id, generate_series(1, 450) n`,
  )
  await app.query('delete from check_states')
  t.equal((await statements()).length, ofOne.length, 'as many for fifty as for one')
  const states = await app.query(
    `select count(*)::int as rules from check_states where (state ->> 'count')::int = 401`,
  )
  t.same(states, [{ rules: 50 }], 'each from its last 400')
  await make(scheduled)
  t.equal(
    (await statements()).length,
    5 + 3,
    'and no more than fifty states at once: those of a rule more are read, learned and written apart',
  )
})
