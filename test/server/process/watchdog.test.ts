import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'

const WATCHDOG = new URL('../../../server/process/watchdog.ts', import.meta.url).href

t.test('a blocked process is ended, whatever the operator preloads into it', async t => {
  const folder = t.testdir({
    'preload.mjs': `import { isMainThread } from 'node:worker_threads'
      if (!isMainThread) throw new Error('An SDK that does not fit here')`,
    'blocked.ts': `import { startWatchdog } from '${WATCHDOG}'
      startWatchdog({ beatMs: 20, patience: 10 }).note('scans.run 7')
      setTimeout(() => { for (const end = Date.now() + 20_000; Date.now() < end;); }, 300)`,
  })
  const child = spawn(process.execPath, [join(folder, 'blocked.ts')], {
    env: { NODE_OPTIONS: `--import ${join(folder, 'preload.mjs')}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [said, [, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  t.equal(signal, 'SIGKILL')
  t.match(JSON.parse(said), { level: 60, at_work: 'scans.run 7', msg: /the event loop has been blocked/ })
})
