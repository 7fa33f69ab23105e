import assert from 'node:assert/strict'
import { join, bindList, raw, sql, type Sql } from '../sql.ts'
import type { ColumnInfo, ColumnKind } from '../catalog.ts'
import type { Row, Value } from '../connector.ts'
import { fixtureTypes, optionalTypes, SAMPLE_LITERALS, TEXTS, type OptionalType } from './fixture.ts'
import { assertRejects, query, queryValue, singleValue } from './kit.ts'
import type { ConformanceKit, PromiseGroup } from './kit.ts'

/** Texts that break SQL put together from strings. */
export const HOSTILE_TEXTS = [
  `'; drop table conformance_values; --`,
  `"double" and 'single'`,
  `back\\slash \\' \\0`,
  '$1 ? :1 @p1 %s {}',
  'line\nbreak\ttab\r\nand return',
  '  padded  ',
  '名前 🦆 \u202Ertl e\u0301 \uFFFD',
  '',
  'é'.repeat(1000),
]

/** The kind of a column of each type, and its value in row 1. */
const EXPECTED_ARRIVALS: Readonly<
  Record<OptionalType, { kind: ColumnKind; as: string; is(value: Value): void }>
> = {
  decimal: {
    kind: 'decimal',
    as: 'string, with every digit',
    // Some engines print no zeros at the end.
    is: value => assert.match(String(value), /^123456789012345678\.90?$/),
  },
  boolean: { kind: 'boolean', as: 'boolean', is: value => assert.equal(value, true) },
  binary: {
    kind: 'binary',
    as: 'Uint8Array',
    is(value) {
      assert.ok(value instanceof Uint8Array, 'a Uint8Array')
      assert.deepEqual([...value], [0, 255, 16])
    },
  },
  date: { kind: 'date', as: 'YYYY-MM-DD', is: value => assert.equal(value, '2024-02-29') },
  time: { kind: 'time', as: 'HH:MM:SS', is: value => assert.match(String(value), /^12:34:56(\.0+)?$/) },
  timestamp: { kind: 'timestamp', as: 'Date, naive ones read as UTC', is: isTheMoment },
  timestamptz: { kind: 'timestamp', as: 'Date, in the zone they were written in', is: isTheMoment },
  json: {
    kind: 'json',
    as: 'what it holds',
    is: value => assert.deepEqual(value, { a: [1, 'x', null], b: {} }),
  },
}

function isTheMoment(value: Value): void {
  assert.deepEqual(value, new Date('2024-02-29T12:34:56Z'))
}

