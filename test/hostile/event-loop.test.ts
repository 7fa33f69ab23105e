import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { longestDelay } from './event-loop.ts'

/** Takes CPU time of this thread in one turn. */
function burn(milliseconds: number): void {
  // Both: the kernel divides the time between them by samples, and may correct itself.
  const spent = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  const until = spent() + milliseconds
  while (spent() < until);
}

t.test('work in one turn is a delay of its length', async t => {
  t.ok((await longestDelay(async () => burn(300))) > 200)
})

t.test('the same work in many turns is none', async t => {
  const delay = await longestDelay(async () => {
    for (let turn = 0; turn < 100; turn++) {
      burn(3)
      await setImmediate()
    }
  })
  t.ok(delay < 150, `${delay} ms`)
})

t.test('a wait is no delay', async t => {
  t.ok((await longestDelay(() => delay(300))) < 150)
})
