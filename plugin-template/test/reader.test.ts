import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { dateReader } from '../reader/strptime.ts'

/** Never ends, and never leaves SQLite's own code. */
const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'

t.test('a reader whose host is gone', async t => {
  const start = async () => {
    const child = fork(join(import.meta.dirname, '../reader/child.ts'), {
      execArgv: [],
      serialization: 'advanced',
    })
    t.teardown(() => child.kill('SIGKILL'))
    child.send({ type: 'open', path: ':memory:' })
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
    child.send({ type: 'query', text: endless, values: [], timeoutMs: 100 })
    t.same(await once(child, 'exit'), [null, 'SIGKILL'])
  })
})

t.test('dates', async t => {
  const cases: [string, string, boolean][] = [
    ['%y%j', '24366', true],
    ['%y%j', '23366', false],
    ['%I:%M %p', '12:00 PM', true],
    ['%I:%M %p', '13:00 pm', false],
    ['%d %b', '29 feb', true],
    ['%d.%m.%y', '29.02.70', false],
    ['100%% %Y', '100% 2024', true],
    ['[%Y](%m)^$', '[2024](02)^$', true],
    ['%YT', '2024t', false],
    ['%H:%M%z', '12:00+99:00', false],
    ['%H:%M%z', '12:00-05:30', true],
    ['%d %B', '31 April', false],
    ['%Y-%m-%d', '\u0662024-01-01', false],
  ]
  for (const [format, text, isDate] of cases) t.equal(dateReader(format)(text), isDate, `${format} ${text}`)
  for (const format of ['%Q', '%', '%Y%Y']) t.throws(() => dateReader(format), RangeError, format)
})
