import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Connection } from '../../../../connectors/connector.ts'
import { mariadbAbsent, startShop, withMysql, type Shop } from '../../../helpers/mariadb.ts'
import { chooser } from './model.ts'
import { MysqlModel } from './model-mysql.ts'
import { startReplay } from './replay.ts'
import { STEPS_OF_MYSQL } from './steps-mysql.ts'
import { briefMysql, witnessMysql } from './witness-mysql.ts'

// DRIFT_SEED and DRIFT_RUNS make it another and a longer one.
const SEED = Number(process.env.DRIFT_SEED ?? 20_260_102)
const RUNS = Number(process.env.DRIFT_RUNS ?? 2)

function replayOn(shop: Shop, connection: Connection) {
  return startReplay({
    catalog: shop.name,
    run: statement => shop.query(statement),
    introspect: () => connection.introspect(),
    witness: witnessMysql(shop),
    brief: changes => briefMysql(shop, changes),
  })
}

t.test(
  'every change of a long life is reported as MariaDB made it, and nothing else',
  { skip: mariadbAbsent },
  async t => {
    const shop = await startShop(t)
    await withMysql(shop.config, async connection => {
      const { replay } = await replayOn(shop, connection)
      await replay(t, STEPS_OF_MYSQL)
    })
  },
)

t.test(
  'whatever is done, a model, MariaDB and drift say the same of it',
  { skip: mariadbAbsent },
  async t => {
    const shop = await startShop(t)
    let steps = 0
    await withMysql(shop.config, connection =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(fc.noBias(fc.nat(9_999)), { minLength: 12, maxLength: 12 }), {
            minLength: 60,
            maxLength: 100,
          }),
          async plan => {
            for (const row of await shop.query('show tables')) {
              await shop.query(`drop table \`${String(Object.values(row)[0])}\``)
            }
            const model = new MysqlModel()
            const { follow, readAgain } = await replayOn(shop, connection)
            for (const numbers of plan) {
              const deed = model.deed(chooser(numbers))
              if (!deed) continue
              const { reported, ofChanged, brief, witness } = await follow(deed.run)
              const { run } = deed
              const predicted = deed.reported.toSorted()
              assert.deepEqual(
                { run, reported, ofChanged, witness: brief, again: await readAgain() },
                { run, reported: predicted, ofChanged: predicted, witness, again: [] },
              )
              steps++
            }
          },
        ),
        { seed: SEED, numRuns: RUNS, endOnFailure: true },
      ),
    )
    t.comment(`${steps} steps`)
    t.ok(steps >= RUNS * 40, 'there was something to say')
  },
)
