import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Files of one process. With more, a failure is harder to place, and the last processes run alone for longer. */
const MOST = 5
/** What needs a process of its own: it starts many, holds the event loop, measures its process, or plans its root test. */
const ALONE =
  /fork\(|spawn\(|spawnSync|server-process|helpers\/command|process\.(exit|on|env\.\w+ *=)|cpuUsage|memoryUsage|t\.(plan|bailout)\(|new Worker|startTestCluster|mock(Import|Require|All)?\(/

/**
 * Puts test files of one folder together, some to a process: loading the whole service and warming it up takes some
 * three seconds of CPU, of which a second server in the same process takes a tenth. They run one after the other. Files
 * named on the command line run by themselves.
 * @param files relative to the root
 * @returns what to run: the files that stay alone, the longest first, and files that import the others
 */
export function groupFiles(root: string, files: readonly string[]): string[] {
  const folder = join(root, '.tap/groups')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const texts = new Map(files.map(file => [file, readFileSync(join(root, file), 'utf8')]))
  const canShare = (file: string) => !ALONE.test(texts.get(file)!)
  const groups = [...Map.groupBy(files.filter(canShare).sort(), dirname)].flatMap(([of, own]) =>
    chunks(own, MOST).map((members, index) => {
      const name = `${of.replaceAll('/', '-')}-${index + 1}.test.ts`
      writeFileSync(join(folder, name), importing(members.map(file => relative(folder, join(root, file)))))
      return join('.tap/groups', name)
    }),
  )
  const alone = files.filter(file => !canShare(file))
  return [...alone.sort((a, b) => texts.get(b)!.length - texts.get(a)!.length), ...groups]
}

function chunks(files: readonly string[], most: number): string[][] {
  const count = Math.ceil(files.length / most)
  const size = Math.ceil(files.length / count)
  return Array.from({ length: count }, (_, index) => files.slice(index * size, (index + 1) * size))
}

/**
 * Tests of the root run in turn, so that the empty one ends when those of the file have. What a file wants to be done
 * before each test of the root, or undone at its end, is kept to its own tests: by tap's own way it would reach those of
 * the next file, and the root could end while that one is being loaded.
 */
function importing(files: readonly string[]): string {
  return `import t from 'tap'

const ends = []
t.teardown = end => void ends.unshift(end)
const hooks = []
for (const each of ['beforeEach', 'afterEach']) {
  const own = []
  t[each](async t => {
    for (const hook of own) await hook(t)
  })
  t[each] = hook => void own.push(hook)
  hooks.push(own)
}
for (const file of ${JSON.stringify(files, null, 2)}) {
  await import(file)
  await t.test(\`\${file} is done\`, async () => undefined)
  for (const own of hooks) own.splice(0)
  for (const end of ends.splice(0)) await end()
}
`
}
