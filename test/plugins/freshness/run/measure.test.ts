import t from 'tap'
import { tablePath } from '../../../../connectors/catalog.ts'
import type { Connection } from '../../../../connectors/connector.ts'
import { defineDialect } from '../../../../connectors/dialect.ts'
import { ConnectorError, OVER_BYTE_LIMIT, type ConnectorErrorKind } from '../../../../connectors/errors.ts'
import type { Sql } from '../../../../connectors/sql.ts'
import { readNewest, newestSelect, type MeasureTarget } from '../../../../plugins/freshness/run/measure.ts'

const dialect = defineDialect({ limits: { columns: 10, values: 100 } })

const target = (id: string, column: string | null = 'ts'): MeasureTarget => ({
  id,
  value: column === null ? null : dialect.quote(column),
  isStored: true,
  table: { catalog: 'shop', schema: 'main', name: id },
})

const OPTIONS = { engine: 'stand', timeoutMs: 1000 }

const failure = (kind: ConnectorErrorKind) => new ConnectorError({ kind, engine: 'stand', message: kind })

/** An engine in which reading some tables fails, so that failures come exactly when a test wants them. */
function stand(failures: Record<string, ConnectorErrorKind>, more: Partial<Connection> = {}) {
  const texts: string[] = []
  const connection: Connection = {
    introspect: async () => [],
    async query(statement: Sql) {
      const { text } = dialect.render(statement)
      texts.push(text)
      const bad = Object.entries(failures).find(([name]) => text.includes(`"${name}"`))
      if (bad) throw failure(bad[1])
      return [
        Object.fromEntries(Array.from(text.matchAll(/as "(m\d+)"/g), ([, name]) => [name, 1_700_000_000])),
      ]
    },
    close: async () => {},
    ...more,
  }
  return { connection, texts }
}

const many = (count: number) => Array.from({ length: count }, (_, index) => target(`t${index}`))

const errorsOf = (readings: Map<string, object>) =>
  [...readings].flatMap(([id, reading]) =>
    'error' in reading ? [`${id} ${(reading.error as ConnectorError).kind}`] : [],
  )

t.test('one SELECT with a scalar sub-query a table, names quoted', async t => {
  const { text } = dialect.render(newestSelect(dialect, [target('a', 'odd "name"'), target('b')]))
  t.equal(
    text,
    'select (select max("odd ""name""") from "main"."a") as "m0", (select max("ts") from "main"."b") as "m1"',
  )
})

t.test('tables are cut by the limit of the dialect', async t => {
  const { connection, texts } = stand({})
  const { readings, statements, failure } = await readNewest(connection, dialect, many(25), OPTIONS)
  t.equal(statements, 3)
  t.equal(texts.length, 3)
  t.equal(readings.size, 25)
  t.equal(failure, null)
})

t.test('only the guilty table errs', async t => {
  for (const kind of ['missing-object', 'permission', 'invalid-query', 'timeout'] as const) {
    const { connection } = stand({ t6: kind })
    const { readings, statements, failure } = await readNewest(connection, dialect, many(10), OPTIONS)
    t.same(errorsOf(readings), [`t6 ${kind}`])
    t.equal(readings.size, 10)
    t.equal(failure, null, 'the connection is not to blame')
    t.ok(statements <= 9, `${kind}: ${statements} statements`)
  }
})

t.test('when the time is up, what is left has timed out', async t => {
  let clock = 0
  const { connection } = stand({ t6: 'timeout' })
  const query = connection.query.bind(connection)
  connection.query = async (...input) => {
    clock += 4000
    return query(...input)
  }
  const { readings, statements } = await readNewest(connection, dialect, many(10), {
    ...OPTIONS,
    now: () => clock,
  })
  t.equal(statements, 3, 'none begins when ten times what one may take have passed')
  t.equal(readings.size, 10)
  t.same(errorsOf(readings).at(0), 't5 timeout')
  t.equal(errorsOf(readings).length, 5)
})

t.test('a connection that breaks takes along what was not read yet', async t => {
  const { connection } = stand({ t14: 'network' })
  const { readings, failure } = await readNewest(connection, dialect, many(25), OPTIONS)
  t.equal(failure?.kind, 'network')
  t.equal(errorsOf(readings).length, 15)
  t.equal(readings.size, 25)
})

t.test('tables without a timestamp column are as old as the engine says, if it does', async t => {
  const at = new Date('2025-03-10T12:00:00Z')
  const targets = [target('a', null), target('b', null)]
  const knowing = stand({}, { lastModified: async ([first]) => new Map([[tablePath(first!), at]]) })
  const { readings, statements } = await readNewest(knowing.connection, dialect, targets, OPTIONS)
  t.match([...readings.values()], [{ value: at }, { value: null }])
  t.equal(statements, 0)
  const ignorant = await readNewest(stand({}).connection, dialect, targets, OPTIONS)
  t.match([...ignorant.readings.values()], [{ value: null }, { value: null }])
  const refusing = stand({}, { lastModified: async () => Promise.reject(failure('permission')) })
  const { readings: refused } = await readNewest(refusing.connection, dialect, targets, OPTIONS)
  t.same(errorsOf(refused), ['a permission', 'b permission'])
})

