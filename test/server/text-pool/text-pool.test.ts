import t, { type Test } from 'tap'
import {
  createTextPool,
  textTask,
  TextLimitError,
  type TextPool,
} from '../../../server/text-pool/text-pool.ts'
import type * as tasks from './tasks.ts'

const module = new URL('./tasks.ts', import.meta.url)
const limits = { cpuMs: 500, megabytes: 64, owner: 'A' }

/** 503 with a time to try again. */
const REFUSED_FOR_NOW = { output: { statusCode: 503, headers: { 'Retry-After': '2' } } } as unknown as Error

const double = textTask<typeof tasks.double>(module, 'double')
const wait = textTask<typeof tasks.wait>(module, 'wait')

function pool(t: Test, threads?: number): TextPool {
  const made = createTextPool(threads === undefined ? {} : { threads })
  t.teardown(() => made.stop())
  return made
}

/** A task of an owner that runs until it is let go. */
function hold(made: TextPool, owner: string) {
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const done = made.run(wait, shared, { ...limits, owner })
  done.catch(() => undefined)
  return {
    done,
    begun: () => Atomics.waitAsync(shared, 1, 0).value,
    letGo() {
      Atomics.store(shared, 0, 1)
      Atomics.notify(shared, 0)
    },
  }
}

t.test('a function runs in a thread and returns its result', async t => {
  t.equal(await pool(t).run(double, 21, limits), 42)
})

t.test('what the function throws is thrown', async t => {
  const fail = textTask<typeof tasks.fail>(module, 'fail')
  await t.rejects(pool(t).run(fail, 'no such thing', limits), { name: 'TypeError', message: 'no such thing' })
})

for (const name of ['loop', 'backtrack'] as const)
  t.test(
    `${name}: a text that takes too much CPU time ends its thread, and the next one is read`,
    async t => {
      const made = pool(t)
      const task = textTask<(text: string) => unknown>(module, name)
      const error = await made.run(task, `${'a'.repeat(100)}b`, limits).catch((thrown: unknown) => thrown)
      t.ok(error instanceof TextLimitError)
      t.equal((error as TextLimitError).limit, 'time')
      t.equal(await made.run(double, 4, limits), 8)
    },
  )

t.test('a text that takes too much memory ends its thread, and the next one is read', async t => {
  const made = pool(t)
  const hoard = textTask<() => never>(module, 'hoard')
  const error = await made
    .run(hoard, undefined, { ...limits, cpuMs: 60_000 })
    .catch((thrown: unknown) => thrown)
  t.equal((error as TextLimitError).limit, 'memory')
  t.equal(await made.run(double, 4, limits), 8)
})

t.test('what an earlier text left in memory counts for no later one', async t => {
  const made = pool(t, 1)
  const litter = textTask<typeof tasks.litter>(module, 'litter')
  const spin = textTask<typeof tasks.spin>(module, 'spin')
  const roomy = { ...limits, cpuMs: 60_000, megabytes: 512 }
  t.equal(await made.run(litter, 3_000_000, roomy), 3_000_000)
  t.equal(await made.run(spin, 300, { ...roomy, megabytes: 16 }), 'spun')
})

t.test('only CPU time counts: a text that a busy machine makes wait is read', async t => {
  const rest = textTask<typeof tasks.rest>(module, 'rest')
  t.equal(await pool(t).run(rest, 400, { ...limits, cpuMs: 100 }), 'rested')
})

t.test('a company has one thread, however many texts it sends, and others have the rest', async t => {
  const made = pool(t)
  const first = hold(made, 'A')
  await first.begun()
  const second = made.run(double, 2, { ...limits, maxWaiting: 5 })
  t.equal(await made.run(double, 1, { ...limits, owner: 'B' }), 2, 'B is served while A waits')
  first.letGo()
  t.equal(await second, 4)
})

t.test('companies take turns: the second text of one waits for the first of another', async t => {
  const made = pool(t, 1)
  const held = hold(made, 'A')
  await held.begun()
  const ended: string[] = []
  const run = (owner: string, label: string) =>
    made.run(double, 1, { ...limits, owner, maxWaiting: 5 }).then(() => ended.push(label))
  const all = [run('A', 'A2'), run('A', 'A3'), run('B', 'B1'), run('C', 'C1')]
  held.letGo()
  await Promise.all(all)
  t.match(ended.slice(0, 3).sort(), ['A2', 'B1', 'C1'])
  t.equal(ended[3], 'A3')
})

t.test('what people wait for comes before jobs of the same company', async t => {
  const made = pool(t, 1)
  const held = hold(made, 'A')
  await held.begun()
  const ended: string[] = []
  const job = made
    .run(double, 1, { ...limits, maxWaiting: Infinity, isBackground: true })
    .then(() => ended.push('job'))
  const request = made.run(double, 1, limits).then(() => ended.push('request'))
  held.letGo()
  await Promise.all([job, request])
  t.same(ended, ['request', 'job'])
})

t.test('a second waiting text of a company is refused with 503 and when to try again', async t => {
  const made = pool(t)
  const held = hold(made, 'A')
  await held.begun()
  const waiting = made.run(double, 1, limits)
  await t.rejects(made.run(double, 1, limits), REFUSED_FOR_NOW)
  held.letGo()
  t.equal(await waiting, 2)
})

t.test('a thread in which something broke serves no other text', async t => {
  const made = pool(t, 1)
  const ask = textTask<typeof tasks.whoAmI>(module, 'whoAmI')
  const [first, same] = [await made.run(ask, false, limits), await made.run(ask, true, limits)]
  t.equal(same, first)
  t.not(await made.run(ask, false, limits), first)
})

t.test('a caller that gives up leaves the queue, or ends its thread', async t => {
  const made = pool(t, 1)
  const held = hold(made, 'A')
  await held.begun()
  const caller = new AbortController()
  const waiting = made.run(double, 1, { ...limits, owner: 'B', signal: caller.signal })
  caller.abort(new Error('gone'))
  await t.rejects(waiting, { message: 'gone' })
  held.letGo()
  await held.done
  t.equal(await made.run(double, 3, { ...limits, owner: 'B' }), 6)
})

t.test('a pool that stops refuses what runs and what comes', async t => {
  const made = pool(t)
  const held = hold(made, 'A')
  await held.begun()
  const waiting = made.run(double, 1, limits)
  await Promise.all([made.stop(), t.rejects(held.done, REFUSED_FOR_NOW), t.rejects(waiting, REFUSED_FOR_NOW)])
  await t.rejects(made.run(double, 1, limits), REFUSED_FOR_NOW)
})

t.test('threads know no setting of the service', async t => {
  const made = pool(t)
  const read = textTask<typeof tasks.settings>(module, 'settings')
  t.same(await made.run(read, undefined, limits), [])
})
