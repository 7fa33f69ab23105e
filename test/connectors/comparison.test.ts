import t from 'tap'
import type { ColumnInfo, ColumnKind } from '../../connectors/catalog.ts'
import { bigqueryDialect } from '../../connectors/bigquery/dialect.ts'
import { databricksDialect } from '../../connectors/databricks/dialect.ts'
import type { Dialect, ValueFamily } from '../../connectors/dialect.ts'
import { redshiftDialect } from '../../connectors/redshift/dialect.ts'
import { snowflakeDialect } from '../../connectors/snowflake/dialect.ts'
import { raw, type Sql } from '../../connectors/sql.ts'

function column(kind: ColumnKind, type: string): ColumnInfo {
  return { name: 'v', ordinal: 1, type, rawType: type, kind, nullable: true, default: null, comment: null }
}

const V = raw('v')
const written = (statement: Sql) => statement.render(() => '?').text

interface Expected {
  dialect: Dialect
  checksum: string
  slot: string
  steps: string
  isSame: string
  texts: readonly (readonly [ValueFamily, ColumnKind, string, string])[]
  /** A moment cut to the second. */
  cut: readonly [string, string]
}

const EXPECTED: Record<string, Expected> = {
  Snowflake: {
    dialect: snowflakeDialect,
    checksum: `sum(to_number(substr(md5(v), 1, 15), 'XXXXXXXXXXXXXXX')::number(38, 0))`,
    slot: `to_number(substr(md5(v), 1, 3), 'XXX')`,
    steps: 'floor((v - (-5)) / 10)',
    isSame: 'v is not distinct from w',
    texts: [
      [
        'number',
        'decimal',
        'number(10,2)',
        `iff(contains(to_varchar(v), '.'), rtrim(rtrim(to_varchar(v), '0'), '.'), to_varchar(v))`,
      ],
      ['number', 'integer', 'number(38,0)', 'lower(to_varchar(v))'],
      ['boolean', 'boolean', 'boolean', 'to_varchar(iff(v, 1, iff(not v, 0, null)))'],
      ['binary', 'binary', 'binary', 'lower(hex_encode(v))'],
      ['date', 'date', 'date', `to_varchar(v, 'YYYY-MM-DD')`],
    ],
    cut: [
      'timestamp_tz(9)',
      `iff(contains(M, '.'), rtrim(rtrim(M, '0'), '.'), M)`.replaceAll(
        'M',
        `to_varchar(date_trunc('second', convert_timezone('UTC', v)::timestamp_ntz), 'YYYY-MM-DD HH24:MI:SS.FF9')`,
      ),
    ],
  },
  BigQuery: {
    dialect: bigqueryDialect,
    checksum: `sum(cast(cast(concat('0x', substr(to_hex(md5(v)), 1, 15)) as int64) as bignumeric))`,
    slot: `cast(concat('0x', substr(to_hex(md5(v)), 1, 3)) as int64)`,
    steps: 'div(v - (-5), 10)',
    isSame: 'v is not distinct from w',
    texts: [
      ['number', 'decimal', 'numeric', 'lower(cast(v as string))'],
      ['boolean', 'boolean', 'bool', 'cast(cast(v as int64) as string)'],
      ['binary', 'binary', 'bytes', 'to_hex(v)'],
      ['text', 'text', 'string', 'v'],
    ],
    cut: [
      'timestamp',
      `rtrim(rtrim(format_datetime('%E4Y-%m-%d %H:%M:%E6S', cast(timestamp_trunc(v, second) as datetime)), '0'), '.')`,
    ],
  },
  Databricks: {
    dialect: databricksDialect,
    checksum: 'sum(cast(conv(substr(md5(v), 1, 15), 16, 10) as decimal(28, 0)))',
    slot: 'cast(conv(substr(md5(v), 1, 3), 16, 10) as int)',
    steps: '((v - (-5)) div 10)',
    isSame: 'v <=> w',
    texts: [
      [
        'number',
        'decimal',
        'decimal(10,2)',
        `if(contains(S, '.'), rtrim('.', rtrim('0', S)), S)`.replaceAll('S', 'cast(v as string)'),
      ],
      ['number', 'float', 'float', 'lower(cast(cast(v as double) as string))'],
      ['boolean', 'boolean', 'boolean', 'cast(cast(v as int) as string)'],
      ['binary', 'binary', 'binary', 'lower(hex(v))'],
    ],
    cut: [
      'timestamp_ntz',
      `if(contains(M, '.'), rtrim('.', rtrim('0', M)), M)`.replaceAll(
        'M',
        `date_format(date_trunc('second', v), 'yyyy-MM-dd HH:mm:ss.SSSSSS')`,
      ),
    ],
  },
  Redshift: {
    dialect: redshiftDialect,
    checksum: 'sum(cast(strtol(substring(md5(v), 1, 15), 16) as numeric(38, 0)))',
    slot: 'strtol(substring(md5(v), 1, 3), 16)',
    steps: '((cast(v as bigint) - cast((-5) as bigint)) / cast(10 as bigint))',
    isSame: '(v = w or (v is null and w is null))',
    texts: [
      [
        'number',
        'decimal',
        'numeric(10,2)',
        `case when position('.' in S) > 0 then rtrim(rtrim(S, '0'), '.') else S end`.replaceAll(
          'S',
          'cast(v as varchar(65535))',
        ),
      ],
      ['number', 'float', 'real', 'cast(cast(v as double precision) as varchar(65535))'],
      ['boolean', 'boolean', 'boolean', `case when v then '1' when not v then '0' end`],
      ['binary', 'binary', 'varbyte(10)', 'lower(to_hex(v))'],
    ],
    cut: [
      'timestamptz',
      `case when position('.' in M) > 0 then rtrim(rtrim(M, '0'), '.') else M end`.replaceAll(
        'M',
        `to_char((date_trunc('second', v) at time zone 'UTC'), 'YYYY-MM-DD HH24:MI:SS.US')`,
      ),
    ],
  },
}

for (const [name, { dialect, texts, cut, ...expected }] of Object.entries(EXPECTED))
  void t.test(`${name} writes what tables are compared by as its documentation has it`, async t => {
    const forms = dialect.comparison!
    t.equal(written(forms.checksum(V)), expected.checksum)
    t.equal(written(forms.slot(V, 3)), expected.slot)
    t.equal(written(forms.steps(V, -5n, 10n)), expected.steps)
    t.equal(written(forms.isSame(V, raw('w'))), expected.isSame)
    for (const [family, kind, type, text] of texts)
      t.equal(written(forms.text(V, family, column(kind, type))), text, `${type} as ${family}`)
    const [type, text] = cut
    t.equal(written(forms.cutMoment(V, 'second', column('timestamp', type))), text)
    t.equal(forms.enforcesKeys, false, 'keys that are declared are not believed')
    t.ok(dialect.hasFullJoin)
    for (const family of ['number', 'boolean', 'text', 'date', 'time', 'uuid', 'json'] as const)
      t.ok(written(forms.text(V, family, column('other', ''))).includes('v'))
  })
