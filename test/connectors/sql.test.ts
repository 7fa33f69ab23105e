import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { join, raw, sql, userSql, withoutUserSql } from '../../connectors/sql.ts'

const dollar = (position: number) => `$${position}`

t.test('values are bound and never become text', async t => {
  const hostile = `'; drop table t; --`
  t.same(sql`select * from t where a = ${hostile} and b > ${2}`.render(dollar), {
    text: 'select * from t where a = $1 and b > $2',
    values: [hostile, 2],
  })
})

t.test('SQL inside SQL is spliced with its values, and placeholders are numbered through', async t => {
  const condition = sql`a between ${1} and ${2}`
  const column = raw('"a"')
  t.same(sql`select ${column}, ${0} from t where (${condition}) or b = ${3}`.render(dollar), {
    text: 'select "a", $1 from t where (a between $2 and $3) or b = $4',
    values: [0, 1, 2, 3],
  })
  t.same(
    sql`${condition}`.render(() => '?'),
    { text: 'a between ? and ?', values: [1, 2] },
  )
})

t.test('join puts a separator between pieces, and nothing makes nothing', async t => {
  const parts = [1, 2, 3].map(value => sql`${value}`)
  t.same(join(parts).render(dollar), { text: '$1, $2, $3', values: [1, 2, 3] })
  t.same(join(parts, ' or ').render(dollar), { text: '$1 or $2 or $3', values: [1, 2, 3] })
  t.same(join([]).render(dollar), { text: '', values: [] })
})

t.test('rendering gives a copy of the values', async t => {
  const statement = sql`select ${1}`
  statement.render(dollar).values.push(2)
  t.same(statement.values, [1])
})

t.test('keys are equal for equal statements and differ when a value or its type does', async t => {
  const key = (value: unknown) => sql`select ${value}`.key
  t.equal(key('1'), key('1'))
  t.equal(key(10n), key(10n))
  t.not(key('1'), key(1))
  t.not(key(1), sql`select 1${raw('')}`.key)
  t.equal(sql`a ${sql`b ${1}`}`.key, sql`a b ${1}`.key)
})

t.test('however pieces are nested, there are as many placeholders as values, in the same order', async t => {
  const piece = fc.letrec<{ sql: ReturnType<typeof sql> }>(tie => ({
    sql: fc.oneof(
      { maxDepth: 4 },
      fc.integer().map(value => sql`v(${value})`),
      fc.array(tie('sql'), { maxLength: 3 }).map(parts => join(parts, ' + ')),
      fc.tuple(tie('sql'), fc.integer()).map(([inner, value]) => sql`f(${inner}, ${value})`),
    ),
  })).sql
  fc.assert(
    fc.property(piece, statement => {
      const { text, values } = statement.render(position => `<${valueAt(position)}>`)
      function valueAt(position: number) {
        return String(statement.values[position - 1])
      }
      const shown = [...text.matchAll(/<(-?\d+)>/g)].map(match => Number(match[1]))
      assert.deepEqual(shown, values)
    }),
    { numRuns: 50 },
  )
})

t.test('a statement with SQL of a user has a form without it, however deep it stands', async t => {
  const written = userSql(sql`(secret(${1}))`, raw('1 = 1'))
  const condition = sql`${raw('a')} > ${2} and ${written}`
  const statement = sql`select ${join([sql`count(*)`, sql`sum(case when ${condition} then 1 end)`])} from t`
  t.match(
    statement.render(() => '?'),
    {
      text: 'select count(*), sum(case when a > ? and (secret(?)) then 1 end) from t',
      values: [2, 1],
    },
  )
  t.match(
    withoutUserSql(statement).render(() => '?'),
    {
      text: 'select count(*), sum(case when a > ? and 1 = 1 then 1 end) from t',
      values: [2],
    },
  )
  const own = sql`select ${1}`
  t.equal(withoutUserSql(own), own)
})
