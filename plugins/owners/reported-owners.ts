import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { OwnersApi, ReportedOwners } from './api.ts'
import { isAddress } from './people.ts'

const MAX_NAME_CHARACTERS = 200

/** One statement for what goes and one for what comes, however many tables there are; what stays is not written. */
export const replaceFrom: OwnersApi['replaceFrom'] = async (trx, origin, scope, reported) => {
  const given = {
    companyId: companyOf(trx),
    origin,
    scope: scope.slice(0, MAX_NAME_CHARACTERS),
    owners: JSON.stringify(reported.flatMap(toRecords)),
  }
  const records = `jsonb_to_recordset(cast(:owners as jsonb)) as r (id uuid, table_id uuid, email text, name text)`
  const removed = await rows(
    trx,
    `with given as materialized (select table_id, email, name from ${records})
     delete from ownerships o
      where o.company_id = :companyId and o.origin = :origin and o.scope = :scope
        and (o.table_id, coalesce(o.email, 'name ' || o.name)) not in (
          select table_id, coalesce(email, 'name ' || name) from given)
      returning 1`,
    given,
  )
  const added = await rows(
    trx,
    `insert into ownerships (id, company_id, source_id, table_id, email, name, origin, scope)
     select r.id, :companyId, t.source_id, t.id, r.email, r.name, :origin, :scope
       from ${records} join tables t on t.company_id = :companyId and t.id = r.table_id
     on conflict do nothing returning 1`,
    given,
  )
  return { added: added.length, removed: removed.length }
}

function toRecords({ tableId, owners }: ReportedOwners) {
  return owners.flatMap(({ name, email }) => {
    const address = email?.trim().toLowerCase()
    if (address && isAddress(address)) return { id: v7(), table_id: tableId, email: address, name: null }
    const text = name?.trim().slice(0, MAX_NAME_CHARACTERS)
    if (!text) return []
    return isAddress(text)
      ? { id: v7(), table_id: tableId, email: text.toLowerCase(), name: null }
      : { id: v7(), table_id: tableId, email: null, name: text }
  })
}

/** Reads the owners in the comments of a source's tables, after each discovery. */
export async function readCommentOwners(trx: Transaction, source: { id: string }): Promise<void> {
  const found = await rows<{ id: string; comment: string }>(
    trx,
    `select id, comment from tables
      where company_id = :companyId and source_id = :sourceId and is_active and comment ilike '%owner%'`,
    { companyId: companyOf(trx), sourceId: source.id },
  )
  const reported = found.map(({ id, comment }) => ({ tableId: id, owners: parseOwners(comment) }))
  await replaceFrom(trx, 'comment', source.id, reported)
}

/** `@owner jane@example.com`, `owner: Data Platform, jane@example.com`, `owners=…`, up to the end of the line. */
const OWNER_LINE = /(?:@owners?\b[ \t]*[:=]?|(?<![\w@.-])owners?[ \t]*[:=])[ \t]*([^\n\r;|]+)/giu
const LEADING_ADDRESS = /^[<(]?([^\s@,;<>()"]+@[^\s@,;<>()"]+?)[>)]?[.]?(?=\s|$)/
/** At most five words: more are a sentence about owners. */
const OWNER_NAME = /^@?"?([\p{L}\p{N}][\p{L}\p{N}_.&/+-]*(?: [\p{L}\p{N}&][\p{L}\p{N}_.&/+-]*){0,4})"?$/u
const MAX_OWNERS = 20

/** The owners that a comment names: addresses, and names of teams. */
export function parseOwners(comment: string): { name?: string; email?: string }[] {
  const owners: { name?: string; email?: string }[] = []
  for (const [, list = ''] of comment.matchAll(OWNER_LINE)) {
    for (const part of list.split(/,| and /)) {
      // A sentence may follow.
      const [text = ''] = part.trim().split(/\.(?:\s|$)/)
      const email = LEADING_ADDRESS.exec(part.trim())?.[1]
      const name = OWNER_NAME.exec(text.trim())?.[1]
      if (email) owners.push({ email: email.replace(/\.$/, '') })
      else if (name) owners.push({ name })
      // What comes after a text that is no owner belongs to it.
      if (!email && !name) break
    }
  }
  return owners.slice(0, MAX_OWNERS)
}
