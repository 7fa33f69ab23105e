import { CompanyRow, companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { sweepCompanies } from '../delivery/sweep-companies.ts'
import type { Deps } from '../deps.ts'
import { lockFreeAlerts, lockIncidents } from '../locks.ts'
import type { AddressedMessage, IncidentSummary } from '../messages/message.ts'
import { findNewestSent, findNotifiedOfEnds } from '../messages/notified.ts'
import { sendMessages } from '../messages/send.ts'
import { Alert, AlertRule, Destination, type EscalationStep } from '../models.ts'
import { loadMutes } from '../mute/muted.ts'
import { openingMessage } from '../rules/notify.ts'
import { incidentMessage } from '../rules/notify-incidents.ts'
import { distinctIncidents, loadIncidents } from '../rules/open-members.ts'

/** The next step of a rule for an alert. */
class Escalation extends CompanyRow {
  static override tableName = 'alert_escalations'
  static override idColumn = ['alertId', 'ruleId']

  declare alertId: string
  declare ruleId: string
  declare step: number
  /** When the rule sent the alert. */
  declare startedAt: Date
  declare dueAt: Date
}

/** Per sweep. */
const MAX_DUE = 1_000
const MINUTE_MS = 60_000

/**
 * Notifies those of the next steps, of all companies, whose time has come. An alert that another transaction has locked
 * waits for the next sweep.
 * @returns the number of steps taken
 */
export async function escalate(deps: Deps, log: Pick<Deps['log'], 'error'>): Promise<number> {
  const due = await deps.db.statement<{ alertId: string; companyId: string }>(
    `select alert_id, company_id from alert_escalations where due_at <= now() order by due_at limit :most`,
    { most: MAX_DUE },
  )
  return sweepCompanies(log, 'escalate alerts', due, (companyId, escalations) => {
    const alertIds = [...new Set(escalations.map(({ alertId }) => alertId))]
    return deps.db.company(companyId, trx => takeSteps(deps, trx, alertIds))
  })
}

/** A step that is to be taken now. */
interface DueStep {
  escalation: Escalation
  alert: Alert
  rule: AlertRule
  step: EscalationStep
  incident: IncidentSummary | undefined
}

/** Takes the due steps of some alerts. Under the locks of the alerts no other process takes them, or ends the alerts. */
async function takeSteps(deps: Deps, trx: Transaction, alertIds: readonly string[]): Promise<number> {
  await lockIncidents(trx)
  const alerts = await lockFreeAlerts(
    Alert.query(trx).whereRaw('id = any(cast(? as uuid[]))', [[...alertIds]]),
  )
  const ids = alerts.map(({ id }) => id)
  const due = await Escalation.query(trx)
    .whereRaw('alert_id = any(cast(? as uuid[])) and due_at <= now()', [ids])
    .orderBy(['dueAt', 'alertId', 'ruleId'])
  const rules = await AlertRule.query(trx).findByIds([...new Set(due.map(({ ruleId }) => ruleId))])
  const incidents = await loadIncidents(trx, ids)
  const isTaken = await findTaken(trx, due)
  const steps = due.flatMap((escalation): DueStep[] => {
    const alert = alerts.find(({ id }) => id === escalation.alertId)
    const rule = rules.find(({ id, isActive }) => id === escalation.ruleId && isActive)
    const step = rule?.escalation?.[escalation.step]
    const incident = incidents.find(item => item.alertId === escalation.alertId)
    const isOpen = alert?.status === 'triggered' && (!incident || incident.status === 'open')
    if (!alert || !rule || !step || !isOpen || isTaken.has(keyOf(escalation))) return []
    return [{ escalation, alert, rule, step, incident }]
  })
  const mutedUntil = await loadMutes(trx)
  const muted = steps.flatMap(item => {
    const until = mutedUntil(item.alert)
    return until ? [{ ...item, until }] : []
  })
  const taken = steps.filter(({ alert }) => mutedUntil(alert) === null)
  await sendMessages(deps, trx, await messagesOf(trx, taken, incidents))
  for (const item of muted) await move(trx, item, item.escalation.step, item.until)
  for (const item of taken) await move(trx, item, item.escalation.step + 1, new Date())
  const going = new Set(steps.map(({ escalation }) => keyOf(escalation)))
  await removeAll(
    trx,
    due.filter(escalation => !going.has(keyOf(escalation))),
  )
  return taken.length
}

const keyOf = ({ alertId, ruleId }: Pick<Escalation, 'alertId' | 'ruleId'>) => `${alertId} ${ruleId}`

/** Escalations whose alert was acknowledged or snoozed since they started, even if it is triggered again. */
async function findTaken(trx: Transaction, due: readonly Escalation[]): Promise<Set<string>> {
  if (due.length === 0) return new Set()
  const taken = await rows<Pick<Escalation, 'alertId' | 'ruleId'>>(
    trx,
    `select e.alert_id, e.rule_id from alert_escalations e
      where e.company_id = :companyId and e.alert_id = any(cast(:ids as uuid[])) and exists (
        select from alert_history h where h.company_id = :companyId and h.alert_id = e.alert_id
           and h.to_status in ('acknowledged', 'snoozed') and h.at >= e.started_at)`,
    { companyId: companyOf(trx), ids: due.map(({ alertId }) => alertId) },
  )
  return new Set(taken.map(keyOf))
}

/** A message to each active destination of a step that does not know yet that the alert, or its incident, is open. */
async function messagesOf(
  trx: Transaction,
  steps: readonly DueStep[],
  incidents: readonly IncidentSummary[],
): Promise<AddressedMessage[]> {
  const ids = [...new Set(steps.flatMap(({ step }) => step.destination_ids))]
  const destinations = await Destination.query(trx)
    .findByIds(ids)
    .where({ isActive: true })
    .whereNull('deletedAt')
    .orderBy('id')
  const subjects = distinctIncidents(incidents)
  const newest = await findNewestSent(
    trx,
    steps.map(({ alert }) => alert),
    subjects,
  )
  const sent = new Set(newest.keys())
  const wereOver = await findNotifiedOfEnds(
    trx,
    subjects.map(({ id }) => id),
  )
  return steps.flatMap(({ alert, rule, step, incident }) =>
    destinations
      .filter(({ id }) => step.destination_ids.includes(id))
      .flatMap(destination => {
        const shown = destination.messages === 'incidents' ? incident : undefined
        const key = `${shown?.id ?? alert.id} ${destination.id}`
        if (sent.has(key)) return []
        sent.add(key)
        const recipient = { alert, destination, ruleIds: [rule.id], postponedUntil: null }
        const wasOver = wereOver.has(key)
        const message = shown ? incidentMessage(recipient, shown, { wasOver }) : openingMessage(recipient)
        return [
          {
            ...message,
            reason: { reason: `Not acknowledged within ${describeMinutes(step.after_minutes)}` },
          },
        ]
      }),
  )
}

function describeMinutes(minutes: number): string {
  if (minutes % 60 !== 0) return minutes === 1 ? 'a minute' : `${minutes} minutes`
  return minutes === 60 ? 'an hour' : `${minutes / 60} hours`
}

/** Makes a step the next one, with the time between it and the one before, or removes the row after the last one. */
async function move(
  trx: Transaction,
  { escalation: { alertId, ruleId, startedAt }, rule }: DueStep,
  step: number,
  from: Date,
): Promise<void> {
  const steps = rule.escalation ?? []
  const next = steps[step]
  if (!next) return removeAll(trx, [{ alertId, ruleId }])
  const waitMs = (next.after_minutes - (steps[step - 1]?.after_minutes ?? 0)) * MINUTE_MS
  const planned = startedAt.getTime() + next.after_minutes * MINUTE_MS
  // After processes were down, steps that were missed do not follow each other at once.
  const dueAt = new Date(Math.max(planned, from.getTime() + waitMs))
  await Escalation.query(trx).where({ alertId, ruleId }).patch({ step, dueAt })
}

async function removeAll(
  trx: Transaction,
  ended: readonly Pick<Escalation, 'alertId' | 'ruleId'>[],
): Promise<void> {
  if (ended.length === 0) return
  await Escalation.query(trx)
    .delete()
    .whereInComposite(
      ['alertId', 'ruleId'],
      ended.map(({ alertId, ruleId }) => [alertId, ruleId]),
    )
}