/** How values go in and come out. */
export const valuesGroups: readonly PromiseGroup[] = [
  {
    name: 'values',
    async run(kit) {
      const values = kit.table('conformance_values')
      const [id, label, big, ratio] = ['id', 'label', 'big', 'ratio'].map(kit.quote) as [Sql, Sql, Sql, Sql]
      await kit.holdsInSession('texts are bound, whatever they hold', async connection => {
        const columns = HOSTILE_TEXTS.map((text, index) => sql`${text} as ${raw(`v${index}`)}`)
        const [row] = await query(connection, sql`select ${join(columns)}`)
        assert.deepEqual(Object.values(row ?? {}), HOSTILE_TEXTS)
        const found = await query(
          connection,
          sql`select ${id} from ${values} where ${label} in (${bindList(HOSTILE_TEXTS)})`,
        )
        assert.deepEqual(found, [])
        assert.equal(Number(await queryValue(connection, sql`select count(*) as n from ${values}`)), 5)
      })
      await kit.holdsInSession('the empty text is not NULL, neither way', async connection => {
        const texts = kit.table('conformance_texts')
        const empty = TEXTS.indexOf('') + 1
        const found = await query(connection, sql`select ${id} from ${texts} where ${label} = ${''}`)
        assert.deepEqual(found, [{ id: empty }])
        const labels = sql`select ${label} from ${texts} where ${id} = ${empty} or ${label} is null`
        assert.deepEqual(await query(connection, labels), [{ label: '' }])
        assert.equal((await readColumn(kit, 'label'))[2], null)
      })
      await kit.holdsInSession('a NUL in a text is refused or kept; nothing is cut off', async connection => {
        const text = 'before\0after'
        const asked = query(connection, sql`select ${text} as v`)
        const answer = await asked.then(singleValue, () => undefined)
        if (answer === undefined) await assertRejects('invalid-query', asked)
        assert.ok(answer === text || answer === undefined, `kept or refused, not ${JSON.stringify(answer)}`)
        assert.equal(Number(await queryValue(connection, sql`select 1 as one`)), 1)
      })
      const length = kit.fixture.textLength ?? 1_000_000
      await kit.holds(
        `a text of ${length.toLocaleString('en')} characters is bound and comes back`,
        async () => {
          const text = 'ä long text, '.repeat(Math.ceil(length / 13)).slice(0, length)
          const found = await kit.value(sql`select ${text} as v`)
          assert.ok(found === text, `as it was, not ${String(found).length} characters`)
        },
      )
      await kit.holdsInSession(
        'numbers and nulls are bound where a column gives the type',
        async connection => {
          const select = sql`select ${id} from ${values} where`
          const ids = async (condition: Sql) =>
            (await query(connection, sql`${select} ${condition} order by ${id}`)).map(row => row.id)
          assert.deepEqual(await ids(sql`${id} in (${2}, ${4})`), [2, 4])
          assert.deepEqual(await ids(sql`${id} > ${3.5}`), [4, 5])
          assert.deepEqual(await ids(sql`${id} < ${3_000_000_000} and ${ratio} > ${0}`), [1, 3, 5])
          assert.deepEqual(await ids(sql`${ratio} = ${-1.25}`), [2])
          assert.deepEqual(await ids(sql`${label} = ${null}`), [])
          assert.deepEqual(await ids(sql`${big} = ${9007199254740993n}`), [2])
          assert.deepEqual(await ids(sql`${big} = ${-9223372036854775807n}`), [3])
        },
      )
      await kit.holds('integers within 2^53 arrive as number, larger ones as string', async () => {
        const big = [9007199254740991, '9007199254740993', '-9223372036854775807', 0, null]
        assert.deepEqual(await readColumn(kit, 'big'), big)
      })
      await kit.holds('floats arrive as number', async () => {
        assert.deepEqual(await readColumn(kit, 'ratio'), [0.5, -1.25, 1e10, null, 2])
      })
    },
  },
  {
    name: 'types',
    async run(kit) {
      const { integer, varchar, decimal } = fixtureTypes(kit.fixture)
      const has = optionalTypes(kit.fixture)
      const lacks = (name: OptionalType) =>
        has.includes(name) ? undefined : `${kit.connector.label} has no such type`
      const table = kit.table('conformance_types')
      const [{ columns } = { columns: [] }] = await kit.introspect('conformance_types')
      const rows = await kit.query(sql`select * from ${table} order by ${kit.quote('id')}`)
      for (const name of Object.keys(SAMPLE_LITERALS) as OptionalType[]) {
        const { kind, as, is } = EXPECTED_ARRIVALS[name]
        const check = async () => assertArrives(`${name}_value`, kind, is, columns, rows)
        await kit.holdsUnless(lacks(name), `${name}: of kind ${kind}, arrives as ${as}`, check)
      }
      await kit.holds('types are canonical: lower case, single spaces, length and scale kept', async () => {
        const known = await kit.introspect('conformance_values')
        const all = [...(known[0]?.columns ?? []), ...columns]
        for (const column of all) {
          assert.match(column.type, /^\S+( \S+)*$/, `${column.name} has a type`)
          assert.equal(column.type, column.type.toLowerCase())
          assert.notEqual(column.rawType, '')
        }
        const sized = { label: varchar, decimal_value: decimal ?? integer }
        for (const [name, declared] of Object.entries(sized)) {
          const size = /\([\d, ]+\)/.exec(declared)?.[0].replaceAll(' ', '')
          const type = all.find(column => column.name === name)?.type
          if (size)
            assert.ok(type?.replaceAll(' ', '').includes(size), `${name} of ${size} is listed as ${type}`)
        }
      })
      await kit.holdsUnless(lacks('timestamp'), 'a Date is bound as that moment', async () => {
        const column = kit.quote('timestamp_value')
        const moment = new Date('2024-02-29T12:34:56Z')
        assert.deepEqual(await found(sql`${column} >= ${moment} and ${column} <= ${moment}`), [1])
      })
      await kit.holdsUnless(
        lacks('decimal'),
        'a decimal is bound as its text, with every digit',
        async () => {
          const column = kit.quote('decimal_value')
          const cast = (text: string) => sql`${column} = cast(${text} as ${raw(decimal ?? '')})`
          assert.deepEqual(await found(cast('123456789012345678.90')), [1])
          assert.deepEqual(await found(cast('123456789012345678.91')), [])
        },
      )

      async function found(condition: Sql): Promise<(Value | undefined)[]> {
        const rows = await kit.query(sql`select ${kit.quote('id')} from ${table} where ${condition}`)
        return rows.map(row => Object.values(row)[0])
      }
    },
  },
]

function assertArrives(
  name: string,
  kind: ColumnKind,
  is: (value: Value) => void,
  columns: ColumnInfo[],
  rows: Row[],
): void {
  const column = columns.find(each => each.name === name)
  assert.equal(column?.kind, kind, `the kind of ${column?.rawType}`)
  const [value, absent] = rows.map(row => row[name])
  assert.ok(value !== undefined && value !== null, 'there is a value')
  is(value)
  assert.equal(absent, null, 'NULL is null')
}

/** A column of `conformance_values`, by id. */
async function readColumn(kit: ConformanceKit, name: string): Promise<Value[]> {
  const values = kit.table('conformance_values')
  const rows = await kit.query(sql`select ${kit.quote(name)} from ${values} order by ${kit.quote('id')}`)
  return rows.map(row => row[name] as Value)
}
