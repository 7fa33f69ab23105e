/** What happened to an alert or an incident, and what people wrote about it, as replies show it. */
import Joi from 'joi'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { held, record } from '../../../server/http/envelopes.ts'

/** An entry of a timeline. */
export interface TimelineEntry {
  id: string
  activityType: string
  /** `system`, `user:<id>` or `key:<id>`. */
  actor: string
  metadata: Record<string, unknown>
  createdAt: Date
}

/** The reply schema of an entry. @param types of entries @param label of the schema */
export function activityReply(types: readonly string[], label: string) {
  return record({
    id: held.id.example('0197f5e2-9a10-7b4e-8c11-5d3e7f2a1b91'),
    activity_type: Joi.string()
      .valid(...types)
      .example('comment'),
    actor_type: Joi.string().valid('system', 'user', 'key').example('user'),
    actor_name: held.text.allow(null).description('Null for the program.').example('ann@example.com'),
    actor: Joi.string().description('`system`, `user:<id>` or `key:<id>`.').example('system'),
    metadata: Joi.object()
      .unknown()
      .description('What belongs to its type: the text of a comment, the alerts that joined.')
      .example({ comment: 'The loader was restarted' }),
    created_at: held.time,
  }).label(label)
}

export const commentBody = Joi.object<{ comment: string }>({
  comment: Joi.string().trim().min(1).max(5_000).required(),
})
  .required()
  .example({ comment: 'The loader was restarted' })
  .label('CommentRequest')

/** Entries of a timeline, with the names of who made them. */
export async function presentActivities(trx: Transaction, entries: readonly TimelineEntry[]) {
  const names = await readActorNames(
    trx,
    entries.map(({ actor }) => actor),
  )
  return entries.map(entry => presentActivity(entry, names))
}

/** The names of users and keys, by how histories name them. */
export async function readActorNames(
  trx: Transaction,
  given: readonly string[],
): Promise<Map<string, string>> {
  const actors = [...new Set(given)]
  const idsOf = (kind: string) =>
    actors.flatMap(actor => (actor.startsWith(kind) ? [actor.slice(kind.length)] : []))
  const named = await rows<{ actor: string; name: string }>(
    trx,
    `select 'user:' || id as actor, coalesce(full_name, email) as name from users
      where company_id = :companyId and id = any(cast(:users as uuid[]))
      union all
     select 'key:' || id, name from api_keys
      where company_id = :companyId and id = any(cast(:keys as uuid[]))`,
    { companyId: companyOf(trx), users: idsOf('user:'), keys: idsOf('key:') },
  )
  return new Map(named.map(({ actor, name }) => [actor, name]))
}

/** @param names of actors, by how histories name them */
function presentActivity(entry: TimelineEntry, names: ReadonlyMap<string, string>) {
  const { id, activityType, actor, metadata, createdAt } = entry
  const [kind = ''] = actor.split(':')
  return {
    id,
    activity_type: activityType,
    actor_type: kind === 'user' || kind === 'key' ? kind : 'system',
    actor_name: names.get(actor) ?? null,
    actor,
    metadata,
    created_at: createdAt,
  }
}