t.test('what is slow is read alone, after all others', async t => {
  const { connection, texts } = stand({})
  const targets = many(4).map(item => ({ ...item, isSlow: item.id === 't1' }))
  const { readings, statements } = await readNewest(connection, dialect, targets, OPTIONS)
  t.equal(statements, 2)
  t.match(texts, [/"t0".*"t2".*"t3"/, /^[^,]*"t1"[^,]*$/])
  t.equal(readings.size, 4)
})

t.test('a table is slow as long as it takes a tenth of the time that a statement may', async t => {
  let clock = 0
  let takes = 200
  const { connection } = stand({ t1: 'timeout' })
  const query = connection.query.bind(connection)
  connection.query = async (...input) => {
    clock += takes
    return query(...input)
  }
  const read = async (name: string) => {
    const { readings } = await readNewest(connection, dialect, [target(name)], {
      ...OPTIONS,
      now: () => clock,
    })
    return readings.get(name)
  }
  t.match(await read('t0'), { isSlow: true })
  t.match(await read('t1'), { error: { kind: 'timeout' }, isSlow: true })
  takes = 50
  t.notMatch(await read('t0'), { isSlow: true })
})

t.test('when all together were too slow, the next ones are asked in smaller parts', async t => {
  const { connection, texts } = stand({})
  const query = connection.query.bind(connection)
  connection.query = async (statement, options) => {
    const tables = dialect.render(statement).text.split('max(').length - 1
    const rows = await query(statement, options)
    if (tables > 3) throw failure('timeout')
    return rows
  }
  const { readings, failure: none } = await readNewest(connection, dialect, many(20), OPTIONS)
  t.same(errorsOf(readings), [])
  t.equal(none, null)
  t.equal(texts.length, 11, '10 and 5 fail; 3 and 2 of each half; then 3, 3, 3 and 1')
})

t.test(
  'tables that together would read too many bytes are read in smaller parts, and are not slow',
  async t => {
    const { connection } = stand({})
    const query = connection.query.bind(connection)
    const limited: Connection['query'] = async (statement, limits) => {
      const { text } = dialect.render(statement)
      if ((text.match(/max/g) ?? []).length > 1)
        throw new ConnectorError({
          kind: 'invalid-query',
          code: OVER_BYTE_LIMIT,
          engine: 'stand',
          message: 'too many',
        })
      return query(statement, limits)
    }
    const { readings } = await readNewest({ ...connection, query: limited }, dialect, many(3), OPTIONS)
    t.same(errorsOf(readings), [])
    t.notOk([...readings.values()].some(reading => 'isSlow' in reading))
  },
)

t.test('a locked table does not make the parts after it smaller', async t => {
  const { connection } = stand({ t3: 'timeout' })
  const { readings, statements } = await readNewest(connection, dialect, many(30), OPTIONS)
  t.same(errorsOf(readings), ['t3 timeout'])
  t.equal(statements, 9, 'seven to find it, two for the twenty tables after it')
})

t.test('an engine that may not be asked when tables changed has its columns read all the same', async t => {
  const { connection } = stand({}, { lastModified: async () => Promise.reject(failure('permission')) })
  const targets = [{ ...target('a'), unchanged: new Date(0) }, target('b', null)]
  const { readings, statements } = await readNewest(connection, dialect, targets, OPTIONS)
  t.same(errorsOf(readings), ['b permission'])
  t.match(readings.get('a'), { value: 1_700_000_000 })
  t.equal(statements, 1)
})

t.test('when it fails for an unknown reason, columns are read as long as the connection answers', async t => {
  const { connection } = stand({}, { lastModified: async () => Promise.reject(failure('other')) })
  const { readings, failure: none } = await readNewest(
    connection,
    dialect,
    [target('a'), target('b', null)],
    OPTIONS,
  )
  t.same(errorsOf(readings), ['b other'])
  t.equal(none, null)
})

t.test('an engine is not asked when views changed: it knows that of their definition', async t => {
  const asked: string[] = []
  const { connection } = stand(
    {},
    {
      async lastModified(tables) {
        asked.push(...tables.map(({ name }) => name))
        return new Map(tables.map(table => [tablePath(table), new Date(0)]))
      },
    },
  )
  const targets = [target('a', null), { ...target('b', null), isStored: false }]
  const { readings } = await readNewest(connection, dialect, targets, OPTIONS)
  t.same(asked, ['a'])
  t.match(readings.get('b'), { value: null })
})
