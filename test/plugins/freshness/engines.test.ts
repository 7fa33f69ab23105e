import t, { type Test } from 'tap'
import { ENGINES, startEngines, table, type Engine, type Place } from './engines.ts'
import { explicit } from './worlds.ts'

const { place } = await startEngines(t)

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Each promise is kept by each engine. */
function onEach(promise: string, keep: (t: Test, engine: Engine) => Promise<void>): void {
  for (const { name } of ENGINES) on(name, promise, keep)
}

/** A promise of one engine. */
function on(name: Engine['name'], promise: string, keep: (t: Test, engine: Engine) => Promise<void>): void {
  for (const engine of ENGINES.filter(one => one.name === name))
    void t.test(`${engine.name}: ${promise}`, { skip: engine.absent }, t => keep(t, engine))
}

const start = Date.parse('2025-03-10T00:00:00Z')

/** What a record says at each share of the threshold, and the alert that is open then. */
const BORDERS = [
  { share: 0.799, found: { status: 'fresh', sla_status: 'within_sla', readiness: 'ready' }, open: null },
  { share: 0.8, found: { status: 'fresh', sla_status: 'warning', readiness: 'ready' }, open: 'warning' },
  { share: 0.999, found: { status: 'fresh', sla_status: 'warning', readiness: 'ready' }, open: 'warning' },
  { share: 1, found: { status: 'stale', sla_status: 'violated', readiness: 'not_ready' }, open: 'critical' },
]

const openOf = async ({ alerts }: Place, id: string) =>
  (await alerts(id)).find(({ status }) => status === 'triggered')?.severity ?? null

onEach(
  'an explicit threshold warns at 80 % and is violated at 100 %, whatever its length',
  async (t, engine) => {
    const thresholds = { '7m': 7, '3d': 4320 }
    const names = Object.keys(thresholds)
    const world = await place(
      t,
      engine,
      names.flatMap((_, index) =>
        table(`t${index}`, engine.type.moment, engine.moment('2025-03-10T00:00:00Z')),
      ),
    )
    for (const [index, [threshold, minutes]] of Object.entries(thresholds).entries()) {
      const id = await world.watch(`t${index}`, explicit(threshold))
      for (const { share, found, open } of BORDERS) {
        const age = Math.round(share * minutes * MINUTE)
        await world.check(new Date(start + age), [id])
        t.match(
          await world.record(`t${index}`),
          {
            ...found,
            last_updated: '2025-03-10T00:00:00.000Z',
            checked_at: new Date(start + age).toISOString(),
            data_age_minutes: Math.floor(age / MINUTE),
            expected_next_update: new Date(start + minutes * MINUTE).toISOString(),
            signal: 'column',
            note: null,
            error_message: null,
          },
          `${share} of ${threshold}`,
        )
        t.equal(await openOf(world, id), open, `the alert at ${share} of ${threshold}`)
      }
      await world.check(new Date(start + minutes * MINUTE * 5), [id])
      t.match(
        await world.alerts(id),
        [
          { severity: 'warning', status: 'resolved', occurrences: 2 },
          { severity: 'critical', status: 'triggered', occurrences: 2 },
        ],
        'a violation alerts once',
      )
    }
    const again = new Date(start + 30 * 24 * HOUR)
    for (const index of names.keys())
      await world.run(`insert into t${index} values (2, ${engine.moment(again.toISOString())})`)
    t.match(await world.check(again), { fresh: 2, statements: 1 })
    for (const index of names.keys())
      t.match(await world.record(`t${index}`), { status: 'fresh', data_age_minutes: 0 })
  },
)

