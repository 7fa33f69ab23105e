import { validate as isUuid } from 'uuid'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { invalidField } from '../../server/http/errors.ts'
import { didYouMean, quoteName } from '../../server/http/nearest.ts'

/** A user, a team, or the address of someone without an account; exactly one is set. */
export interface Person {
  userId: string | null
  teamId: string | null
  email: string | null
}

/** As Joi's addresses: enough to separate addresses from names of teams. */
const ADDRESS = /^[^\s@,;<>"]+@[^\s@,;<>"]+$/

export function isAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text)
}

/** Names that an error lists. */
const MAX_CANDIDATES = 5

/**
 * The people that texts name: the id of a user or a team, an address, or the name of a team. The address of a user is
 * that user, so that it goes with them.
 * @param field where they were given; the texts of a list are `field.0`, …
 * @throws 400 for the first text that names none
 */
export async function findPeople(
  trx: Transaction,
  texts: readonly string[],
  field: string,
): Promise<Person[]> {
  const companyId = companyOf(trx)
  const ids = texts.filter(text => isUuid(text))
  const lower = texts.map(text => text.trim().toLowerCase())
  const users = await rows<{ id: string; email: string }>(
    trx,
    `select id, email from users where company_id = :companyId
       and (id = any(cast(:ids as uuid[])) or email = any(cast(:lower as text[])))`,
    { companyId, ids, lower },
  )
  const teams = await rows<{ id: string; name: string }>(
    trx,
    `select id, name from teams where company_id = :companyId
       and (id = any(cast(:ids as uuid[])) or lower(name) = any(cast(:lower as text[])))`,
    { companyId, ids, lower },
  )
  const found = lower.map((text): Person | undefined => {
    const user = users.find(({ id, email }) => id === text || email === text)
    if (user) return { userId: user.id, teamId: null, email: null }
    const team = teams.find(({ id, name }) => id === text || name.toLowerCase() === text)
    if (team) return { userId: null, teamId: team.id, email: null }
    return isAddress(text) ? { userId: null, teamId: null, email: text } : undefined
  })
  const missing = found.indexOf(undefined)
  if (missing === -1) return found as Person[]
  const near = await nearTeams(trx, texts[missing] ?? '')
  const hint = near.length > 0 ? didYouMean(near) : ': GET /api/v1/sdk/teams lists the teams'
  const name = texts.length > 1 ? `${field}.${missing}` : field
  throw invalidField(name, `names no user, team or address: ${quoteName(texts[missing] ?? '')}${hint}`)
}

async function nearTeams(trx: Transaction, text: string): Promise<string[]> {
  const found = await rows<{ name: string }>(
    trx,
    `select name from teams where company_id = :companyId and strpos(lower(name), lower(:start)) = 1
      order by name limit :most`,
    { companyId: companyOf(trx), start: text.slice(0, 3), most: MAX_CANDIDATES },
  )
  return found.map(({ name }) => name)
}

/** What someone is known by. */
export interface Identity {
  /** Users and teams. */
  ids: string[]
  /** In lower case. */
  emails: string[]
  /** Names of teams, in lower case. */
  names: string[]
}

/** All that stands for a person: their user and their address, and the teams that they belong to. */
export async function identityOf(trx: Transaction, { userId, teamId, email }: Person): Promise<Identity> {
  const [found] = await rows<Identity>(
    trx,
    `with person as (
       select id as user_id, email from users where company_id = :companyId and (id = :userId or email = :email)
       union select null, :email where cast(:email as text) is not null),
     team as (
       select id, lower(name) as name from teams where company_id = :companyId and (id = :teamId or id in (
         select m.team_id from team_members m join person p on m.user_id = p.user_id or m.email = p.email
          where m.company_id = :companyId)))
     select array(select cast(user_id as text) from person where user_id is not null
                  union select cast(id as text) from team) as ids,
            array(select distinct email from person) as emails, array(select name from team) as names`,
    { companyId: companyOf(trx), userId, teamId, email },
  )
  return found ?? { ids: [], emails: [], names: [] }
}
