import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { startReader } from '../../connectors/reader/pool.ts'

const folder = mkdtempSync(join(tmpdir(), 'reader-'))
t.teardown(() => rmSync(folder, { recursive: true }))

/** An engine that works for ever, takes memory, or fails, as it is asked. */
const file = join(folder, 'backend.mjs')
writeFileSync(
  file,
  `const kept = []
  export const backend = {
    answer({ type }) {
      if (type === 'environment') return Object.keys(process.env)
      if (type === 'fail') throw Object.assign(new Error('it failed'), { code: 'ACME_1' })
      if (type === 'later') return new Promise(resolve => setTimeout(resolve, 10, 'done'))
      while (type === 'work') {}
      while (type === 'fill') kept.push(Buffer.alloc(8_000_000, 1))
      return process.pid
    },
  }`,
)
const backend = pathToFileURL(file)
const QUICK = { timeoutMs: 20_000 }

t.test('a reader answers, fails with the code of its engine, and is kept for the next session', async t => {
  const reader = startReader({ backend })
  const pid = await reader.ask({ type: 'pid' }, QUICK)
  t.equal(await reader.ask({ type: 'later' }, QUICK), 'done')
  await t.rejects(reader.ask({ type: 'fail' }, QUICK), { code: 'ACME_1', message: 'it failed' })
  await reader.giveBack()
  const next = startReader({ backend })
  t.equal(await next.ask({ type: 'pid' }, QUICK), pid)
  const other = startReader({ backend, memoryMb: 2048 })
  t.not(await other.ask({ type: 'pid' }, QUICK), pid, 'one for a limit of its own')
  t.same(await next.ask({ type: 'environment' }, QUICK), [], 'it has nothing of the host')
  await Promise.all([next.giveBack(), other.giveBack()])
})

t.test('a request that takes too long, is given up, or takes too much memory ends its reader', async t => {
  const start = (memoryMb: number) => {
    const reader = startReader({ backend, memoryMb })
    t.teardown(() => reader.giveBack())
    return reader
  }
  const late = start(512)
  await t.rejects(late.ask({ type: 'work' }, { timeoutMs: 500 }), { code: 'TIMEOUT' })
  t.notOk(late.isAlive())
  await t.rejects(late.ask({ type: 'pid' }, QUICK), { code: 'ENDED' })
  const signal = AbortSignal.timeout(300)
  await t.rejects(start(512).ask({ type: 'work' }, { ...QUICK, signal }), { code: 'ABORTED' })
  await t.rejects(start(300).ask({ type: 'fill' }, QUICK), { code: 'OUT_OF_MEMORY' })
})

t.test('a reader whose host is gone', async t => {
  const start = async () => {
    const child = fork(join(import.meta.dirname, '../../connectors/reader/child.ts'), [backend.href, '512'], {
      execArgv: [],
      serialization: 'advanced',
    })
    t.teardown(() => child.kill('SIGKILL'))
    child.send({ type: 'pid' })
    await once(child, 'message')
    return child
  }

  t.test('ends when it has nothing to do', async t => {
    const child = await start()
    child.disconnect()
    t.same(await once(child, 'exit'), [0, null])
  })

  t.test('ends itself when its statement outlives its time', async t => {
    const child = await start()
    child.send({ type: 'work', timeoutMs: 100 })
    t.same(await once(child, 'exit'), [null, 'SIGKILL'])
  })
})