onEach('a violation resolves when data has come, and not because nothing can be read', async (t, engine) => {
  const world = await place(t, engine, table('t', engine.type.moment, engine.moment('2025-03-10T00:00:00Z')))
  const id = await world.watch('t', explicit('1h'))
  await world.check(new Date(start + 2 * HOUR))
  t.equal(await openOf(world, id), 'critical')
  await world.run('alter table t rename to away')
  t.match(await world.check(new Date(start + 3 * HOUR)), { measured: 0, failed: [{ error: Error }] })
  t.match(await world.record('t'), {
    status: 'unknown',
    sla_status: null,
    readiness: 'error',
    error_message: String,
    last_updated: '2025-03-10T00:00:00.000Z',
    data_age_minutes: null,
  })
  t.equal(await openOf(world, id), 'critical', 'not knowing resolves nothing')
  await world.run('alter table away rename to t')
  await world.run(`insert into t values (2, ${engine.moment('2025-03-10T03:30:00Z')})`)
  await world.check(new Date(start + 4 * HOUR))
  t.match(await world.alerts(id), [{ status: 'resolved', severity: 'critical' }])
})

onEach(
  'a cadence is learned of 7 updates; it warns when the next one is late, not before',
  async (t, engine) => {
    const world = await place(t, engine, [`create table loads (id integer, loaded_at ${engine.type.naive})`])
    const id = await world.watch('loads', {})
    const day = (index: number, hour: number, minute = 0) =>
      new Date(Date.UTC(2025, 2, 3 + index, hour, minute))
    await world.check(day(0, 1))
    t.match(await world.record('loads'), { status: 'unknown', sla_status: null, readiness: 'unknown' })
    const load = (at: Date) =>
      world.run(`insert into loads values (1, '${at.toISOString().slice(0, 19).replace('T', ' ')}')`)
    for (let index = 0; index < 7; index++) {
      await load(day(index, 6, index % 3))
      await world.check(day(index, 7))
      const { status, note } = await world.record('loads')
      t.equal(status, index < 6 ? 'unknown' : 'fresh', `update ${index + 1}`)
      if (index < 6) t.match(note, /7 updates/)
    }
    const known = await world.record('loads')
    const [, count, unit] = /^(\d+)([mh])$/.exec(known.sla_threshold) as RegExpExecArray
    const sla = Number(count) * (unit === 'h' ? HOUR : MINUTE)
    const last = day(6, 6, 0).getTime()
    const end = last + sla
    const expected = Date.parse(known.expected_next_update)
    t.ok(expected > last + 23 * HOUR && expected < last + 25 * HOUR, known.expected_next_update)
    t.ok(end > expected, known.sla_threshold)

    for (const { share, found } of BORDERS.slice(0, 2)) {
      await world.check(new Date(last + share * sla))
      t.match(await world.record('loads'), found, `${share} of the learned threshold`)
      t.equal(await openOf(world, id), null, 'no warning before the usual time')
    }
    const late = Math.ceil(expected + 0.8 * (end - expected))
    await world.check(new Date(late - 1000))
    t.equal(await openOf(world, id), null)
    await world.check(new Date(late))
    t.equal(await openOf(world, id), 'warning')
    for (const { share, found, open } of BORDERS.slice(2)) {
      await world.check(new Date(last + share * sla))
      t.match(await world.record('loads'), found, `${share} of the learned threshold`)
      t.equal(await openOf(world, id), open)
    }
    await load(day(8, 6))
    await world.check(day(8, 7))
    t.equal(await openOf(world, id), null)
    t.match(await world.record('loads'), { status: 'fresh', data_age_minutes: 60 })
  },
)

/** A wall clock time of a zone, and the moment that it was; read at a time, or five minutes later. */
interface Shown {
  shown: string
  was: string
  at?: string
}

