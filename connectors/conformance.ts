import type { Capability, Connector, Egress } from './connector.ts'
import { catalogGroups } from './conformance/catalog.ts'
import { dialectGroups } from './conformance/dialect.ts'
import { buildFixture, type Fixture } from './conformance/fixture.ts'
import { makeKit, type Group, type Kit, type KitTest } from './conformance/kit.ts'
import { sessionGroups } from './conformance/session.ts'

export type { Fixture, KitTest }

/** What `testConnector` takes. */
export interface ConformanceOptions<Config> {
  connector: Connector<Config>
  /** A `connection_config` that works, as a user would send it: the kit validates it. */
  config: Record<string, unknown>
  /** Gives write access to the database of `config`, and the engine's own words for a few things. */
  setup(): Promise<Fixture> | Fixture
  /** What may be dialled; everything unless told. */
  egress?: Egress
  /** Groups left out, each with the reason; leaving out a basic group means not conforming. */
  skip?: Record<string, string>
}

/** What the kit found. */
export interface Conformance {
  /** True when every basic group and every claimed capability was run and passed. */
  conforming: boolean
  skipped: { group: string; reason: string }[]
}

const GROUPS: readonly Group[] = [...sessionGroups, ...catalogGroups, ...dialectGroups]

/** Capabilities that a group of their own holds. */
const TESTED = new Set<Capability>(GROUPS.flatMap(group => group.needs ?? []))

/**
 * Holds a connector to the promises of `Connector`, `Connection` and `Dialect`: the basic groups always, one
 * group more for each capability that is claimed. Runs as subtests of `t`, which may be tap's or node:test's.
 */
export async function testConnector<Config>(
  t: KitTest,
  { connector, config, setup, egress, skip = {} }: ConformanceOptions<Config>,
): Promise<Conformance> {
  refuseUnknownSkips(skip)
  const claimed = Object.keys(connector.capabilities) as Capability[]
  const untested = claimed.filter(capability => !TESTED.has(capability))
  if (untested.length > 0) throw new Error(`No such capability: ${untested.join(', ')}`)

  const fixture = await setup()
  const kit: Kit = makeKit(connector as Connector, config, fixture, egress)
  await buildFixture(kit)

  const skipped: Conformance['skipped'] = []
  for (const group of GROUPS) {
    if (group.needs && !connector.capabilities[group.needs]) continue
    const reason = skip[group.name]
    if (reason !== undefined) {
      skipped.push({ group: group.name, reason })
      await t.test(`${connector.name}: ${group.name}`, { skip: reason }, async () => {})
      continue
    }
    await t.test(`${connector.name}: ${group.name}`, {}, async (subtest: KitTest) => {
      try {
        await group.run(subtest, kit)
      } catch (error) {
        kit.failures.push(group.name)
        throw error
      }
    })
  }
  const conforming = kit.failures.length === 0 && skipped.length === 0
  if (skipped.length > 0) {
    const list = skipped.map(({ group, reason }) => `${group} (${reason})`).join(', ')
    t.comment?.(`${connector.name} is not conforming, skipped: ${list}`)
  }
  return { conforming, skipped }
}

function refuseUnknownSkips(skip: Record<string, string>): void {
  const names = GROUPS.map(group => group.name)
  for (const [name, reason] of Object.entries(skip)) {
    if (!names.includes(name))
      throw new Error(`No group ${JSON.stringify(name)}; there are ${names.join(', ')}`)
    if (reason.trim() === '') throw new Error(`Skipping ${JSON.stringify(name)} needs a reason`)
  }
}
