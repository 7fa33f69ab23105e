import t, { type Test } from 'tap'
import type { Check, CheckOutcome } from '../../checks/check.ts'
import type { ColumnKind } from '../../connectors/catalog.ts'
import { isComparable } from '../../connectors/postgresql/types.ts'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

/** Checks of each way in which values are used: compared, counted, grouped, read as text. */
const compared = (column: string): Check[] => [
  check('UNIQUE', column),
  check('distinct_count', column),
  check('duplicate_count', column),
  check('row_count', undefined, {}, { groupBy: [column] }),
]
const printed = (column: string): Check[] => [
  check('REGEX', column, { pattern: 'x' }),
  check('ENUM', column, { allowed_values: ['x'] }),
]

/** What becomes of a check before any statement is sent, and after. */
const verdict = ({ status, ...outcome }: CheckOutcome) =>
  status === 'error' ? (outcome as { kind: string }).kind : status

/** Whether checks are refused by the catalog, and whether the rest runs, of a column of each type. */
async function verdicts(
  on: EngineTestDatabase,
  name: string,
  types: readonly string[],
  checks: typeof compared,
) {
  await on.execute(
    `create table ${name} (id integer primary key, ${types.map((type, n) => `c${n} ${type}`).join(', ')})`,
  )
  await on.execute(`insert into ${name} (id) values (1)`)
  const [table] = await on.connection.introspect({ tables: [on.ref(name)] })
  if (!table) throw new Error(name)
  const found: Record<string, string> = {}
  for (const [n, type] of types.entries()) {
    const { outcomes, seen } = await run(
      on,
      table,
      checks(`c${n}`).filter(one => suits(one, table.columns[n + 1]?.kind)),
    )
    found[type] =
      `${[...new Set(outcomes.map(verdict))].join(', ')}${seen.length > 0 ? ' by the engine' : ''}`
  }
  return found
}

const suits = ({ type }: Check, kind: ColumnKind = 'other') => type.kinds?.includes(kind) ?? true

const all = (types: readonly string[], word: string) => Object.fromEntries(types.map(type => [type, word]))

async function compare(t: Test, on: EngineTestDatabase, comparable: string[], incomparable: string[]) {
  t.same(
    await verdicts(on, 'comparable', comparable, compared),
    all(comparable, 'counted, measured, grouped by the engine'),
    'what compares runs',
  )
  t.same(
    await verdicts(on, 'incomparable', incomparable, compared),
    all(incomparable, 'invalid-check'),
    'the rest is refused',
  )
}

t.test('PostgreSQL: checks that compare values are refused where a type has no equality', async t => {
  const on = await postgresqlStand(t)
  for (const statement of [
    `create type st as enum ('open')`,
    'create type money_amount as (currency text, amount numeric)',
    'create type noted as (currency text, note json)',
    'create domain noted_twice as noted[]',
    'create type within as (a noted_twice)',
    'create domain document as xml',
    'create domain short_text as varchar(10)',
  ])
    await on.execute(statement)
  await compare(
    t,
    on,
    [
      'jsonb',
      'jsonb[]',
      'integer[]',
      'uuid',
      'inet',
      'tsvector',
      'int4range',
      'interval',
      'st',
      'st[]',
      'money_amount',
      'money_amount[]',
      'short_text',
      'bytea',
      'oid',
    ],
    [
      'json',
      'json[]',
      'xml',
      'document',
      'point',
      'point[]',
      'line',
      'lseg',
      'box',
      'path',
      'polygon',
      'circle',
      'jsonpath',
      'noted',
      'noted[]',
      'noted_twice',
      'within',
    ],
  )
  const [missing] = (await on.execute(
    `select string_agg(typname, ' ' order by typname) as types from pg_type t
     where oid < 16384 and typtype = 'b' and typcategory <> 'A' and typname !~ '^reg'
       and not exists (select from pg_opclass o where o.opcdefault and o.opcmethod in (403, 405)
         and (o.opcintype = t.oid or exists (select from pg_cast c
           where c.castsource = t.oid and c.casttarget = o.opcintype and c.castmethod = 'b' and c.castcontext = 'i')))`,
  )) as { types: string }[]
  t.same(
    missing?.types.split(' ').filter(type => isComparable(type)),
    [],
    'no other type of the server lacks one',
  )
})

t.test('MariaDB: checks that read texts are refused of geometries', { skip: mariadbAbsent }, async t => {
  const on = await mariadbStand(t)
  const geometries = [
    'geometry',
    'point',
    'linestring',
    'polygon',
    'multipoint',
    'multilinestring',
    'multipolygon',
    'geometrycollection',
  ]
  t.same(await verdicts(on, 'geometries', geometries, printed), all(geometries, 'invalid-check'))
  const texts = ['uuid', 'inet6', 'json', 'varchar(9)', `enum('x')`]
  t.same(await verdicts(on, 'texts', texts, printed), all(texts, 'counted by the engine'))
  const compares = [...geometries, ...texts, 'blob', 'bit(8)', 'year']
  t.same(
    await verdicts(on, 'compares', compares, compared),
    all(compares, 'counted, measured, grouped by the engine'),
  )
})

t.test('SQLite: whatever it stores compares', async t => {
  const types = ['json', 'blob', 'text', 'integer', 'any']
  t.same(
    await verdicts(await sqliteStand(t), 'comparable', types, compared),
    all(types, 'counted, measured, grouped by the engine'),
  )
})