const ZONES: Record<string, Shown[]> = {
  'Europe/Berlin': [
    { shown: '2025-01-10 12:00:00', was: '2025-01-10T11:00:00.000Z' },
    { shown: '2025-07-10 12:00:00', was: '2025-07-10T10:00:00.000Z' },
    // 02:30 is left out in spring, and shown twice in autumn.
    { shown: '2025-03-30 02:30:00', was: '2025-03-30T01:30:00.000Z' },
    { shown: '2025-03-30 03:00:00', was: '2025-03-30T01:00:00.000Z' },
    { shown: '2025-10-26 02:30:00', was: '2025-10-26T00:30:00.000Z', at: '2025-10-26T00:35:00Z' },
    { shown: '2025-10-26 02:30:00', was: '2025-10-26T01:30:00.000Z', at: '2025-10-26T01:35:00Z' },
    { shown: '2025-10-26 03:00:00', was: '2025-10-26T02:00:00.000Z' },
  ],
  'America/New_York': [
    { shown: '2025-01-10 12:00:00', was: '2025-01-10T17:00:00.000Z' },
    { shown: '2025-07-10 12:00:00', was: '2025-07-10T16:00:00.000Z' },
    { shown: '2025-03-09 02:30:00', was: '2025-03-09T07:30:00.000Z' },
    { shown: '2025-11-02 01:30:00', was: '2025-11-02T05:30:00.000Z', at: '2025-11-02T05:35:00Z' },
    { shown: '2025-11-02 01:30:00', was: '2025-11-02T06:30:00.000Z', at: '2025-11-02T06:35:00Z' },
  ],
  'Asia/Kolkata': [{ shown: '2025-07-10 12:00:00', was: '2025-07-10T06:30:00.000Z' }],
  'America/St_Johns': [
    { shown: '2025-01-10 12:00:00', was: '2025-01-10T15:30:00.000Z' },
    { shown: '2025-07-10 12:00:00', was: '2025-07-10T14:30:00.000Z' },
  ],
  'Pacific/Honolulu': [{ shown: '2025-07-10 23:59:59.999', was: '2025-07-11T09:59:59.999Z' }],
  // Its clock goes back by half an hour.
  'Australia/Lord_Howe': [
    { shown: '2025-04-06 01:45:00', was: '2025-04-05T14:45:00.000Z', at: '2025-04-05T14:50:00Z' },
    { shown: '2025-04-06 01:45:00', was: '2025-04-05T15:15:00.000Z', at: '2025-04-05T15:20:00Z' },
  ],
}

/** Days begin at midnight of the zone, or where that was left out, at one. */
const DAYS: Record<string, Shown[]> = {
  'Europe/Berlin': [
    { shown: '2025-01-10', was: '2025-01-09T23:00:00.000Z' },
    { shown: '2025-07-10', was: '2025-07-09T22:00:00.000Z' },
  ],
  'Asia/Kolkata': [{ shown: '2025-07-10', was: '2025-07-09T18:30:00.000Z' }],
  'Pacific/Honolulu': [{ shown: '2025-07-10', was: '2025-07-10T10:00:00.000Z' }],
  'America/Sao_Paulo': [{ shown: '2018-11-04', was: '2018-11-04T03:00:00.000Z' }],
}

onEach(
  "times that name no zone are the source's, over its clock changes; moments are moments",
  async (t, engine) => {
    const { type } = engine
    const cases = [...new Set([...Object.keys(ZONES), ...Object.keys(DAYS)])].flatMap(zone => [
      ...(ZONES[zone] ?? []).flatMap(shown => [
        { zone, ...shown, type: type.naive },
        { zone, ...shown, type: type.text },
      ]),
      ...(DAYS[zone] ?? []).map(shown => ({ zone, ...shown, type: 'date' })),
      { zone, shown: '2025-07-10T12:00:00Z', was: '2025-07-10T12:00:00.000Z', type: type.moment },
      { zone, shown: '2025-07-10T14:00:00+02:00', was: '2025-07-10T12:00:00.000Z', type: type.text },
    ])
    const world = await place(
      t,
      engine,
      cases.flatMap(({ type: its, shown }, index) =>
        table(`t${index}`, its, its === type.moment ? engine.moment(shown) : `'${shown}'`),
      ),
    )
    const ids: string[] = []
    for (const index of cases.keys())
      ids.push(await world.watch(`t${index}`, { ...explicit('1h'), freshness_column: 'ts' }))
    const numbered = cases.map((its, index) => ({ ...its, id: ids[index] ?? '' }))
    for (const [zone, those] of Map.groupBy(numbered, its => its.zone)) {
      await world.change({ connection_config: { timezone: zone } })
      const timeOf = ({ was, at }: Shown) => at ?? new Date(Date.parse(was) + 5 * MINUTE).toISOString()
      for (const [time, some] of Map.groupBy(those, timeOf))
        t.match(
          await world.check(
            time,
            some.map(({ id }) => id),
          ),
          { fresh: some.length, statements: 1 },
        )
    }
    const records = await world.records()
    for (const [index, { zone, shown, was, type }] of cases.entries())
      t.match(
        records.get(`t${index}`),
        { last_updated: was, data_age_minutes: 5, status: 'fresh' },
        `${shown} of type ${type} in ${zone}`,
      )
  },
)

