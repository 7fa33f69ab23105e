import { toApiNames } from '../../../server/http/fields.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'

export interface AuditQuery {
  limit: number
  /** Only entries before this number: `nextBefore` of the previous page. */
  before?: number
  action?: string
  actor?: string
  target_type?: string
  target_id?: string
  from?: Date
  to?: Date
}

/** The other columns are shown as they are. */
interface Row {
  sequence: string
  targetType: string | null
  targetId: string | null
  targetName: string | null
  hash: Buffer
}

/** The name that an entry has for its target. */
const NAME = `coalesce(${['name', 'title', 'email', 'table']
  .map(key => `case when jsonb_typeof(n.details -> '${key}') = 'string' then n.details ->> '${key}' end`)
  .join(', ')})`

// Times grow with the numbers, so a range of time is a range of numbers, whose ends an index finds.
const PAGE_QUERY = `
  select l.*, coalesce(
      (select coalesce(u.full_name, u.email) from users u where u.company_id = :companyId
        and u.id = case when l.actor like 'user:%' then cast(substr(l.actor, 6) as uuid) end),
      (select k.name from api_keys k where k.company_id = :companyId
        and k.id = case when l.actor like 'key:%' then cast(substr(l.actor, 5) as uuid) end),
      -- A removed user has no row; the entry of the removal names them.
      (select coalesce(r.details ->> 'full_name', r.details ->> 'email') from audit_log r
        where r.company_id = :companyId and r.action = 'user.removed'
          and r.target_id = case when l.actor like 'user:%' then substr(l.actor, 6) end
        order by r.sequence desc limit 1)
    ) as actor_name,
    -- Its first entry that has a name, which is nearly always its first entry: others may be many.
    (select ${NAME} from audit_log n where n.company_id = :companyId and n.target_id = l.target_id
      and ${NAME} is not null order by n.sequence limit 1) as target_name
  from (
    select sequence, at, actor, action, target_type, target_id, details, request_id, address, hash
    from audit_log l where l.company_id = :companyId`

/** Only the given conditions go into the query: an unused one would keep an index from being used. */
const CONDITIONS: Record<string, string> = {
  before: 'l.sequence < :before',
  action: 'l.action = :action',
  actor: 'l.actor = :actor',
  targetType: 'l.target_type = :targetType',
  targetId: 'l.target_id = :targetId',
  from: `l.sequence >= (
    select f.sequence from audit_log f where f.company_id = :companyId and f.at >= :from order by f.at, f.sequence limit 1)`,
  to: `l.sequence <= (
    select t.sequence from audit_log t where t.company_id = :companyId and t.at <= :to
    order by t.at desc, t.sequence desc limit 1)`,
}

export async function listAudit(trx: Transaction, query: AuditQuery) {
  const { limit, target_type: targetType, target_id: targetId, ...others } = query
  const given = Object.entries({ ...others, targetType, targetId }).filter(([, value]) => value !== undefined)
  const conditions = given.map(([name]) => ` and ${CONDITIONS[name]}`).join('')
  const found = await rows<Row>(
    trx,
    `${PAGE_QUERY}${conditions} order by l.sequence desc limit :most) l order by l.sequence desc`,
    { ...Object.fromEntries(given), companyId: companyOf(trx), most: limit + 1 },
  )
  const entries = found.slice(0, limit).map(presentEntry)
  return { entries, nextBefore: found.length > limit ? (entries.at(-1)?.id ?? null) : null }
}

function presentEntry({ sequence, targetType, targetId, targetName, hash, ...entry }: Row) {
  const target = targetType === null ? null : { type: targetType, id: targetId, name: targetName }
  return { id: Number(sequence), ...toApiNames(entry), target, hash: hash.toString('hex') }
}

const PROBLEMS = {
  missing: 'an entry is missing',
  changed: 'the entry was changed after it was written',
  unlinked: 'the entry does not follow the one before it',
  cut: 'the log ends before or elsewhere than its last entry',
}

interface ChainLink {
  sequence: string
  hash: Buffer
  previousHash: Buffer
  isOwn: boolean
}

const ENTRIES_PER_BATCH = 5_000
const NO_HASH = Buffer.alloc(0)

/**
 * Verifies the hash chain of a company's log, from its first entry to the one that is last when the call begins.
 * @param inCompany runs a transaction of the company; each batch of entries has its own
 * @returns the verdict as the API shows it; the head, stored elsewhere, later reveals a log that was rewritten as a whole
 */
export async function verifyAudit(inCompany: <T>(work: (trx: Transaction) => Promise<T>) => Promise<T>) {
  const head = await inCompany(readHead)
  let last = { sequence: 0, hash: NO_HASH as Buffer }
  const result = (problem?: keyof typeof PROBLEMS) => ({
    is_whole: !problem,
    entries: last.sequence,
    broken_at: problem ? last.sequence + 1 : null,
    problem: problem ? PROBLEMS[problem] : null,
    head_id: head.sequence,
    head_hash: head.hash.toString('hex'),
  })
  while (last.sequence < head.sequence) {
    const links = await inCompany(trx => readLinks(trx, last.sequence, head.sequence))
    if (links.length === 0) return result('missing')
    for (const link of links) {
      if (Number(link.sequence) !== last.sequence + 1) return result('missing')
      if (!link.isOwn) return result('changed')
      if (!link.previousHash.equals(last.hash)) return result('unlinked')
      last = { sequence: Number(link.sequence), hash: link.hash }
    }
  }
  if (last.hash.equals(head.hash) && !(await inCompany(trx => hasEntriesBeyondHead(trx, head.sequence))))
    return result()
  return result('cut')
}

async function readHead(trx: Transaction): Promise<{ sequence: number; hash: Buffer }> {
  const [head] = await rows<{ sequence: string; hash: Buffer }>(
    trx,
    'select sequence, hash from audit_heads where company_id = :companyId',
    { companyId: companyOf(trx) },
  )
  return { sequence: Number(head?.sequence ?? 0), hash: head?.hash ?? NO_HASH }
}

function readLinks(trx: Transaction, after: number, upTo: number): Promise<ChainLink[]> {
  return rows<ChainLink>(
    trx,
    `select l.sequence, l.hash, l.previous_hash, audit_hash(l) = l.hash as is_own from audit_log l
     where l.company_id = :companyId and l.sequence > :after and l.sequence <= :upTo
     order by l.sequence limit ${ENTRIES_PER_BATCH}`,
    { companyId: companyOf(trx), after, upTo },
  )
}

/** Compares with the current end of the log too: entries that were added meanwhile are no error. */
async function hasEntriesBeyondHead(trx: Transaction, head: number): Promise<boolean> {
  const [found] = await rows<{ strays: boolean }>(
    trx,
    `select exists (select from audit_log l where l.company_id = :companyId and l.sequence > coalesce(
       (select h.sequence from audit_heads h where h.company_id = :companyId), :head)) as strays`,
    { companyId: companyOf(trx), head },
  )
  return found?.strays === true
}
