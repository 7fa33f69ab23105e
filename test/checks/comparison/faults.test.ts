import t from 'tap'
import { compareRows } from '../../../checks/comparison/compare.ts'
import type { RowDifferences } from '../../../checks/comparison/result.ts'
import type { Connection, Connector } from '../../../connectors/connector.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { mysql } from '../../../connectors/mysql/index.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { mariadbAbsent, mysqlSettings, startShop } from '../../helpers/mariadb.ts'
import { startMysqlProxy } from '../../helpers/mysql-proxy.ts'
import { startProxy } from '../../helpers/proxy.ts'
import { connectOptions, settings, startSource } from '../../helpers/source.ts'
import { describe, pairOf, sideOn, type Place, type TableOn } from './tables.ts'

type Teardown = Parameters<typeof startSource>[0]

/** A database behind a proxy, with a new session for each comparison. */
interface Faulty {
  place: Omit<Place, 'connection'>
  cut(): void
  silence(): void
  connect(): Promise<Connection>
}

async function faultyPostgresql(t: Teardown): Promise<Faulty> {
  const source = await startSource(t)
  const proxy = await startProxy(t, source.config)
  const config = settings({ ...source.config, host: '127.0.0.1', port: proxy.port, sslmode: 'disable' })
  return {
    place: {
      engine: postgresql as unknown as Connector,
      execute: text => source.query(text),
      ref: name => ({ catalog: source.name, schema: 'public', name }),
    },
    cut: proxy.cut,
    silence: proxy.silence,
    connect: () => postgresql.connect(config, connectOptions),
  }
}

async function faultyMariadb(t: Teardown): Promise<Faulty> {
  const shop = await startShop(t)
  const proxy = await startMysqlProxy(t, shop.config)
  const config = mysqlSettings({ ...shop.config, host: '127.0.0.1', port: proxy.port })
  return {
    place: {
      engine: mysql as unknown as Connector,
      execute: text => shop.query(text),
      ref: name => ({ catalog: shop.name, schema: shop.name, name }),
    },
    cut: proxy.cut,
    silence: proxy.silence,
    connect: () => mysql.connect(config, connectOptions),
  }
}

const ROWS = 300

/** Orders of which 7 and 8 are missing and 20 differs on the right. */
async function fill({ place }: Faulty, side: 'left' | 'right'): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, k) => k).filter(k => side === 'left' || (k !== 7 && k !== 8))
  await place.execute('create table orders (k integer primary key, v integer)')
  await place.execute(
    `insert into orders values ${rows.map(k => `(${k}, ${side === 'right' && k === 20 ? 2 : 1})`).join(', ')}`,
  )
}

const TRUTH = { rowsLeft: ROWS, rowsRight: ROWS - 2, onlyLeft: 2, onlyRight: 0, differing: 1 }

/** Compares, with new sessions. @param before called before each statement of the right side, with its place and its text */
async function compareOnce(
  left: Faulty,
  right: Faulty,
  before: (place: number, text: string) => unknown,
  timeoutMs = 20_000,
): Promise<{ found: RowDifferences; statements: string[] }> {
  const [one, other] = [await left.connect(), await right.connect()]
  const statements: string[] = []
  try {
    const tables = [
      await describe({ ...left.place, connection: one }, 'orders'),
      await describe({ ...right.place, connection: other }, 'orders'),
    ] as [TableOn, TableOn]
    const sides = tables.map(table => ({
      ...sideOn(table),
      query: async (...[statement]: Parameters<ReturnType<typeof sideOn>['query']>) => {
        if (table === tables[1]) {
          const { text } = statement.render(() => '?')
          statements.push(text)
          await before(statements.length, text)
        }
        return table.on.connection.query(statement, { timeoutMs })
      },
    })) as [ReturnType<typeof sideOn>, ReturnType<typeof sideOn>]
    const found = await compareRows({
      left: sides[0],
      right: sides[1],
      isOneSource: false,
      pairs: pairOf(tables[0], tables[1], ['k']),
      sampleLimit: 100,
    })
    return { found, statements }
  } finally {
    await Promise.all([one.close(), other.close()])
  }
}

const isFetch = (text: string) => / as k0\b/.test(text)

const ENGINES = [
  { name: 'PostgreSQL', absent: false as string | false, start: faultyPostgresql },
  { name: 'MariaDB', absent: mariadbAbsent, start: faultyMariadb },
]

for (const { name, absent, start } of ENGINES)
  void t.test(`${name} as the side that fails`, { skip: absent }, async t => {
    const left = await faultyPostgresql(t)
    const right = await start(t)
    await fill(left, 'left')
    await fill(right, 'right')
    const { found, statements } = await compareOnce(left, right, () => {})
    t.match(found, TRUTH)
    t.equal(statements.filter(isFetch).length, 2, 'rows are fetched, and looked at once more')

    await t.test('a session that is cut at any statement is an error', async t => {
      for (const at of statements.keys())
        await t.rejects(
          compareOnce(left, right, place => place === at + 1 && right.cut()),
          ConnectorError,
          `statement ${at + 1}`,
        )
      t.match((await compareOnce(left, right, () => {})).found, TRUTH)
    })

    await t.test('a statement that is too slow is an error', async t => {
      const { execute } = right.place
      for (const at of statements.keys()) {
        const slow = compareOnce(
          left,
          right,
          async place => {
            if (place !== at + 1) return
            await execute(name === 'MariaDB' ? 'lock table orders write' : 'begin')
            if (name !== 'MariaDB') await execute('lock table orders in access exclusive mode')
          },
          1_000,
        )
        await t.rejects(slow, ConnectorError, `statement ${at + 1}`)
        await execute(name === 'MariaDB' ? 'unlock tables' : 'rollback')
      }
    })

    await t.test('rows that arrive late are not reported, wherever they arrive', async t => {
      const { execute } = right.place
      for (const at of statements.keys()) {
        const { found } = await compareOnce(left, right, async place => {
          if (place === at + 1) await execute('insert into orders values (7, 1), (8, 1)')
          if (place === at + 1) await execute('update orders set v = 1 where k = 20')
        })
        const counts = { onlyLeft: 0, onlyRight: 0, differing: 0, rowsRight: ROWS, byColumn: { v: 0 } }
        t.match(found, counts, `before statement ${at + 1}`)
        t.same(found.samples, [])
        await execute('delete from orders where k in (7, 8)')
        await execute('update orders set v = 2 where k = 20')
      }
    })

    await t.test('rows that change meanwhile never hide others that differ', async t => {
      const { execute } = right.place
      for (const at of statements.keys()) {
        const { found } = await compareOnce(left, right, async place => {
          if (place === at + 1) await execute('update orders set v = 3 where k in (20, 21)')
        })
        t.match(found, { onlyLeft: 2 }, `before statement ${at + 1}`)
        t.ok(found.differing === 1 || found.differing === 2)
        await execute('update orders set v = 1 where k = 21')
      }
    })

    await t.test('a side that falls silent is an error', async t => {
      const silent = await start(t)
      await fill(silent, 'right')
      const waiting = compareOnce(left, silent, (_, text) => isFetch(text) && silent.silence(), 1_000)
      await t.rejects(waiting, ConnectorError)
    })

    await t.test('a table that is dropped meanwhile is an error', async t => {
      for (const at of statements.keys()) {
        const dropped = compareOnce(left, right, async place => {
          if (place === at + 1) await right.place.execute('drop table orders')
        })
        await t.rejects(dropped, ConnectorError, `statement ${at + 1}`)
        await fill(right, 'right')
      }
    })
  })
