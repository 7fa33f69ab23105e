import t from 'tap'
import { bigqueryDialect } from '../../connectors/bigquery/dialect.ts'
import { canonicalType as bigqueryType } from '../../connectors/bigquery/types.ts'
import { databricksDialect } from '../../connectors/databricks/dialect.ts'
import { canonicalType as databricksType } from '../../connectors/databricks/types.ts'
import { defineDialect, type Dialect } from '../../connectors/dialect.ts'
import { mysqlDialect } from '../../connectors/mysql/dialect.ts'
import { canonicalType as mysqlType } from '../../connectors/mysql/types.ts'
import { postgresqlDialect } from '../../connectors/postgresql/dialect.ts'
import { canonicalType as postgresqlType } from '../../connectors/postgresql/types.ts'
import { redshiftDialect } from '../../connectors/redshift/dialect.ts'
import { canonicalType } from '../../connectors/redshift/types.ts'
import { snowflakeDialect } from '../../connectors/snowflake/dialect.ts'

/** Types of each engine as its catalog may spell them: those of moments, and others. */
const ENGINES: Readonly<
  Record<string, [dialect: Dialect, canonical: (type: string) => string, moments: string[], others: string[]]>
> = {
  PostgreSQL: [
    postgresqlDialect,
    postgresqlType,
    ['timestamp with time zone', 'timestamp(3) with time zone', 'timestamptz'],
    ['timestamp without time zone', 'timestamp(3) without time zone', 'time with time zone', 'date', 'text'],
  ],
  Redshift: [
    redshiftDialect,
    canonicalType,
    ['timestamp with time zone', 'timestamptz'],
    ['timestamp without time zone', 'timestamp', 'time with time zone', 'date'],
  ],
  MySQL: [
    mysqlDialect,
    mysqlType,
    ['timestamp', 'timestamp(6)', 'TIMESTAMP'],
    ['datetime', 'datetime(6)', 'date', 'time', 'year(4)', `enum('timestamp')`, 'bigint(20)'],
  ],
  Snowflake: [
    snowflakeDialect,
    type => type.toLowerCase(),
    ['TIMESTAMP_TZ(9)', 'TIMESTAMP_LTZ(3)', 'TIMESTAMP_LTZ'],
    ['TIMESTAMP_NTZ(9)', 'TIMESTAMP_NTZ', 'DATE', 'TIME(9)', 'VARCHAR(20)'],
  ],
  BigQuery: [
    bigqueryDialect,
    bigqueryType,
    ['TIMESTAMP', 'TIMESTAMP(12)'],
    ['DATETIME', 'DATE', 'TIME', 'ARRAY<TIMESTAMP>', 'RANGE<TIMESTAMP>', 'STRING'],
  ],
  Databricks: [
    databricksDialect,
    databricksType,
    ['TIMESTAMP', 'TIMESTAMP_LTZ'],
    ['TIMESTAMP_NTZ', 'DATE', 'array<timestamp>', 'STRING'],
  ],
  'an engine that says nothing': [
    defineDialect({}),
    type => type,
    ['timestamp with time zone', 'timestamp(6) with local time zone', 'timestamptz(3)'],
    ['timestamp', 'timestamp without time zone', 'time with time zone', 'datetime'],
  ],
}

t.test('the type decides which timestamps are instants', async t => {
  for (const [engine, [dialect, canonical, moments, others]] of Object.entries(ENGINES)) {
    for (const type of [...moments, ...others])
      t.equal(dialect.isInstant({ type: canonical(type) }), moments.includes(type), `${engine}: ${type}`)
  }
})
