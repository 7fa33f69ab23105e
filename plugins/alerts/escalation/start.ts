import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Recipient } from '../rules/recipients.ts'

/**
 * Stores the first steps of the rules that send alerts, which this transaction has opened. The time of one that is
 * postponed runs from when it is sent.
 */
export async function startEscalations(
  trx: Transaction,
  recipients: readonly Pick<Recipient, 'alert' | 'escalatingIds' | 'postponedUntil'>[],
): Promise<void> {
  const started = recipients.flatMap(({ alert, escalatingIds, postponedUntil }) =>
    escalatingIds.map(ruleId => ({ alertId: alert.id, ruleId, postponedUntil })),
  )
  if (started.length === 0) return
  await rows(
    trx,
    `insert into alert_escalations (alert_id, rule_id, company_id, started_at, due_at)
     select alert_id, r.id, :companyId, min(sent_at),
            min(sent_at) + make_interval(mins => cast(r.escalation -> 0 ->> 'after_minutes' as integer))
       from (select alert_id, rule_id, coalesce(postponed_until, now()) as sent_at
               from unnest(cast(:alertIds as uuid[]), cast(:ruleIds as uuid[]), cast(:postponed as timestamptz[]))
                 as started (alert_id, rule_id, postponed_until)) started
       join alert_rules r on r.company_id = :companyId and r.id = started.rule_id
      group by alert_id, r.id
     on conflict do nothing`,
    {
      companyId: companyOf(trx),
      alertIds: started.map(({ alertId }) => alertId),
      ruleIds: started.map(({ ruleId }) => ruleId),
      postponed: started.map(({ postponedUntil }) => postponedUntil),
    },
  )
}