onEach('without a zone of its own, a source is taken to be in that of the service', async (t, engine) => {
  const world = await place(t, engine, table('t', engine.type.naive, `'2025-07-10 12:00:00'`))
  await world.watch('t', { ...explicit('1h'), freshness_column: 'ts' })
  await world.check('2025-07-10T12:30:00Z')
  t.match(await world.record('t'), { last_updated: '2025-07-10T12:00:00.000Z', data_age_minutes: 30 })
})

const NOW = '2025-07-10T12:00:00Z'
const seconds = Date.parse('2025-07-10T11:30:00Z') / 1000
const half = { status: 'fresh', last_updated: '2025-07-10T11:30:00.000Z', data_age_minutes: 30, note: null }
const ahead = {
  status: 'fresh',
  sla_status: 'within_sla',
  readiness: 'ready',
  data_age_minutes: 0,
  note: /future/,
}
const none = {
  status: 'unknown',
  sla_status: null,
  readiness: 'unknown',
  last_updated: null,
  data_age_minutes: null,
}
const unread = {
  status: 'unknown',
  sla_status: null,
  readiness: 'error',
  error_message: /not a date or time/,
}

interface Shape {
  name: string
  type(engine: Engine): string
  rows: string[]
  found: object
}

const naive = ({ type }: Engine) => type.naive
const integer = ({ type }: Engine) => type.integer
const text = ({ type }: Engine) => type.text

/** What a column may hold, and its record at `NOW` in UTC. */
const SHAPES: Shape[] = [
  { name: 'empty', type: naive, rows: [], found: { ...none, note: 'No row has a value in ts' } },
  {
    name: 'nulls',
    type: naive,
    rows: ['null', 'null'],
    found: { ...none, note: 'No row has a value in ts' },
  },
  { name: 'some_null', type: naive, rows: ['null', `'2025-07-10 11:30:00'`, 'null'], found: half },
  {
    name: 'tomorrow',
    type: naive,
    rows: [`'2025-07-11 11:30:00'`],
    found: { ...ahead, last_updated: '2025-07-11T11:30:00.000Z' },
  },
  {
    name: 'sentinel',
    type: naive,
    rows: [`'2025-07-10 11:30:00'`, `'9999-12-31 00:00:00'`],
    found: { ...ahead, last_updated: '9999-12-31T00:00:00.000Z' },
  },
  { name: 'last_second', type: naive, rows: [`'9999-12-31 23:59:59'`], found: ahead },
  {
    name: 'last_day',
    type: () => 'date',
    rows: [`'9999-12-31'`],
    found: { ...ahead, last_updated: '9999-12-31T00:00:00.000Z' },
  },
  {
    name: 'far_text',
    type: text,
    rows: [`'12025-07-10 11:30:00'`],
    found: { ...ahead, last_updated: '9999-12-31T23:59:59.999Z' },
  },
  { name: 'seconds', type: integer, rows: [`${seconds}`, `${seconds - 1}`], found: half },
  { name: 'milliseconds', type: integer, rows: [`${seconds}000`], found: half },
  { name: 'microseconds', type: integer, rows: [`${seconds}000000`], found: half },
  { name: 'nanoseconds', type: integer, rows: [`${seconds}000000000`], found: half },
  {
    name: 'day_numbers',
    type: integer,
    rows: ['20250709', '20250710'],
    found: { ...half, last_updated: '2025-07-10T00:00:00.000Z', data_age_minutes: 720 },
  },
  { name: 'epoch_text', type: text, rows: [`'${seconds}'`], found: half },
  { name: 'iso_text', type: text, rows: [`'2025-07-10T11:30:00Z'`, `'2025-07-10T11:29:59Z'`], found: half },
  { name: 'spaced_text', type: text, rows: [`'2025-07-10 17:00:00.000 +0530'`], found: half },
  {
    name: 'day_text',
    type: text,
    rows: [`'2025-07-10'`],
    found: { ...half, last_updated: '2025-07-10T00:00:00.000Z', data_age_minutes: 720 },
  },
  { name: 'words', type: text, rows: [`'soon'`], found: unread },
  { name: 'hours', type: text, rows: [`'11:30'`], found: unread },
  { name: 'two_digits', type: text, rows: [`'11'`], found: unread },
  { name: 'no_day', type: text, rows: [`'2025-02-30 11:30:00'`], found: unread },
  {
    name: 'long_ago',
    type: () => 'date',
    rows: [`'0001-01-01'`],
    found: { status: 'stale', last_updated: '0001-01-01T00:00:00.000Z' },
  },
  { name: 'beyond_dates', type: () => 'double precision', rows: ['1e300'], found: unread },
]

