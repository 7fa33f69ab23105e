import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import { columnsOf, presentFields, type CreateBody, type PatchBody } from '../../../server/http/fields.ts'
import { newestFirst, pageOf, type Page } from '../../../server/http/page.ts'
import type { Deps } from '../deps.ts'
import { findDestination } from '../destinations/destinations.ts'
import { digestFields } from './fields.ts'
import { Digest } from './models.ts'
import { nextTime } from './times.ts'

export type NewDigest = CreateBody<Digest, typeof digestFields>
export type DigestPatch = PatchBody<Digest, typeof digestFields>

type DigestDeps = Pick<Deps, 'types' | 'lookUps'>

const NEWEST_FIRST = newestFirst('createdAt', 'id')

export const listDigests = (trx: Transaction, page: Page) =>
  pageOf(Digest.query(trx).orderBy(NEWEST_FIRST), page)

/** @throws 404 `NOT_FOUND` */
export async function findDigest(trx: Transaction, id: string): Promise<Digest> {
  const digest = await Digest.query(trx).findById(id)
  if (digest) return digest
  const message = 'There is no digest of this id: GET /api/v1/sdk/alerts/digests lists them'
  throw apiError('NOT_FOUND', message, { digest_id: id })
}

/** @throws 404 for a destination that does not exist, 400 for one that takes no digests, or an unknown owner */
export async function createDigest(deps: DigestDeps, trx: Transaction, body: NewDigest): Promise<Digest> {
  await requireTakesDigests(deps, trx, body.destination_id)
  const columns = columnsOf<Digest>(digestFields, body)
  return Digest.query(trx)
    .insert({
      id: v7(),
      ...columns,
      owner: await resolveOwner(deps, trx, body.owner),
      nextRunAt: nextTime(
        { frequency: body.frequency, weekday: body.weekday, sendAt: body.send_at, timezone: body.timezone },
        new Date(),
      ),
    })
    .returning('*')
}

/** Changes what is given. A change of its times, and activating it, counts from now. @throws as `createDigest` */
export async function changeDigest(
  deps: DigestDeps,
  trx: Transaction,
  id: string,
  patch: DigestPatch,
): Promise<Digest> {
  const before = await findDigest(trx, id)
  if (patch.destination_id !== undefined) await requireTakesDigests(deps, trx, patch.destination_id)
  else if (patch.is_active) await requireTakesDigests(deps, trx, before.destinationId)
  const columns = columnsOf<Digest>(digestFields, patch)
  const after = { ...before, ...columns }
  const [changed] = await Digest.query(trx)
    .where({ id })
    .patch({
      ...columns,
      ...(patch.owner !== undefined && { owner: await resolveOwner(deps, trx, patch.owner) }),
      nextRunAt: nextTime(after, new Date()),
      updatedAt: new Date(),
    })
    .returning('*')
  return changed ?? before
}

/** @throws 404 `NOT_FOUND` */
export async function deleteDigest(trx: Transaction, id: string): Promise<Digest> {
  const digest = await findDigest(trx, id)
  await Digest.query(trx).where({ id }).delete()
  return digest
}

export const presentDigests = (digests: readonly Digest[]) =>
  digests.map(digest => presentFields(digestFields, digest))

/** Switches off the digests of removed users and teams: without the owner they would be about everything. */
export async function pauseDigestsOfOwners(trx: Transaction, owners: readonly string[]): Promise<void> {
  await rows(
    trx,
    `update digests set is_active = false, updated_at = now()
      where company_id = :companyId and is_active and owner = any(cast(:owners as text[]))`,
    { companyId: companyOf(trx), owners: [...owners] },
  )
}

/** What a digest stores of an owner that a caller names. @throws 400 for one that is not known */
export async function resolveOwner(
  { lookUps }: Pick<Deps, 'lookUps'>,
  trx: Transaction,
  owner: string | null | undefined,
): Promise<string | null> {
  if (owner == null) return null
  const [resolved] = (await lookUps.owners?.resolveOwners(trx, [owner], 'owner')) ?? []
  return resolved ?? null
}

/** @throws 404 `DESTINATION_NOT_FOUND`, and 400 for one whose type takes no digests */
async function requireTakesDigests(
  { types }: Pick<Deps, 'types'>,
  trx: Transaction,
  id: string,
): Promise<void> {
  const { destinationType } = await findDestination(trx, id)
  if (types.has(destinationType) && types.get(destinationType).composeDigest) return
  const names = types.all().flatMap(({ name, composeDigest }) => (composeDigest ? name : []))
  throw invalidField(
    'destination_id',
    `is a destination of type ${destinationType}, which takes no digests: give one of type ${names.join(', ')}`,
  )
}
