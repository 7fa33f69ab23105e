import fc from 'fast-check'
import t from 'tap'
import {
  readMonitors,
  writeMonitors,
  type MonitorsDocument,
} from '../../../plugins/monitors/file/monitors-file.ts'
import { monitorsOf, startMonitors } from './stages.ts'

const { signUp, query, shop } = await startMonitors(t)
const ours = await signUp()
const theirs = await signUp('Theirs')
const { ids, name, database } = await shop(t, [ours, theirs])
const other = await shop(t, [ours, theirs])
const [here, there] = [monitorsOf(ours, ids[0]!), monitorsOf(theirs, ids[1]!)]

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const severity = some(fc.constantFrom('info', 'warning', 'critical'))
const interval = some(fc.constantFrom('hourly', 'daily', 'weekly'))
const active = some(fc.boolean())
/** Texts that YAML could take for something else are among them. */
const words = fc.oneof(
  fc.constantFrom(
    'no',
    '1',
    'null',
    '~',
    'a: b',
    '# not',
    '- x',
    '2024-01-01',
    "it's",
    '"',
    'é\n  ü',
    '*a',
    '&b',
  ),
  fc
    .string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
    .filter(value => value.trim() !== '' && !/\p{Cc}/u.test(value)),
)
/** The rows that a check is about. */
const rowsOfCheck = fc
  .tuple(
    fc.record({ filter: some(fc.constantFrom("status = 'paid'", 'total > 1 -- more')) }),
    some(
      fc.record({
        ...{ time_column: fc.constant('updated_at'), window: fc.constantFrom('1h', '1d', '1w') },
        ...{
          window_delay: some(fc.constantFrom('2h', '3d')),
          revisit: some(fc.integer({ min: 0, max: 31 })),
        },
      }),
    ),
  )
  .map(([filter, window]) => ({ ...filter, ...window }))
const columns = fc.constantFrom('id', 'customer_id', 'status', 'total')

const config = fc.oneof(
  fc.record({ rule_type: fc.constantFrom('NOT_NULL', 'UNIQUE'), column_name: columns }),
  fc.record({
    rule_type: fc.constant('ENUM'),
    column_name: fc.constant('status'),
    rule_config: fc.record({ allowed_values: fc.uniqueArray(words, { minLength: 1, maxLength: 4 }) }),
  }),
  fc.record({
    rule_type: fc.constant('RANGE'),
    column_name: fc.constant('total'),
    rule_config: fc
      .record(
        { min: fc.integer({ min: -9, max: 9 }), max: fc.integer({ min: 10, max: 99 }) },
        { requiredKeys: [] },
      )
      .filter(bounds => Object.keys(bounds).length > 0),
  }),
)
const rule = fc
  .tuple(
    config,
    fc.record({
      ...{ severity, check_interval: interval, is_active: active },
      name: some(words.map(word => word.trim().slice(0, 200))),
      description: some(words),
      treat_null_as_valid: some(fc.boolean()),
      alert_threshold_percent: some(fc.double({ min: 0, max: 100, noNaN: true })),
      detection_mode: some(fc.constantFrom('manual', 'auto')),
      sensitivity: some(fc.integer({ min: 1, max: 4 })),
    }),
    rowsOfCheck,
  )
  .map(([what, more, of]) => ({ ...what, ...more, ...of }))
const metric = fc
  .tuple(
    fc.oneof(
      fc.constant({ metric_type: 'row_count' }),
      fc.record({ metric_type: fc.constantFrom('null_percent', 'distinct_count'), column_name: columns }),
      fc.record({
        metric_type: fc.constant('percentile'),
        column_name: fc.constant('total'),
        percentile_value: fc.integer({ min: 1, max: 99 }),
      }),
    ),
    fc.record({
      ...{ severity, capture_interval: interval, is_active: active },
      name: some(words.map(word => word.trim().slice(0, 200))),
      sensitivity: some(fc.double({ min: 0.1, max: 10, noNaN: true })),
      group_by_columns: some(fc.constantFrom([], ['status'])),
    }),
    rowsOfCheck,
  )
  .map(([what, more, of]) => ({ ...what, ...more, ...of }))
