import fc from 'fast-check'
import t from 'tap'
import { formatGroup } from '../../../plugins/metrics/alert-texts.ts'
import { discover, makeWorld } from '../../helpers/world.ts'
import { metricOf, momentOf, type MetricWorld } from './world.ts'

/** The part of a test that asserts. */
type Asserts = Pick<typeof t, 'ok' | 'notOk' | 'equal'>

const BY_REGION = { metric_type: 'row_count', sensitivity: 10, group_by_columns: ['shop_region'] }
/** One server for all tests of this file, which have a table each. */
const shared = await makeWorld(
  t,
  Array.from({ length: 20 }, (_, n) => `create table sales_${n} (id int, shop_region text, placed date)`),
)
await discover(shared)
let used = 0

/** A metric by region of a table of its own, and a way to say which regions the table has. */
async function regions(body: object = BY_REGION) {
  const table = `sales_${used++}`
  const world = await metricOf(shared, table, body)
  const capture = async (day: number, present: readonly string[]) => {
    await world.source.query(`truncate ${table}`)
    await world.source.query(
      `insert into ${table} (id, shop_region) select n, region from unnest($1::text[]) region, generate_series(1, 2) n`,
      [present],
    )
    await world.capture(day)
  }
  /** Every day from the one up to and with the other, the first of them captured. */
  const captureDays = async (from: number, to: number, present: readonly string[]) => {
    await capture(from, present)
    await world.repeat(from, to)
  }
  /** What is known of its groups. */
  const states = () =>
    world.app.query(
      `select series ->> 'shop_region' as name, state, run from check_states where check_id = $1 order by 1`,
      [world.metric.internal_id],
    )
  return { ...world, table, captureAsIs: world.capture, capture, captureDays, states }
}

/** Alerts with the fields that these tests compare. */
const summariseAlerts = async (world: Pick<MetricWorld, 'alerts'>) =>
  (await world.alerts()).map(({ change, status, details }) => ({
    change,
    status,
    groups: details.groups.map((group: { shop_region: string }) => group.shop_region),
  }))

t.test('a group that vanishes from a stable set raises one alert, which its return resolves', async t => {
  const world = await regions()
  await world.captureDays(1, 7, ['north', 'south', 'west'])
  await world.capture(8, ['north', 'west'])
  t.match(await world.alerts(), [
    {
      status: 'triggered',
      severity: 'warning',
      change: 'group_vanished',
      title: /^sales_\d+: no rows with shop_region south$/,
      details: {
        metric_id: world.metric.id,
        metric_type: 'row_count',
        groups: [{ shop_region: 'south' }],
        group_count: 1,
        last_seen_at: '2024-06-08T06:00:00.000Z',
        explanation: 'There were rows in each of the last 7 runs before',
      },
    },
  ])
  await world.captureDays(9, 12, ['north', 'west'])
  t.match(await world.alerts(), [{ status: 'triggered', occurrences: 1 }])
  await world.capture(13, ['north', 'south', 'west'])
  t.match(await world.alerts(), [{ status: 'resolved' }])
})

t.test('a new group in a stable set raises one alert, resolved at once', async t => {
  const world = await regions()
  await world.captureDays(1, 7, ['north', 'south'])
  await world.captureDays(8, 9, ['east', 'north', 'south'])
  t.match(await world.alerts(), [
    {
      status: 'resolved',
      severity: 'info',
      change: 'group_new',
      title: /: first rows with shop_region east$/,
      details: { groups: [{ shop_region: 'east' }], first_seen_at: '2024-06-09T06:00:00.000Z' },
    },
  ])
  const listed = await world.tenant.ask('GET', '/api/v1/sdk/alerts')
  t.match(listed.body.data.data, [{ event_type: 'metric_anomaly', event: { change_type: 'group_new' } }])
})

t.test('an alert contains the group whatever its value is', async t => {
  const world = await regions()
  const odd = `${'x'.repeat(39)}😀 "<!channel>" \\ \n ${'y'.repeat(900)}`
  await world.captureDays(1, 7, ['north', 'south'])
  await world.capture(8, ['north', 'south', odd])
  t.match(await world.alerts(), [{ details: { groups: [{ shop_region: odd }] } }])
})

t.test('a group is named in well-formed text of bounded length', async t => {
  const value = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.jsonValue({ maxDepth: 1 }))
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value, { minKeys: 1, maxKeys: 1 }), group => {
      const name = formatGroup(group)
      return name.isWellFormed() && name.length <= Object.keys(group)[0]!.length + 43
    }),
  )
  t.equal(formatGroup({ flags: { a: 1 } }), 'flags {"a":1}')
  t.equal(formatGroup({ region: null }), 'region null')
  t.equal(formatGroup({ region: '' }), 'region ""')
  t.equal(formatGroup({ region: 'north', kind: '' }), 'region north, kind ""')
})

