import t from 'tap'
import { testBuiltIns } from '../../../checks/conformance.ts'
import { startBigquery } from '../../helpers/bigquery.ts'
import { bigqueryStand, onBigquery } from '../../helpers/bigquery/stand.ts'

t.test('every check gives the numbers of every engine', async t => {
  const { connector, settings, options, execute, project } = await startBigquery(t)
  const connection = await connector.connect(settings, options)
  t.teardown(() => connection.close())
  const on = bigqueryStand({
    connector,
    connection,
    execute,
    project,
    dataset: 'shop',
  })
  const skipped = await testBuiltIns(t, { on, more: onBigquery })
  t.same(skipped, [])
})
