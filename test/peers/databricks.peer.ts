/**
 * Holds the Databricks connector to Spark SQL itself, the engine that Databricks SQL comes from: the dialect, the
 * types, the numbers of all checks. It is no part of the tests, because it fetches Spark (430 MB) and takes minutes:
 *
 *     npx tap --timeout=1800 test/peers/databricks.peer.ts
 */
import t from 'tap'
import { describeTable, testBuiltIns } from '../../checks/conformance.ts'
import { conformanceTable, testConnector } from '../../connectors/conformance.ts'
import type { Connection } from '../../connectors/connector.ts'
import { databricksDialect } from '../../connectors/databricks/dialect.ts'
import { columnKind } from '../../connectors/databricks/types.ts'
import { sql } from '../../connectors/sql.ts'
import { withEscapedQuotes, textLiteral } from '../helpers/databricks/literals.ts'
import { databricksStand, onDatabricks } from '../helpers/databricks/stand.ts'
import { startSpark } from './databricks/spark.ts'

t.test('on Spark', async t => {
  const { connector, config, options, execute, running } = await startSpark(t)

  await t.test('it conforms', async t => {
    const found = await testConnector(t, {
      connector,
      config,
      egress: options.egress,
      setup: () => ({
        execute: text => execute(withEscapedQuotes(text)),
        catalog: 'spark_catalog',
        schema: 'default',
        refused: [
          { name: 'a wrong token', config: { ...config, access_token: 'not-this-one' }, kind: 'credentials' },
          {
            name: 'another warehouse',
            config: { ...config, http_path: '/sql/1.0/warehouses/ffffffffffffffff' },
            kind: 'missing-object',
          },
        ],
        slow: sql`select count(*) as n from range(0, 1000000) a cross join range(0, 1000000) b where hash(a.id, b.id) = 1`,
        countRunning: running,
        types: {
          integer: 'int',
          varchar: 'string',
          double: 'double',
          binary: 'binary',
          time: null,
          timestamp: 'timestamp_ntz',
          timestamptz: 'timestamp',
          json: 'variant',
        },
        literals: {
          binary: `unhex('00ff10')`,
          date: `date'2024-02-29'`,
          timestamp: `timestamp_ntz'2024-02-29 12:34:56'`,
          timestamptz: `timestamp'2024-02-29 13:34:56+01:00'`,
          json: `parse_json('{"a": [1, "x", null], "b": {}}')`,
        },
        // The session catalog of Spark takes letters, digits and _ for names of tables, in lower case.
        refusesNames: [
          'quotes',
          'backtick',
          'backslash',
          'bracket',
          'dots',
          'spaces',
          'emoji',
          'unicode',
          'right to left',
          'injection',
          'placeholder',
          'percent',
          'leading digits',
          'upper case',
          'case twin',
        ],
        comment: (table, column, comment) => [
          `comment on table ${table} is '${comment.replaceAll("'", "''")}'`,
          `alter table ${table} alter column ${column} comment '${comment.replaceAll("'", "''")}'`,
        ],
      }),
    })
    t.comment(conformanceTable({ 'databricks on Spark': found }))
  })

  await t.test('all checks give their numbers', async t => {
    const connection = await connector.connect(
      connector.config.validate(config).value as Parameters<typeof connector.connect>[0],
      options,
    )
    t.teardown(() => connection.close())
    // The whole information schema, made anew for each of several hundred tables, would take most of the time.
    const cheap = { query: connection.query, introspect: described(connection) }
    const on = databricksStand({ connector, connection: cheap, execute, catalog: 'spark_catalog' })
    await testBuiltIns(t, { database: on, extraCases: onDatabricks })
  })

  await t.test('texts are written as Spark reads them', async t => {
    const text = `it's a "\\n" \\ '' text`
    const [row] = (await execute(`select ${textLiteral(text)} as v`)) as { v: string }[]
    t.equal(row?.v, text)
  })
})

/** What DESCRIBE returns for the tables of a scope. */
function described(connection: Connection): Connection['introspect'] {
  return async scope => {
    const found = (scope?.tables ?? []).map(async ref => {
      const table = databricksDialect.table(ref)
      const rows = await connection.query(sql`describe table ${table}`, { timeoutMs: 60_000 })
      const columns = rows.map(({ col_name: name, data_type: type }) => ({
        name: String(name),
        kind: columnKind(String(type)),
        type: String(type),
      }))
      // The key comes by itself.
      return describeTable(ref, columns.slice(1))
    })
    return Promise.all(found)
  }
}
