import t from 'tap'
import {
  judgeFreshness,
  mayTurnFresh,
  type FreshnessRecord,
} from '../../../plugins/freshness/command/freshness-result.ts'

const now = new Date('2026-03-01T12:00:00Z')

const record = (changes: Partial<FreshnessRecord>): FreshnessRecord => ({
  asset: 'shop.shop.public.orders',
  asset_id: '01a1ff48-3d0f-73df-b7de-b542eb34125f',
  source_id: '01a1ff48-39b5-7575-af95-32f4b0e21d8e',
  schedule_id: '01a1ff48-4e71-76ca-932b-a52e8c9a6496',
  status: 'fresh',
  readiness: 'ready',
  last_updated: '2026-03-01T11:00:00Z',
  monitoring_mode: 'explicit',
  sla_threshold: '24h',
  sla_status: 'within_sla',
  last_check_at: '2026-03-01T11:59:30Z',
  timestamp_column: null,
  signal: 'last_modified',
  data_age_minutes: 59,
  expected_next_update: null,
  error_message: null,
  note: null,
  ...changes,
})

t.test('the message names the signal', async t => {
  const line = (changes: Partial<FreshnessRecord>) =>
    judgeFreshness('shop.shop.public.orders', [record(changes)], { isRefreshed: true, now }).message
  t.match(line({ signal: 'column', timestamp_column: 'updated_at' }), 'updated 60 min ago (updated_at)')
  t.match(line({ signal: 'expression' }), 'updated 60 min ago (by its SQL expression)')
  t.match(line({ signal: 'last_modified' }), 'updated 60 min ago (by the last change its engine knows of)')
})

t.test('a check of less than a minute ago is not shown as 0 minutes old', async t => {
  const { message } = judgeFreshness('shop.shop.public.orders', [record({})], { isRefreshed: false, now })
  t.match(message, '(as of its last check, less than a minute ago, at 11:59 UTC)')
})

t.test('waiting helps where rows may arrive, not where there is no signal', async t => {
  const empty = { status: 'unknown', readiness: 'unknown', last_updated: null } as const
  t.equal(mayTurnFresh(record({ ...empty, signal: 'column', timestamp_column: 'updated_at' })), true)
  t.equal(mayTurnFresh(record({ ...empty, signal: 'expression' })), true)
  t.equal(mayTurnFresh(record({ ...empty, signal: null })), false)
  t.equal(mayTurnFresh(record({ ...empty, signal: null, last_check_at: null })), true, 'not checked yet')
})
