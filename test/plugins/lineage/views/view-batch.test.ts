import t from 'tap'
import { wordRulesOf } from '../../../../plugins/lineage/views/sql-words.ts'
import type { readViewBatch } from '../../../../plugins/lineage/views/view-batch.ts'
import { createTextPool, textTask } from '../../../../server/text-pool/text-pool.ts'

const task = textTask<typeof readViewBatch>(
  new URL('../../../../plugins/lineage/views/view-batch.ts', import.meta.url),
  'readViewBatch',
)

t.test('definitions that interrupt the parser keep it from reading no other', async t => {
  const pool = createTextPool({ threads: 1 })
  t.teardown(() => pool.stop())
  const read = async (definition: string) => {
    const view = { catalog: 'shop', schema: 'public', name: 'v', definition }
    const tables = [{ catalog: 'shop', schema: 'public', name: 'orders', columns: ['id'] }]
    const progress = new Int32Array(new SharedArrayBuffer(4))
    const batch = {
      tables,
      isPostgresql: true,
      rules: wordRulesOf('postgresql'),
      views: [{ view, columns: ['id'] }],
      progress,
    }
    return (await pool.run(task, batch, { owner: 'A', cpuMs: 20_000, megabytes: 800 }))[0]!.confidence
  }
  // Each keeps what it took of the parser's memory, which has room for about ten of them.
  for (let round = 0; round < 16; round++)
    t.equal(await read(`select id${' + id'.repeat(240_000)} from orders`), 0.8)
  t.equal(await read('select id from orders'), 1)
})
