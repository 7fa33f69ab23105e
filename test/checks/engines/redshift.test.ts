import t from 'tap'
import { sharedTest } from '../../helpers/share.ts'
import { createTestDatabase, testBuiltIns } from '../../../checks/conformance.ts'
import { redshift } from '../../../connectors/redshift/index.ts'
import { redshiftSettings, startRedshift } from '../../helpers/redshift.ts'
import { connectOptions } from '../../helpers/source.ts'
import { reasonsOf, singleCases } from '../test-databases.ts'

t.test('every check gives the numbers of every engine, against an emulation', async t => {
  const cluster = await startRedshift(t)
  const connection = await redshift.connect(redshiftSettings(cluster.config), connectOptions)
  t.teardown(() => connection.close())
  const on = createTestDatabase({
    connector: redshift,
    connection,
    execute: text => cluster.query(text),
    tableRef: name => ({ catalog: cluster.name, schema: 'public', name }),
    columnTypes: { text: 'varchar(2000)', decimal: 'numeric(38, 2)', binary: 'varbyte', json: 'super' },
    traits: {
      NaN: true,
      infinity: true,
      exact: 'numeric(38, 20)',
      zoned: 'timestamptz',
      microseconds: true,
      padded: 'char(12)',
      'case-insensitive': { unsupported: 'the emulation has no collations of Redshift' },
    },
    literal: value => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : undefined),
  })
  const skipped = await testBuiltIns(sharedTest(t, 'built-in checks on redshift'), {
    database: on,
    extraCases: {
      ...singleCases('real'),
      mean: [
        { name: 'of integers keeps its fraction', kind: 'integer', values: [1, 2], expect: { value: 1.5 } },
        {
          name: 'of decimals keeps more than their scale',
          kind: 'decimal',
          values: ['0.01', '0.02'],
          expect: { value: 0.015 },
        },
      ],
      REGEX: [
        {
          name: 'longer than 256 bytes',
          values: [`${'a'.repeat(300)}b`],
          config: { pattern: 'b$' },
          expect: { invalid: 0 },
        },
      ],
    },
  })
  t.same(reasonsOf(skipped), ['the emulation has no collations of Redshift'])
  t.same(cluster.refused, [], 'nothing was sent that Redshift does not take')
})