onEach('any value of a column gives the right record, and no table affects another', async (t, engine) => {
  const world = await place(
    t,
    engine,
    SHAPES.flatMap(({ name, type, rows }) => table(name, type(engine), ...rows)),
  )
  for (const { name } of SHAPES) await world.watch(name, { ...explicit('24h'), freshness_column: 'ts' })
  t.match(await world.check(NOW), { statements: 1 })
  const records = await world.records()
  for (const { name, found } of SHAPES) t.match(records.get(name), found, name)

  // The last second of a calendar is in the next year, or the first one in the year before, somewhere else.
  for (const zone of ['Pacific/Honolulu', 'Asia/Kolkata']) {
    await world.change({ connection_config: { timezone: zone } })
    await world.check(NOW)
    const shifted = await world.records()
    for (const name of ['sentinel', 'last_second', 'last_day'])
      t.match(shifted.get(name), ahead, `${name} in ${zone}`)
    t.match(shifted.get('long_ago'), { status: 'stale', error_message: null }, `long_ago in ${zone}`)
    t.match(shifted.get('seconds'), half, `and an epoch is the same in ${zone}`)
  }
})

/** Types that contain no time, by engine; a `definition` comes before the table. */
const TIMELESS: Record<Engine['name'], { types: string[]; definitions: string[] }> = {
  postgresql: {
    definitions: [
      `create type mood as enum ('sad')`,
      'create domain key as uuid',
      'create type pair as (a int)',
    ],
    types: [
      'uuid',
      'mood',
      'interval',
      'timestamp[]',
      'text[]',
      'key',
      'pair',
      'boolean',
      'time',
      'jsonb',
      'bytea',
      'inet',
      'tstzrange',
      'point',
      'money',
      'xml',
      'tsvector',
      'oid',
      'bit(8)',
    ],
  },
  mysql: {
    definitions: [],
    types: ['uuid', `enum('a','b')`, `set('a','b')`, 'boolean', 'time', 'blob', 'inet6', 'point', 'bit(8)'],
  },
  sqlite: { definitions: [], types: ['uuid', 'mood', 'boolean', 'time', 'json', 'blob'] },
}

onEach('a column whose type contains no time is rejected', async (t, engine) => {
  const { types, definitions } = TIMELESS[engine.name]
  const columns = types.map((type, index) => `c${index} ${type}`)
  const world = await place(t, engine, [...definitions, `create table t (${columns.join(', ')})`])
  for (const [index, type] of types.entries()) {
    const refused = await world.ask({ ...explicit('24h'), freshness_column: `c${index}` })
    t.match(
      refused,
      {
        status: 400,
        body: {
          error: {
            code: 'VALIDATION_ERROR',
            details: {
              field: 'freshness_column',
              error: new RegExp(`^c${index} is .*, which contains no dates or times$`),
            },
          },
        },
      },
      type,
    )
  }
})

