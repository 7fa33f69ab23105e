import t from 'tap'
import { sharedTest } from '../../helpers/share.ts'
import { testBuiltIns } from '../../../checks/conformance.ts'
import { startBigquery } from '../../helpers/bigquery.ts'
import { bigqueryStand, onBigquery } from '../../helpers/bigquery/stand.ts'
import { reasonsOf, withoutNotFiniteSpreads } from '../test-databases.ts'

t.test('every check gives the numbers of every engine', async t => {
  const { connector, settings, options, execute, project } = await startBigquery(t)
  const connection = await connector.connect(settings, options)
  t.teardown(() => connection.close())
  const on = bigqueryStand({ connector, connection, execute, project, dataset: 'shop' })
  const skip = {
    ...withoutNotFiniteSpreads,
    'min_value: NaN and infinity: NaN is above all numbers': 'the double has NaN above all numbers',
  }
  const skipped = await testBuiltIns(sharedTest(t, 'built-in checks on bigquery'), {
    database: on,
    extraCases: onBigquery,
    skip,
  })
  t.same(reasonsOf(skipped), [
    'BigQuery pads no text',
    'the double has NaN above all numbers',
    'the double has no collations',
    'the double has no standard deviation of NaN and infinities',
  ])
})
