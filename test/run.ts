/**
 * Runs the tests against one PostgreSQL cluster, which all files share: `node test/run.ts [files or tap options]`.
 * Ends with tap's exit code; the cluster goes when this process does.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { testCluster } from './helpers/cluster.ts'
import { groupFiles } from './helpers/groups.ts'

const root = join(import.meta.dirname, '..')
const given = process.argv.slice(2)
const files = given.some(argument => !argument.startsWith('-'))
  ? []
  : groupFiles(root, globSync('test/**/*.test.ts', { cwd: root }))

const cluster = await testCluster()
const installed = join(root, 'node_modules', '.bin')
// tap starts the tests with the `node` it finds first; the pinned one is beside it.
const path = `${installed}${delimiter}${process.env.PATH}`
// Each file is a process that loads the whole service, and some start more: what one has compiled serves the others.
const environment = {
  ...process.env,
  PATH: path,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, '.tap/compile-cache'),
}
buildTap()
const tap = spawn(join(installed, process.platform === 'win32' ? 'tap.cmd' : 'tap'), [...given, ...files], {
  cwd: root,
  stdio: 'inherit',
  shell: process.platform === 'win32',
  env: { ...environment, TEST_CLUSTER: JSON.stringify(cluster) },
})

/** A newly installed tap has its TypeScript loader built in and uses it once, whatever .taprc says. */
function buildTap(): void {
  const built = join(root, 'node_modules/@tapjs/test/test-built/dist/esm/index.js')
  if (existsSync(built) && !readFileSync(built, 'utf8').includes('@tapjs/typescript')) return
  spawnSync(join(installed, 'tap'), ['build'], {
    cwd: root,
    stdio: 'ignore',
    shell: process.platform === 'win32',
    env: environment,
  })
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Ctrl-C has reached tap by itself. It waits for the files that run, which may take minutes.
    if (signal !== 'SIGINT') tap.kill(signal)
    setTimeout(() => {
      tap.kill('SIGKILL')
      process.exit(128 + constants.signals[signal])
    }, 3_000).unref()
  })
}

tap.on('error', error => {
  console.error(`tap cannot be started (${error.message}): run npm ci first.`)
  process.exit(1)
})
tap.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? 'SIGTERM']))
