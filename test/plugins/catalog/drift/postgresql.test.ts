import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { compareTables } from '../../../../plugins/catalog/drift/diff.ts'
import type { Connection } from '../../../../connectors/connector.ts'
import { sharedCount } from '../../../helpers/share.ts'
import { startSource, withSession, type Source } from '../../../helpers/source.ts'
import { chooser, Model } from './model.ts'
import { startReplay } from './replay.ts'
import { STEPS_OF_POSTGRESQL } from './steps-postgresql.ts'
import { briefPostgresql, witnessPostgresql } from './witness.ts'

// DRIFT_SEED and DRIFT_RUNS make it another and a longer one.
const SEED = Number(process.env.DRIFT_SEED ?? 20_260_101)
const RUNS = Number(process.env.DRIFT_RUNS ?? sharedCount(3))
/** Each step reads the whole catalog several times, so that a share has fewer steps too. */
const stepsOf = (minLength: number, maxLength: number) =>
  process.env.DRIFT_RUNS
    ? { minLength, maxLength }
    : { minLength: sharedCount(3 * minLength) / RUNS, maxLength: sharedCount(3 * maxLength) / RUNS }

function replayOn(source: Source, connection: Connection) {
  return startReplay({
    catalog: source.name,
    run: statement => source.query(statement),
    introspect: () => connection.introspect(),
    witness: () => witnessPostgresql(source),
    brief: changes => briefPostgresql(source.name, changes),
  })
}

t.test('every change of a long life is reported as the engine made it, and nothing else', async t => {
  const source = await startSource(t)
  await withSession(source.config, async connection => {
    const { replay } = await replayOn(source, connection)
    await replay(t, STEPS_OF_POSTGRESQL)

    const known = await connection.introspect()
    const reader = source.config.username
    await source.query(`alter role ${reader} set search_path = other, "we.ird ""S""", pg_catalog`)
    await withSession(source.config, async elsewhere => {
      t.same(
        compareTables(known, await elsewhere.introspect()),
        [],
        'another search path makes no difference',
      )
    })
  })
})

t.test('whatever is done, a model, the engine and drift say the same of it', async t => {
  const source = await startSource(t)
  await source.query('create schema other')
  let steps = 0
  const length = stepsOf(90, 120)
  await withSession(source.config, connection =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.noBias(fc.nat(9_999)), { minLength: 12, maxLength: 12 }), length),
        async plan => {
          await source.query('drop schema public, other cascade; create schema public; create schema other')
          const model = new Model()
          const { follow, readAgain } = await replayOn(source, connection)
          for (const numbers of plan) {
            const choose = chooser(numbers)
            // What cannot be done now is passed over for something else.
            const deed = model.deed(choose) ?? model.deed(choose) ?? model.deed(choose)
            if (!deed) continue
            const { reported, ofChanged, brief, witness } = await follow(deed.run)
            const seen = { run: deed.run, reported, ofChanged, witness: brief, again: await readAgain() }
            const predicted = deed.reported.toSorted()
            assert.deepEqual(seen, {
              run: deed.run,
              reported: predicted,
              ofChanged: predicted,
              witness,
              again: [],
            })
            steps++
          }
        },
      ),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    ),
  )
  t.comment(`${steps} steps`)
  t.ok(steps >= (RUNS * length.minLength * 2) / 9, 'there was something to say')
})

t.test('however much is done at once, the engine and drift say the same of it', async t => {
  const source = await startSource(t)
  await source.query('create schema other')
  await withSession(source.config, connection =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.noBias(fc.nat(9_999)), { minLength: 60, maxLength: 60 }), stepsOf(10, 40)),
        async plan => {
          await source.query('drop schema public, other cascade; create schema public; create schema other')
          const model = new Model()
          const { follow, readAgain } = await replayOn(source, connection)
          for (const numbers of plan) {
            const choose = chooser(numbers)
            const run = Array.from({ length: 2 + choose(6) }, () => model.deed(choose)?.run ?? []).flat()
            const { reported, ofChanged, brief, witness } = await follow(run)
            const seen = { run, ofChanged, witness: brief, again: await readAgain() }
            assert.deepEqual(seen, { run, ofChanged: reported, witness, again: [] })
          }
        },
      ),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    ),
  )
})
