import t from 'tap'
import { sharedTest } from '../../helpers/share.ts'
import { testBuiltIns } from '../../../checks/conformance.ts'
import { startDatabricks } from '../../helpers/databricks.ts'
import { databricksStand, onDatabricks } from '../../helpers/databricks/stand.ts'
import { reasonsOf, singleCases, withoutNotFiniteSpreads } from '../test-databases.ts'

t.test('all checks give their numbers on Databricks', async t => {
  const { connector, config, options, execute } = await startDatabricks(t)
  const connection = connector.connect(config, options)
  t.teardown(async () => (await connection).close())
  const on = databricksStand({ connector, connection, execute, catalog: 'shop' })
  const more = { ...onDatabricks }
  for (const [name, cases] of Object.entries(singleCases('float')))
    more[name] = [...(more[name] ?? []), ...cases]
  const skipped = await testBuiltIns(sharedTest(t, 'built-in checks on databricks'), {
    database: on,
    extraCases: more,
    skip: withoutNotFiniteSpreads,
  })
  t.same(reasonsOf(skipped), [
    'the double has no collations',
    'the double has no standard deviation of NaN and infinities',
    'the double pads no text',
  ])
})
