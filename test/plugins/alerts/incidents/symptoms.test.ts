import pino from 'pino'
import t from 'tap'
import type { Symptom } from '../../../../plugins/alerts/api.ts'
import { kindsShowing, symptomOf } from '../../../../plugins/alerts/incidents/grouping/symptoms.ts'
import { createKindRegistry } from '../../../../plugins/alerts/kinds.ts'
import { startServer } from '../../../helpers/server.ts'
import { makePipeline } from './world.ts'

t.test('the kind of an alert says what it shows, and one that errs shows wrong values', async t => {
  const kinds = createKindRegistry()
  kinds.add(
    { name: 'silent', label: 'silent' },
    { name: 'late', label: 'late', symptom: 'stale' },
    { name: 'small', label: 'small', symptom: ({ rows }) => (rows === 0 ? 'volume' : 'drift') },
    { name: 'odd', label: 'odd', symptom: () => 'unheard of' as Symptom },
    {
      name: 'bad',
      label: 'bad',
      symptom() {
        throw new Error('no')
      },
    },
  )
  t.throws(
    () => kinds.add({ name: 'wrong', label: 'wrong', symptom: 'unheard of' as Symptom }),
    /Cannot add alert kind "wrong"/,
  )
  const errors: string[] = []
  const log = pino({ base: null }, { write: line => void errors.push(line) })
  const show = (kind: string, details = {}) => symptomOf({ kinds, log }, kind, details)
  t.equal(show('silent'), 'quality')
  t.equal(show('of no extension'), 'quality')
  t.equal(show('late'), 'stale')
  t.equal(show('small', { rows: 0 }), 'volume')
  t.equal(show('small', { rows: 1 }), 'drift')
  t.strictSame(errors, [])
  t.equal(show('odd'), 'quality')
  t.equal(show('bad'), 'quality')
  t.match(errors, [/alert kind odd/, /alert kind bad/])
  t.strictSame(kindsShowing(kinds, 'stale', 'volume'), ['late'])
})

t.test('a kind of an extension can be the cause of late data', async t => {
  const app = await startServer(t, {
    settings: { EXTENSIONS: './test/helpers/extensions/alert-kind.ts', INCIDENT_DELAY_SECONDS: '0' },
  })
  const { raise, eventOf, show } = await makePipeline(app, ['raw', 'orders'], ['raw > orders'])
  await raise('orders stale')
  await raise({ ...eventOf('raw quality'), type: 'acme_quota_exceeded', details: { used: 0 } })
  t.strictSame(await show(), ['open critical raw: orders stale, raw quality'])
})
