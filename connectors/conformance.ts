/**
 * What a connector package tests itself with:
 *
 *     const result = await testConnector(t, {
 *       connector: acme,
 *       config: { host: 'localhost', database: 'shop', username: 'reader', password: '…' },
 *       setup: () => ({
 *         execute: text => owner.query(text), // may create and write
 *         catalog: 'shop',
 *         schema: 'public', // and empty
 *         refused: [{ name: 'a wrong password', config: { … }, kind: 'credentials' }],
 *         slow: sql`select sleep(60)`,
 *         types: { timestamp: 'datetime', json: null }, // null: has none
 *         refusesNames: ['64 characters'],
 *       }),
 *     })
 *     t.match(result, { conforming: true, skipped: [] }) // give the test minutes: t.setTimeout(600_000)
 *     t.comment(conformanceTable({ Acme: result }))
 */
import { canOf, type Capability, type Connector, type Egress } from './connector.ts'
import { buildFixture } from './conformance/build.ts'
import { catalogGroups } from './conformance/catalog.ts'
import { comparisonGroup } from './conformance/comparison.ts'
import { configGroups } from './conformance/config.ts'
import { costGroups } from './conformance/costs.ts'
import { dialectGroups } from './conformance/dialect.ts'
import type { Fixture } from './conformance/fixture.ts'
import { makeKit, type PromiseGroup, type ConformanceKit, type ConformanceTest } from './conformance/kit.ts'
import { namesGroups } from './conformance/names.ts'
import { partialGroups } from './conformance/partial.ts'
import { isCutOff, type ConformanceResult, type GroupReport } from './conformance/report.ts'
import { rowsGroups } from './conformance/rows.ts'
import { sessionGroups } from './conformance/session.ts'
import { statementGroups } from './conformance/statements.ts'
import { valuesGroups } from './conformance/values.ts'

export { conformanceTable } from './conformance/report.ts'
export type { ConformanceResult, ConformanceTest, Fixture, GroupReport }
export type {
  AwkwardName,
  FixtureTypes,
  HiddenTable,
  OptionalType,
  HiddenColumns,
  RevokedStatement,
  WrittenColumn,
  WrittenTable,
} from './conformance/fixture.ts'

/** What `testConnector` takes. */
export interface ConformanceOptions<Config> {
  connector: Connector<Config>
  /** A `connection_config` that works, as a user would send it: the kit validates it. */
  config: Record<string, unknown>
  /** Gives write access to the database of `config`, and the engine's own words for a few things. */
  setup(): Promise<Fixture> | Fixture
  /** How hosts and files are reached; defaults to the system itself. A stand-in for a service returns its own address. */
  egress?: Egress
  /** Groups left out, each with the reason; leaving out a basic group means not conforming. */
  skip?: Record<string, string>
}

const GROUPS: readonly PromiseGroup[] = [
  ...configGroups,
  ...sessionGroups,
  ...valuesGroups,
  ...rowsGroups,
  ...statementGroups,
  ...costGroups,
  ...catalogGroups,
  ...partialGroups,
  ...namesGroups,
  ...dialectGroups,
  comparisonGroup,
]

/** Capabilities that a group of their own holds. */
const TESTED = new Set<Capability>(GROUPS.flatMap(group => group.needs ?? []))

/**
 * Holds a connector to the promises of `Connector`, `Connection` and `Dialect`: the basic groups always, one
 * group more for each capability that is claimed. Runs as subtests of `t`, which may be tap's or node:test's.
 */
export async function testConnector<Config>(
  t: ConformanceTest,
  { connector, config, setup, egress, skip = {} }: ConformanceOptions<Config>,
): Promise<ConformanceResult> {
  refuseUnknownSkips(skip)
  const claimed = Object.keys(connector.capabilities) as Capability[]
  const untested = claimed.filter(capability => !TESTED.has(capability))
  if (untested.length > 0) throw new Error(`No such capability: ${untested.join(', ')}`)

  const fixture = await setup()
  const kit: ConformanceKit = makeKit(connector as Connector, config, fixture, egress)
  await buildFixture(kit)

  const skipped: ConformanceResult['skipped'] = []
  for (const group of GROUPS) {
    const isClaimed = isGroupClaimed(group, connector as Connector, fixture)
    const reason = isClaimed ? skip[group.name] : 'not claimed'
    const { name } = group
    kit.groups.push({
      name,
      basic: !group.needs && !group.isClaimed,
      ended: false,
      promises: 0,
      passed: 0,
      skipped: [],
      ...(reason && { reason }),
    })
    if (!isClaimed) continue
    if (reason !== undefined) skipped.push({ group: name, reason })
    await runGroup(t, group, kit, reason)
  }
  const { groups } = kit
  const cutOff = groups.filter(isCutOff).map(({ name }) => name)
  const conforming =
    skipped.length === 0 && cutOff.length === 0 && groups.every(({ promises, passed }) => promises === passed)
  if (skipped.length > 0) {
    const list = skipped.map(({ group, reason }) => `${group} (${reason})`).join(', ')
    t.comment?.(`${connector.name} is not conforming, skipped: ${list}`)
  }
  if (cutOff.length > 0)
    t.comment?.(
      `${connector.name} is not conforming, these groups did not end: ${cutOff.join(', ')}. ` +
        'If the time was up, give the test more: t.setTimeout(600_000), or TAP_TIMEOUT=600 for the whole run.',
    )
  return { conforming, skipped, groups }
}

function isGroupClaimed(
  { needs, isClaimed }: PromiseGroup,
  connector: Connector,
  { tableKind = 'table' }: Fixture,
): boolean {
  if (needs && !canOf(connector.capabilities[needs], { kind: tableKind })) return false
  return isClaimed?.(connector) ?? true
}

async function runGroup(
  t: ConformanceTest,
  group: PromiseGroup,
  kit: ConformanceKit,
  reason: string | undefined,
): Promise<void> {
  const name = `${kit.connector.name}: ${group.name}`
  if (reason !== undefined) {
    await t.test(name, { skip: reason }, async () => {})
    return
  }
  await t.test(name, {}, async (subtest: ConformanceTest) => {
    kit.test = subtest
    const report = kit.groups.at(-1)
    try {
      await group.run(kit)
    } catch (error) {
      // What fails outside of a promise counts as one that is broken.
      if (report) report.promises += 1
      throw error
    } finally {
      if (report) report.ended = true
    }
  })
}

function refuseUnknownSkips(skip: Record<string, string>): void {
  const names = GROUPS.map(group => group.name)
  for (const [name, reason] of Object.entries(skip)) {
    if (!names.includes(name))
      throw new Error(`No group ${JSON.stringify(name)}; there are ${names.join(', ')}`)
    if (reason.trim() === '') throw new Error(`Skipping ${JSON.stringify(name)} needs a reason`)
  }
}