t.test('a renamed group raises both alerts', async t => {
  const world = await regions()
  await world.captureDays(1, 8, ['north', 'south'])
  await world.captureDays(9, 11, ['North', 'south'])
  t.same(
    (await summariseAlerts(world)).toSorted((a, b) => String(b.change).localeCompare(String(a.change))),
    [
      { change: 'group_vanished', status: 'triggered', groups: ['north'] },
      { change: 'group_new', status: 'resolved', groups: ['North'] },
    ],
  )
})

t.test(
  'groups that vanish at different times have alerts of their own; those of one time share one',
  async t => {
    const world = await regions()
    await world.captureDays(1, 7, ['a', 'b', 'c', 'd'])
    await world.capture(8, ['c', 'd'])
    await world.capture(9, ['c'])
    t.same(await summariseAlerts(world), [
      { change: 'group_vanished', status: 'triggered', groups: ['a', 'b'] },
      { change: 'group_vanished', status: 'triggered', groups: ['d'] },
    ])
    await world.capture(10, ['a', 'c', 'd'])
    t.match(
      await summariseAlerts(world),
      [{ status: 'triggered' }, { status: 'resolved' }],
      'b is still missing',
    )
    await world.capture(11, ['a', 'b', 'c', 'd'])
    t.match(await summariseAlerts(world), [{ status: 'resolved' }, { status: 'resolved' }])
  },
)

t.test('the first captures raise no alert', async t => {
  const world = await regions()
  await world.captureDays(1, 6, ['north', 'south'])
  await world.capture(7, ['north', 'east'])
  await world.captureDays(8, 10, ['east', 'north'])
  t.same(await summariseAlerts(world), [])
})

t.test('a capture that could not run raises no alert, and breaks no run', async t => {
  const world = await regions()
  await world.captureDays(1, 5, ['north', 'south'])
  await world.source.query(`alter table ${world.table} rename column shop_region to hidden`)
  await world.captureAsIs(6)
  await world.source.query(`alter table ${world.table} rename column hidden to shop_region`)
  t.match((await world.tenant.ask('GET', world.path)).body.data, { last_status: 'ERROR' })
  await world.captureDays(7, 8, ['north', 'south'])
  t.same(await summariseAlerts(world), [])
  await world.capture(9, ['north'])
  t.same(await summariseAlerts(world), [{ change: 'group_vanished', status: 'triggered', groups: ['south'] }])
})

t.test('a table that lost all its rows has lost all its groups', async t => {
  const world = await regions()
  await world.captureDays(1, 7, ['north', 'south'])
  await world.capture(8, [])
  t.match(await world.alerts(), [{ title: /: no rows of 2 groups: shop_region north, shop_region south$/ }])
})

t.test('groups of working days come and go with the week', async t => {
  const world = await regions()
  for (let day = 0; day < 24; day++) await world.capture(day, day % 7 < 2 ? ['shop'] : ['office', 'shop'])
  t.same(await summariseAlerts(world), [])
})

t.test('groups by date raise no alert, neither when they come nor when they leave', async t => {
  const world = await regions({ ...BY_REGION, group_by_columns: ['placed'] })
  for (let day = 1; day <= 16; day++) {
    await world.source.query(`truncate ${world.table}`)
    await world.source.query(
      `insert into ${world.table} (id, placed)
       select 1, date '2024-06-01' + n from generate_series(greatest(${day} - 7, 1), ${day}) n`,
    )
    await world.captureAsIs(day)
  }
  t.same(await world.alerts(), [])
})

t.test('a group that was missing before has to be there for longer until it is missed again', async t => {
  const world = await regions()
  await world.captureDays(1, 7, ['north', 'south'])
  await world.capture(8, ['north'])
  await world.captureDays(9, 16, ['north', 'south'])
  await world.capture(17, ['north'])
  t.match(await summariseAlerts(world), [{ status: 'resolved' }], 'eight captures are no longer enough')
  await world.captureDays(18, 52, ['north', 'south'])
  await world.capture(53, ['north'])
  t.match(await summariseAlerts(world), [{ status: 'resolved' }, { status: 'triggered', groups: ['south'] }])
})

