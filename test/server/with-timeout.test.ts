import t from 'tap'
import { callWithin, DeadlineError } from '../../server/with-timeout.ts'

const hang = () => new Promise<never>(() => {})

t.test('a call that answers in time is what it would be without a limit', async t => {
  t.equal(await callWithin(10_000, () => 7), 7)
  await t.rejects(
    callWithin(10_000, () => {
      throw new TypeError('at once')
    }),
    { message: 'at once' },
  )
  await t.rejects(
    callWithin(10_000, () => Promise.reject(new TypeError('later'))),
    { message: 'later' },
  )
  // Timers of Node would take this for one millisecond.
  t.equal(await callWithin(1e12, async () => 8), 8)
})

t.test('a call that does not end is given up, and its signal aborts', async t => {
  let given: AbortSignal | undefined
  const late = Promise.withResolvers<never>()
  const call = callWithin(5, signal => {
    given = signal
    return late.promise
  })
  await t.rejects(call, new DeadlineError(5))
  t.equal(given?.aborted, true)
  late.reject(new Error('ignored'))
})

t.test('a caller that aborts waits for the grace alone', async t => {
  const controller = new AbortController()
  const options = { signal: controller.signal, graceMs: 5 }
  const hanging = callWithin(1e9, hang, options)
  const listening = callWithin(
    1e9,
    signal =>
      new Promise<string>(resolve => {
        signal.addEventListener('abort', () => resolve('tidied up'))
      }),
    options,
  )
  controller.abort(new Error('enough'))
  t.equal(await listening, 'tidied up')
  await t.rejects(hanging, { message: 'enough' })
  await t.rejects(callWithin(1e9, hang, options), { message: 'enough' }, 'also if it had aborted before')
})
