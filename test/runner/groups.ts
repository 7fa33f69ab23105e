import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Files of one process. With more, the last processes run alone for longer. */
const MAX_FILES = 12
/** A file needs its own process when it starts many, blocks the event loop, measures its process, or plans its root test. */
const ALONE =
  /fork\(|spawn\(|spawnSync|server-process|helpers\/command|process\.(exit|on|env\.\w+ *=)|cpuUsage|memoryUsage|t\.(plan|bailout)\(|new Worker|startTestCluster|mock(Import|Require|All)?\(/

/** Test files that run in one process. */
export interface TestProcess {
  name: string
  /** Relative to the root; of several members, a file that imports them. */
  file: string
  members: readonly string[]
}

/**
 * Groups test files, neighbours together: loading the whole service and warming it up takes some two seconds of CPU. The
 * files of a group run one after the other.
 * @param files relative to the root
 */
export function groupFiles(root: string, files: readonly string[]): TestProcess[] {
  const folder = join(root, '.tap/groups')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const [alone, grouped] = [[] as string[], [] as string[]]
  for (const file of files) (ALONE.test(readFileSync(join(root, file), 'utf8')) ? alone : grouped).push(file)
  const groups = chunks(grouped.sort(), MAX_FILES).map(members => {
    const name = `${members[0]} and ${members.length - 1} more`
    const file = join('.tap/groups', name.replaceAll(/[^\w.]+/g, '-') + '.test.ts')
    writeFileSync(join(root, file), importAll(members.map(member => relative(folder, join(root, member)))))
    return { name, file, members }
  })
  return [...alone.map(file => ({ name: file, file, members: [file] })), ...groups]
}

function chunks(files: readonly string[], maxSize: number): string[][] {
  const count = Math.ceil(files.length / maxSize)
  const size = Math.ceil(files.length / count)
  return Array.from({ length: count }, (_, index) => files.slice(index * size, (index + 1) * size))
}

/**
 * Returns the text of a file that runs test files in turn. The empty test at the end of each ends when all tests of the
 * file have. Hooks and teardowns of the root are limited to the file that added them: tap would apply them to the tests
 * of the next file too, and could end the root while that one is being loaded.
 */
function importAll(files: readonly string[]): string {
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
t.end()
`
}
