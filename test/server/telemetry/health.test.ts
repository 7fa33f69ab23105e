import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { build } from '../../../server/build.ts'
import { watchedLog } from '../../helpers/log-watch.ts'
import { startServer } from '../../helpers/server.ts'

t.test('processes that only serve requests say at once that no process works jobs', async t => {
  const { server, ask } = await startServer(t, { settings: { ROLE: 'web' }, isOwn: true })
  t.match(await ask('GET', '/health'), {
    status: 200,
    body: {
      data: {
        status: 'degraded',
        jobs: { status: 'late', lag_seconds: Number, late_queues: 0, workers: 'none' },
      },
      message: 'No process works jobs: start one with ROLE=worker or ROLE=all',
    },
  })
  const worker = await build({
    config: { ...server.config, role: 'worker', metricsPort: undefined },
    ownerUrl: String(server.config.databaseUrl),
    secretKey: String(server.config.secretKey),
    log: watchedLog(t),
    sweeps: false,
  })
  await worker.start()
  t.match(await ask('GET', '/health'), {
    body: { data: { status: 'ok', jobs: { status: 'up', workers: 'none' } }, message: '' },
  })
  await worker.stop({ timeout: 1_000 })
  // Its last connection may take a moment to end.
  while ((await ask('GET', '/health')).body.data.jobs.status !== 'late') await wait(20)
})
