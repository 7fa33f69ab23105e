/** The users who take care of alerts and incidents. */
import type { Model, QueryBuilder } from 'objection'
import Joi from 'joi'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { held, record } from '../../../server/http/envelopes.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import type { Caller } from '../../../server/http/access.ts'
import { uuid } from '../../../server/http/input.ts'

/** A user as replies and messages name them. */
export interface Assignee {
  id: string
  email: string
  full_name: string | null
}

export const assigneeReply = record({
  id: held.id.example('0196f1c2-0000-7000-8000-000000000001'),
  email: held.text.example('ann@example.com'),
  full_name: held.text.allow(null).example('Ann'),
}).label('Assignee')

export const assigneeInput = uuid.allow(null).description('A user of the company; null for none.')

export const assigneeFilter = Joi.alternatives(uuid, Joi.valid('none', 'me')).description(
  'Assigned to this user; `me` for the caller, `none` for those without one.',
)

/** Keeps rows with an assignee. @param asked as `assigneeFilter` @throws 400 for `me` of a key, which is no user */
export function filterByAssignee<Row extends Model>(
  query: QueryBuilder<Row, Row[]>,
  asked: string | undefined,
  { userId }: Caller,
): void {
  if (asked === undefined) return
  if (asked === 'none') return void query.whereRaw('assignee_id is null')
  if (asked === 'me' && userId === undefined)
    throw invalidField('assignee_id', 'me is a user who is signed in: with a key, give the id of a user')
  void query.whereRaw('assignee_id = ?', [asked === 'me' ? userId! : asked])
}

/** The assignees of some rows, by their ids. */
export async function loadAssignees(
  trx: Transaction,
  assigned: readonly { assigneeId: string | null }[],
): Promise<ReadonlyMap<string, Assignee>> {
  const ids = [...new Set(assigned.flatMap(({ assigneeId }) => assigneeId ?? []))]
  if (ids.length === 0) return new Map()
  const users = await rows<{ id: string; email: string; fullName: string | null }>(
    trx,
    `select id, email, full_name from users where company_id = :companyId and id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids },
  )
  return new Map(users.map(({ id, email, fullName }) => [id, { id, email, full_name: fullName }]))
}

/** What a timeline states of a new assignee. @throws 404 `USER_NOT_FOUND` if there is no such active user */
export async function describeAssignment(
  trx: Transaction,
  assigneeId: string | null,
): Promise<{ assignee_id: string | null; assignee: string | null }> {
  if (assigneeId === null) return { assignee_id: null, assignee: null }
  const [user] = await rows<{ name: string }>(
    trx,
    `select coalesce(full_name, email) as name from users
      where company_id = :companyId and id = :assigneeId and is_active`,
    { companyId: companyOf(trx), assigneeId },
  )
  if (user) return { assignee_id: assigneeId, assignee: user.name }
  throw apiError('USER_NOT_FOUND', 'There is no active user of this id: GET /api/v1/users lists them', {
    user_id: assigneeId,
  })
}