const reference = fc.record({
  child_column_name: fc.constantFrom('id', 'customer_id'),
  parent_table_path: fc.constantFrom('customers', 'public.events'),
  parent_column_name: fc.constant('id'),
  ...{ severity, capture_interval: interval, is_active: active },
  max_orphan_count: some(fc.nat()),
  max_orphan_percent: some(fc.double({ min: 0, max: 100, noNaN: true })),
})
const numbers = fc.record({ tolerance: fc.constantFrom(0, 0.01), round: fc.nat({ max: 4 }) })
const comparison = fc
  .tuple(
    fc.oneof(
      fc.record({
        key_columns: fc.constantFrom(['id'], [{ left: 'id', right: 'customer_id' }], ['id', 'status']),
        columns: some(
          fc.tuple(
            fc.constantFrom('status', { left: 'status', trim: true, null_is_empty: true }),
            numbers.map(rule => ({ left: 'total', ...rule })),
            fc.constant({ left: 'updated_at', right: 'updated_at', precision: 'second' }),
          ),
        ),
        max_differing_rows: some(fc.nat()),
        max_differing_percent: some(fc.double({ min: 0, max: 100, noNaN: true })),
      }),
      fc.record({
        level: fc.constantFrom('aggregates', 'counts'),
        group_by_columns: some(fc.constantFrom([], ['status'], [{ left: 'id', right: 'customer_id' }])),
      }),
    ),
    fc.record({
      right_source: some(fc.constant(other.name)),
      right_table_path: fc.constant('public.orders'),
      right_filter: some(fc.constant('id > 1')),
      ...{ severity, capture_interval: interval, is_active: active, description: some(words) },
    }),
    rowsOfCheck,
  )
  .map(([what, more, of]) => ({ ...what, ...more, ...of }))
const schedule = fc.oneof(
  fc.record({ sla_threshold: fc.constantFrom('24h', '7d', '90m'), check_interval: some(fc.constant('6h')) }),
  fc.record({ monitoring_mode: fc.constant('auto_learn'), is_active: active }),
  fc.record({
    freshness_column: fc.constant('updated_at'),
    expected_interval_hours: fc.constantFrom(1.5, 24),
  }),
)

const document = fc
  .record({
    validity: fc.array(rule, { maxLength: 5 }),
    metric: fc.array(metric, { maxLength: 4 }),
    referential: fc.array(reference, { maxLength: 2 }),
    comparison: fc.array(comparison, { maxLength: 2 }),
    freshness: fc.array(schedule, { maxLength: 1 }),
  })
  .map(checks => {
    const keyed = Object.entries(checks).map(([kind, entries]) => [
      kind,
      (entries as object[]).map((entry, index) => ({ key: `${kind}-${index}`, ...entry })),
    ])
    // Through JSON, which leaves undefined out.
    const content = {
      version: 1,
      source: name,
      tables: { orders: { checks: Object.fromEntries(keyed) as object } },
    }
    return JSON.parse(JSON.stringify(content)) as MonitorsDocument
  })

async function empty(): Promise<void> {
  for (const table of ['checks', 'monitors', 'rate_windows']) await query(`delete from ${table}`)
}

t.test(
  'what is exported and applied elsewhere is exported as it was, and applying it again does nothing',
  async t => {
    await fc.assert(
      fc.asyncProperty(document, async wanted => {
        await empty()
        const applied = await here.apply(writeMonitors(wanted))
        if (applied.status !== 200) throw new Error(JSON.stringify(applied.body))
        const exported = await here.export()
        const text = writeMonitors(exported)
        t.strictSame(
          JSON.parse(JSON.stringify(readMonitors(text, 'file').document)),
          exported,
          'YAML is exact',
        )

        const again = (await here.apply(text)).body.data
        t.match(again, { create: 0, change: 0, replace: 0, adopt: 0, changes: [], drift: [] })
        const moved = (await there.apply(text)).body.data
        t.equal(moved.create, again.unchanged)
        t.strictSame(await there.export(), exported)
        t.match((await there.apply(text)).body.data, {
          create: 0,
          unchanged: again.unchanged,
          changes: [],
          drift: [],
        })
        // Without keys, the checks are adopted as they are.
        await query('delete from monitors')
        await query('update checks set owner_kind = null, owner_ref = null')
        t.match((await there.apply(text)).body.data, {
          create: 0,
          change: 0,
          replace: 0,
          adopt: again.unchanged,
        })
      }),
      { numRuns: 12, endOnFailure: true },
    )
    t.ok(database.name)
  },
)