t.test('whatever comes and goes, a message keeps what it promises', async t => {
  const world = await regions()
  let { metric } = world
  const presence = fc.array(fc.constantFrom(...PATTERNS), { minLength: 3, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(presence, async patterns => {
      await world.app.query('delete from checks where id = $1', [metric.internal_id])
      metric = await world.make(BY_REGION)
      const life = [() => true, ...patterns].map((isThere, group) => ({ name: `g${group}`, isThere }))
      for (let day = 1; day <= DAYS; day++) {
        const present = life.filter(({ isThere }) => isThere(day))
        await world.capture(
          day,
          present.map(({ name }) => name),
        )
      }
      const own = (await world.alerts()).filter(({ details }) => details.metric_id === metric.id)
      for (const { change, details } of own) {
        for (const { shop_region: name } of details.groups as { shop_region: string }[]) {
          const group = life.find(known => known.name === name)!
          if (change === 'group_vanished') assertVanished(t, group.isThere, dayOf(details.last_seen_at))
          else assertNew(t, group.isThere, dayOf(details.first_seen_at), life)
        }
      }
    }),
    { numRuns: 3 },
  )
})

const DAYS = 20

const dayOf = (moment: string) => (Date.parse(moment) - momentOf(0).getTime()) / 86_400_000

type IsThere = (day: number) => boolean

const firstOf = (isThere: IsThere) => Array.from({ length: DAYS }, (_, n) => n + 1).find(isThere) ?? Infinity

/** It was there in the last seven captures, and is missing in the next. */
function assertVanished(t: Asserts, isThere: IsThere, last: number): void {
  t.notOk(isThere(last + 1))
  for (let day = last - 6; day <= last; day++) t.ok(isThere(day), `it was there on day ${day}`)
}

/** It was never there before, and seven captures came before it, none with a new group but the first. */
function assertNew(t: Asserts, isThere: IsThere, first: number, all: readonly { isThere: IsThere }[]): void {
  t.equal(first, firstOf(isThere))
  t.ok(first > 7)
  const others = all.map(other => firstOf(other.isThere)).filter(day => day > 1 && day < first)
  t.ok(others.every(day => first - day > 7))
}

/** When a group is there. */
const PATTERNS: readonly IsThere[] = [
  () => true,
  day => day % 7 > 1,
  day => day % 3 !== 0,
  day => day !== 12,
  day => day <= 10 || day > 15,
  day => day >= 13,
  day => day >= 5 && day % 9 !== 0,
]

t.test('the alert of groups can be dismissed as expected, which changes no baseline', async t => {
  const world = await regions()
  await world.captureDays(1, 7, ['north', 'south'])
  await world.capture(8, ['north'])
  const before = await world.states()
  const [alert] = await world.alerts()
  const said = await world.tenant.ask('POST', `/api/v1/sdk/alerts/${alert!.id}/dismiss`, {
    reason: 'expected',
  })
  t.match([said.status, said.body.data.status], [200, 'dismissed'])
  t.same(await world.states(), before)
  await world.capture(9, ['north'])
  t.match(await summariseAlerts(world), [{ status: 'dismissed' }], 'it raises no further alert')
  await world.capture(10, ['north', 'south'])
  t.match(await summariseAlerts(world), [{ status: 'dismissed' }])
})

t.test('switching off or removing a metric resolves the alerts of its groups', async t => {
  const world = await regions()
  await world.captureDays(1, 7, ['north', 'south'])
  await world.capture(8, ['north'])
  await world.tenant.ask('PATCH', world.path, { is_active: false })
  t.match(await summariseAlerts(world), [{ status: 'resolved' }])
  await world.tenant.ask('PATCH', world.path, { is_active: true })
  await world.captureDays(9, 10, ['north'])
  t.equal((await summariseAlerts(world)).length, 1)
  await world.captureDays(11, 40, ['north', 'south'])
  await world.capture(41, ['south'])
  t.match(await summariseAlerts(world), [{ status: 'resolved' }, { status: 'triggered', groups: ['north'] }])
  await world.tenant.ask('DELETE', world.path)
  t.match(await summariseAlerts(world), [{ status: 'resolved' }, { status: 'resolved' }])
})

t.test('what was learned of groups that have long been gone is removed', async t => {
  const world = await regions()
  await world.captureDays(1, 7, ['north', 'south'])
  await world.capture(8, ['north'])
  await world.capture(96, ['north'])
  t.match(await world.states(), [{ name: 'north' }, { name: 'south' }])
  await world.capture(98, ['north'])
  t.match(await world.states(), [{ name: 'north' }])
  t.match(await summariseAlerts(world), [{ status: 'resolved' }], 'that it is gone is no news any more')
  await world.capture(99, ['north', 'south'])
  t.equal((await summariseAlerts(world)).length, 1, 'a group that was there long ago is not new')
})
