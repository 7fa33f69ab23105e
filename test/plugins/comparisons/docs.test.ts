import t from 'tap'
import { pairColumns } from '../../../checks/comparison/pairs.ts'
import type { ColumnInfo, ColumnKind } from '../../../connectors/catalog.ts'
import { pageText } from '../public/docs-blocks.ts'

const ONE_ENGINE = { isOneEngine: true, areSingle: [false, false], hasExactDecimals: true } as const

/** A column of each family, by the family's name in the documentation. */
const COLUMNS: Record<string, { kind: ColumnKind; type: string }> = {
  number: { kind: 'decimal', type: 'numeric(10,2)' },
  boolean: { kind: 'boolean', type: 'boolean' },
  text: { kind: 'text', type: 'text' },
  uuid: { kind: 'other', type: 'uuid' },
  date: { kind: 'date', type: 'date' },
  timestamp: { kind: 'timestamp', type: 'timestamptz' },
  time: { kind: 'time', type: 'time' },
  binary: { kind: 'binary', type: 'bytea' },
  json: { kind: 'json', type: 'jsonb' },
}

const columnOf = (family: string, name: string) => ({ name, ...COLUMNS[family] }) as ColumnInfo

/** The families that the table of the page says each is compared with. */
const documented = new Map(
  [...pageText('checks').matchAll(/^\| `(\w+)` +\|[^|]*\|[^|]*\| ((?:`\w+`(?:, )?)+) *\|$/gm)].map(
    ([, family = '', others = '']) => [family, others.match(/\w+/g)!.toSorted()],
  ),
)

t.test('the page says which values are compared with which', t => {
  const compared = Object.keys(COLUMNS).map(family => [
    family,
    Object.keys(COLUMNS)
      .filter(
        other => typeof pairColumns(columnOf(family, 'a'), columnOf(other, 'a'), {}, ONE_ENGINE) !== 'string',
      )
      .toSorted(),
  ])
  t.strictSame(Object.fromEntries(documented), Object.fromEntries(compared))
  t.type(
    pairColumns(columnOf('json', 'a'), columnOf('json', 'a'), {}, { ...ONE_ENGINE, isOneEngine: false }),
    'string',
  )
  t.end()
})
