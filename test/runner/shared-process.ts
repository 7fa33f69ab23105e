/**
 * Runs test files one after another in this process, as it takes them from the queue in the folder `TEST_QUEUE`: to load
 * the whole service and to warm it up takes some two seconds of CPU. The comment `# <file> used 1.2 s` ends each.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { FileQueue } from './file-queue.ts'

type Run = () => unknown
type Hook = Parameters<typeof t.beforeEach>[0]

const root = join(import.meta.dirname, '../..')
// Hooks and teardowns of the root are limited to the file that added them: tap would apply them to the tests of the next
// file too, and could end the root while that one is being loaded.
const ends: Run[] = []
t.teardown = (end: Run) => void ends.unshift(end)
const hooks = (['beforeEach', 'afterEach'] as const).map(each => {
  const own: Hook[] = []
  t[each](async t => {
    for (const hook of own) await hook(t)
  })
  t[each] = (hook: Hook) => void own.push(hook)
  return own
})

// Others may have taken all files, and a process without a test has failed.
t.pass('it takes files from the queue')
for (const file of new FileQueue(process.env.TEST_QUEUE!).take()) {
  const before = process.cpuUsage()
  // The time begins anew with each file.
  t.setTimeout(Number(process.env.TAP_TIMEOUT) * 1_000)
  await import(pathToFileURL(join(root, file)).href)
  // It comes after all tests of the file.
  await t.test(`${file} has run`, async () => undefined)
  for (const own of hooks) own.splice(0)
  for (const end of ends.splice(0)) await end()
  const { user, system } = process.cpuUsage(before)
  t.comment(`${file} used ${((user + system) / 1e6).toFixed(1)} s`)
}
t.end()
