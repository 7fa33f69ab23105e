import { v7 } from 'uuid'
import { defineCap, enforceCap } from '../../../server/database/company-caps.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { pagination, type Page } from '../../../server/http/page.ts'
import { findAlert, noAlert } from '../lifecycle/find-alert.ts'
import { lockAlert } from '../locks.ts'
import { Alert, AlertActivity } from '../models.ts'
import { describeAssignment } from './assignee.ts'
import { presentActivities, type TimelineEntry } from './timeline.ts'

/** Entries of the timeline of an alert: its transitions, and what people did beside them. */
export const ALERT_ACTIVITY_TYPES = [
  'opened',
  'acknowledged',
  'snoozed',
  'reopened',
  'resolved',
  'dismissed',
  'comment',
  'assigned',
] as const

const COMMENT_CAP = defineCap({
  name: 'alert_comments',
  table: 'alert_activities',
  most: 1_000,
  what: 'comments on one alert',
  advice: 'go on in its incident or in a ticket',
  condition: `activity_type = 'comment' and alert_id = :within`,
})

/** Assigns an alert to a user, or to none. @throws 404 `ALERT_NOT_FOUND`, 404 `USER_NOT_FOUND` */
export async function assignAlert(
  trx: Transaction,
  id: string,
  { assigneeId, actor }: { assigneeId: string | null; actor: string },
): Promise<Alert> {
  const metadata = await describeAssignment(trx, assigneeId)
  const alert = await lockAlert(trx, id)
  if (!alert) throw noAlert(id)
  if (alert.assigneeId === assigneeId) return alert
  await Alert.query(trx).where({ id }).patch({ assigneeId })
  await addActivity(trx, { alertId: id, activityType: 'assigned', actor, metadata })
  return alert.$set({ assigneeId })
}

/** Adds a comment to the timeline of an alert. @throws 404 `ALERT_NOT_FOUND`, 409 `LIMIT_REACHED` */
export async function addAlertComment(
  trx: Transaction,
  id: string,
  { actor, comment }: { actor: string; comment: string },
) {
  await findAlert(trx, id)
  const added = await addActivity(trx, {
    alertId: id,
    activityType: 'comment',
    actor,
    metadata: { comment },
  })
  await enforceCap(trx, companyOf(trx), COMMENT_CAP, id)
  const [shown] = await presentActivities(trx, [added])
  return shown!
}

async function addActivity(
  trx: Transaction,
  activity: Pick<AlertActivity, 'alertId' | 'activityType' | 'actor' | 'metadata'>,
): Promise<AlertActivity> {
  return AlertActivity.query(trx)
    .insert({ id: v7(), ...activity })
    .returning('*')
}

/** One page of the timeline of an alert, newest first. @throws 404 `ALERT_NOT_FOUND` */
export async function listAlertActivities(trx: Transaction, id: string, page: Page) {
  await findAlert(trx, id)
  const activities = await readAlertActivities(trx, id, page)
  const [{ total } = { total: 0 }] = await rows<{ total: number }>(
    trx,
    `select count(*)::int as total from (${TIMELINE}) entries`,
    { companyId: companyOf(trx), id },
  )
  return { activities, pagination: pagination(total, page) }
}

/** Entries of the timeline of an alert as replies show them, newest first. */
export async function readAlertActivities(trx: Transaction, id: string, { limit, offset }: Page) {
  const entries = await rows<TimelineEntry>(
    trx,
    `${TIMELINE} order by created_at desc, place desc limit :limit offset :offset`,
    { companyId: companyOf(trx), id, limit, offset },
  )
  return presentActivities(trx, entries)
}

/** The ids of transitions are numbers: hashed, they look like all others. `place` orders transitions of one moment. */
const TIMELINE = `
  select md5('transition ' || id)::uuid as id, id as place, actor, at as created_at,
         case when from_status is null then 'opened' when to_status = 'triggered' then 'reopened' else to_status end
           as activity_type,
         jsonb_strip_nulls(jsonb_build_object('reason', reason, 'until', snoozed_until)) || coalesce(resolution, '{}')
           as metadata
    from alert_history where company_id = :companyId and alert_id = :id
   union all
  select id, 0, actor, created_at, activity_type, metadata
    from alert_activities where company_id = :companyId and alert_id = :id`
