import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { OwnerLookup } from '../alerts/api.ts'
import { identityBindings, OWNED_ASSETS_QUERY, readOwners } from './effective-owners.ts'
import { findPeople, identityOf } from './people.ts'

/** What alerts ask of owners. */
export const ownerLookup: OwnerLookup = {
  async resolveOwners(trx, owners, field) {
    const people = await findPeople(trx, owners, field)
    return people.map(({ userId, teamId, email }) => userId ?? teamId ?? email ?? '')
  },
  async loadOwnerKeys(trx, assetIds) {
    const owners = await readOwners(trx, assetIds)
    const teamIds = [...owners.values()].flat().flatMap(({ type, id }) => (type === 'team' && id ? id : []))
    const members = Map.groupBy(await listMembers(trx, teamIds), ({ teamId }) => teamId)
    return new Map(
      [...owners].map(([assetId, own]) => [
        assetId,
        new Set(
          own.flatMap(({ id, email }) => [
            ...[id, email].filter(key => key !== null),
            ...(members.get(id ?? '') ?? []).flatMap(member =>
              [member.userId, member.email].filter(key => key !== null),
            ),
          ]),
        ),
      ]),
    )
  },
  ownersOf: readOwners,
  async ownedAssetsQuery(trx, owner) {
    const [person] = await findPeople(trx, [owner], 'owner')
    const identity = await identityOf(trx, person!)
    return {
      text: OWNED_ASSETS_QUERY,
      bindings: { company_id: companyOf(trx), ...identityBindings(identity) },
    }
  },
  async listAddresses(trx, assetId) {
    const owners = (await readOwners(trx, [assetId])).get(assetId) ?? []
    const ids = (type: string) => owners.flatMap(owner => (owner.type === type && owner.id ? owner.id : []))
    const members = await listMembers(trx, ids('team'))
    // An address that dbt or a comment names, and no person of the company gave, gets no mail: a role that can
    // comment on a table could have alerts sent anywhere.
    const given = owners.flatMap(({ type, email, origin }) =>
      type === 'email' && email && origin === 'manual' ? email : [],
    )
    const users = await rows<{ email: string }>(
      trx,
      `select email from users where company_id = :companyId and id = any(cast(:ids as uuid[])) and is_active`,
      { companyId: companyOf(trx), ids: ids('user') },
    )
    const ofTeams = members.flatMap(({ email, isActive }) => (email && isActive ? email : []))
    return [...new Set([...users.map(({ email }) => email), ...ofTeams, ...given])].sort()
  },
}

/** The members of teams, with the user of an address, if there is one. */
function listMembers(trx: Transaction, teamIds: readonly string[]) {
  if (teamIds.length === 0) return Promise.resolve([])
  return rows<{ teamId: string; userId: string | null; email: string | null; isActive: boolean }>(
    trx,
    `select m.team_id, u.id as user_id, coalesce(u.email, m.email) as email, coalesce(u.is_active, true) as is_active
       from team_members m left join users u on u.company_id = :companyId and (u.id = m.user_id or u.email = m.email)
      where m.company_id = :companyId and m.team_id = any(cast(:teamIds as uuid[]))`,
    { companyId: companyOf(trx), teamIds: [...new Set(teamIds)] },
  )
}