on('sqlite', 'a column without a type may hold times, as may one of a view', async (t, engine) => {
  const world = await place(t, engine, [
    'create table t (id integer, ts)',
    `insert into t values (1, '2025-07-10 11:30:00')`,
    'create view v as select max(ts) as ts from t',
  ])
  for (const name of ['t', 'v']) await world.watch(name, { ...explicit('24h'), freshness_column: 'ts' })
  await world.check(NOW)
  for (const name of ['t', 'v']) t.match(await world.record(name), half, name)
})

onEach('views, odd names and tables without a time have records as well', async (t, engine) => {
  const odd = 'Or"der.s `X`'
  const [at, before] = ['2025-07-10T11:30:00Z', '2025-07-10T09:00:00Z'].map(engine.moment) as [string, string]
  const column = engine.quote('Updated "at".`é`')
  const world = await place(t, engine, [
    ...table('orders', engine.type.moment, at),
    ...table('parts', engine.type.moment, before),
    `create view one as select id, ts from orders where id > 0`,
    `create view several as select ts from orders union all select ts from parts`,
    `create view joined as select o.ts from orders o join parts p on p.id = o.id`,
    `create table ${engine.quote(odd)} (${column} ${engine.type.moment})`,
    `insert into ${engine.quote(odd)} values (${at})`,
    'create table bare (id integer)',
    'insert into bare values (1)',
  ])
  for (const name of ['orders', 'one', 'several', 'joined']) await world.watch(name, explicit('24h'))
  await world.watch(odd, { ...explicit('24h'), freshness_column: 'Updated "at".`é`' })
  await world.watch('bare', explicit('24h'))
  t.match(await world.check(NOW), { measured: 6, fresh: 5, unknown: 1, statements: 1 })
  for (const name of ['orders', 'one', 'several', 'joined', odd])
    t.match(await world.record(name), half, name)
  t.match(await world.record('bare'), { ...none, signal: null, note: /no timestamp column/ })
})

onEach('what changed since the discovery is an error of its own table', async (t, engine) => {
  const { type, moment } = engine
  const [at] = ['2025-07-10T11:30:00Z'].map(moment) as [string]
  const names = ['well', 'renamed', 'dropped', 'without', 'retyped', 'counted']
  const world = await place(t, engine, [
    ...names.flatMap(name => table(name, type.moment, at)),
    ...table('beneath', type.moment, at),
    // PostgreSQL keeps what a view reads; a function of it may still fail.
    engine.name === 'postgresql'
      ? `create view broken as select ts from beneath where 1 / id = 1`
      : `create view broken as select ts from beneath`,
  ])
  for (const name of [...names, 'broken']) await world.watch(name, explicit('24h'))
  t.match(await world.check(NOW), { measured: 7, fresh: 7, statements: 1 })
  for (const statement of [
    'alter table renamed rename to elsewhere',
    'drop table dropped',
    'alter table without drop column ts',
    'drop table retyped',
    ...table('retyped', type.text, `'soon'`),
    'drop table counted',
    ...table('counted', type.integer, `${seconds}`),
    engine.name === 'postgresql' ? 'update beneath set id = 0' : 'drop table beneath',
  ])
    await world.run(statement)
  const { measured, failed, fresh } = await world.check(NOW)
  t.same([measured, fresh, failed.length], [2, 2, 5])
  const found = await world.records()
  t.match(found.get('well'), half)
  t.match(found.get('counted'), half, 'an epoch is read where a timestamp was')
  for (const name of ['renamed', 'dropped', 'without', 'retyped', 'broken'])
    t.match(
      found.get(name),
      { ...unread, error_message: /../, last_updated: half.last_updated, timestamp_column: 'ts' },
      name,
    )
  t.match(found.get('retyped'), unread)
  await world.discover()
  await world.check(NOW)
  const known = await world.records()
  for (const name of ['well', 'counted']) t.match(known.get(name), half, name)
  for (const name of ['renamed', 'dropped'])
    t.match(known.get(name), { ...unread, error_message: /The last discovery did not find the table/ }, name)
  t.match(known.get('without'), { ...unread, error_message: /no longer has a column ts/ })
  t.match(known.get('retyped'), unread)
})
