import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { moveTimes } from '../../server/database/move-times.ts'
import type { DemoPast } from './demo-api.ts'
import type { Deps } from './deps.ts'
import { addComment, moveIncident, patchIncident } from './incidents/lifecycle/actions.ts'
import { Incident } from './incidents/models.ts'
import { updateIncidents } from './incidents/update.ts'
import { Alert } from './models.ts'

export function makeDemoPast(deps: Deps): DemoPast {
  return {
    async group(trx, since) {
      // What is news was over when it came, and belongs to no incident.
      const changed = await rows<{ id: string }>(
        trx,
        `select id from alerts
          where company_id = :companyId
            and (created_at >= :since and resolved_at is null or created_at < :since and resolved_at >= :since)`,
        { companyId: companyOf(trx), since },
      )
      if (changed.length === 0) return []
      const ids = changed.map(({ id }) => id)
      await updateIncidents(deps, trx, ids)
      const open = await rows<{ id: string }>(
        trx,
        `select id from incidents i
          where company_id = :companyId and status = 'open' and exists (
            select from incident_alerts a
             where a.company_id = :companyId and a.incident_id = i.id and a.alert_id = any(cast(:ids as uuid[])))
          order by id`,
        { companyId: companyOf(trx), ids },
      )
      return open.map(({ id }) => id)
    },
    async clear(trx) {
      // Histories, timelines and messages go with them.
      await Incident.query(trx).delete()
      await Alert.query(trx).delete()
    },
    async act(companyId, incidentId, actor, { to, reason = null, resolution, ...step }) {
      const { comment, assigneeId, postMortem } = step
      if (to) await moveIncident(deps, companyId, incidentId, { to, actor, reason, resolution })
      if (!comment && !assigneeId && !postMortem) return
      await deps.db.company(companyId, async trx => {
        if (comment) await addComment(trx, incidentId, { actor, comment })
        if (assigneeId) await patchIncident(trx, incidentId, { assignee_id: assigneeId }, actor)
        if (postMortem) await patchIncident(trx, incidentId, { post_mortem: postMortem }, actor)
      })
    },
    move,
    moveAttempts,
  }
}

/** Columns with times, by table. */
const TIMES = {
  alerts: ['created_at', 'last_seen_at', 'resolved_at'],
  alert_history: ['at'],
  incidents: ['created_at', 'last_alert_at', 'acknowledged_at', 'resolved_at'],
  incident_alerts: ['joined_at'],
  incident_activities: ['created_at'],
  alert_rules: ['created_at', 'updated_at'],
  destinations: ['created_at', 'updated_at'],
}

async function move(trx: Transaction, since: Date, to: Date): Promise<void> {
  const scope = { companyId: companyOf(trx), since, seconds: (to.getTime() - since.getTime()) / 1_000 }
  await moveCauses(trx, since, to)
  await moveTimes(trx, TIMES, since, to)
  await rows(trx, MOVE_DELIVERIES, scope)
}

/** Messages state when their alert was opened, or ended, to the minute. */
const MINUTE = (time: string) => `to_char((${time}) at time zone 'UTC', 'YYYY-MM-DD HH24:MI')`
const MOVE_DELIVERIES = `
  update deliveries
     set created_at = created_at + make_interval(secs => :seconds),
         body = replace(body, ${MINUTE('created_at')}, ${MINUTE('created_at + make_interval(secs => :seconds)')})
   where company_id = :companyId and created_at >= :since`

/** The cause of an incident, and what speaks for it, name their times. */
async function moveCauses(trx: Transaction, since: Date, to: Date): Promise<void> {
  const changed = await Incident.query(trx).where('lastAlertAt', '>=', since)
  const lag = to.getTime() - since.getTime()
  const moved = <Item extends { at: string }>(item: Item): Item => {
    const at = new Date(item.at)
    return at < since ? item : { ...item, at: new Date(at.getTime() + lag).toISOString() }
  }
  for (const { id, cause } of changed) {
    const evidence = cause.evidence.map(moved)
    await Incident.query(trx)
      .findById(id)
      .patch({ cause: moved({ ...cause, evidence }) })
  }
}

/** When a row was made, by its id: the first 48 bits are milliseconds. https://www.rfc-editor.org/rfc/rfc9562#section-5.7 */
const MADE_AT = `to_timestamp(('x' || lpad(left(replace(d.id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0)`

async function moveAttempts(trx: Transaction): Promise<number> {
  const companyId = companyOf(trx)
  const [left] = await rows<{ pending: number }>(
    trx,
    `select count(*)::int as pending from deliveries
      where company_id = :companyId and status = 'pending' and created_at < now() - interval '1 hour'`,
    { companyId },
  )
  if (left!.pending > 0) return left!.pending
  const lagging = `d.company_id = :companyId and d.created_at < ${MADE_AT} - interval '1 hour'`
  await rows(
    trx,
    `update delivery_attempts a set started_at = a.started_at - (${MADE_AT} - d.created_at),
            ended_at = a.ended_at - (${MADE_AT} - d.created_at)
       from deliveries d where d.id = a.delivery_id and a.company_id = :companyId and ${lagging}
        and a.started_at > d.created_at + interval '1 hour'`,
    { companyId },
  )
  await rows(
    trx,
    `update deliveries d set completed_at = d.completed_at - (${MADE_AT} - d.created_at)
      where ${lagging} and d.completed_at > d.created_at + interval '1 hour'`,
    { companyId },
  )
  return 0
}
