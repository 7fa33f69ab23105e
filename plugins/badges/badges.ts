import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Server } from '@hapi/hapi'
import { v7 as uuid, validate as isUuid } from 'uuid'
import { audit } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { apiError, invalidField } from '../../server/http/errors.ts'
import { newestFirst, type Page, pageOf } from '../../server/http/page.ts'
import type { BadgeInput, BadgesApi } from './api.ts'
import { Badge } from './models.ts'
import { presentBadge } from './present.ts'
import { newBadge } from './schemas.ts'
import { statusesOf } from './status.ts'

/** A badge by id. @throws 404 `BADGE_NOT_FOUND`, the same for what never was and what is another company's */
export async function findBadge(trx: Transaction, id: string): Promise<Badge> {
  const badge = isUuid(id) ? await Badge.query(trx).findById(id.toLowerCase()) : undefined
  if (badge) return badge
  throw apiError('BADGE_NOT_FOUND', 'There is no such badge: GET /api/v1/sdk/badges lists them', {
    badge_id: id,
  })
}

/** One page of the company's badges, newest first, and how many there are; of one asset where one is named. */
export async function listBadges(
  server: Server,
  trx: Transaction,
  { limit, offset, asset_id: assetId }: Page & { asset_id?: string },
): Promise<{ results: Badge[]; total: number }> {
  const query = Badge.query(trx).orderBy(newestFirst('createdAt', 'id'))
  if (assetId !== undefined) void query.where('assetId', (await assetOf(server, trx, assetId)).assetId)
  return pageOf(query, { limit, offset })
}

/** Makes a badge; an asset may have several. @throws 404 `ASSET_NOT_FOUND` */
export async function createBadge(server: Server, trx: Transaction, input: BadgeInput): Promise<Badge> {
  const asset = await assetOf(server, trx, input.asset_id)
  return Badge.query(trx)
    .insert({ ...columnsOf(input), id: uuid(), publicId: randomUUID(), ...asset })
    .returning('*')
}

/** Changes what is given; the address of the picture stays. @throws 404 `BADGE_NOT_FOUND`, `ASSET_NOT_FOUND` */
export async function changeBadge(
  server: Server,
  trx: Transaction,
  id: string,
  input: Partial<BadgeInput>,
): Promise<Badge> {
  const { id: badgeId } = await findBadge(trx, id)
  const asset = input.asset_id === undefined ? {} : await assetOf(server, trx, input.asset_id)
  const [badge] = await Badge.query(trx)
    .where('id', badgeId)
    .patch({ ...columnsOf(input), ...asset, updatedAt: new Date() })
    .returning('*')
  return badge ?? findBadge(trx, id)
}

/** Removes a badge: its picture is that of one that never was. @throws 404 `BADGE_NOT_FOUND` */
export async function removeBadge(trx: Transaction, id: string): Promise<Badge> {
  const badge = await findBadge(trx, id)
  await Badge.query(trx).deleteById(badge.id)
  return badge
}

/** `ensure` of what the command line may ask. */
export async function ensureBadge(
  server: Server,
  companyId: string,
  wanted: BadgeInput,
): ReturnType<BadgesApi['ensure']> {
  const { value, error } = newBadge.validate(wanted, { noDefaults: true }) as {
    value: BadgeInput
    error?: Error & { details: { path: (string | number)[]; message: string }[] }
  }
  const [problem] = error?.details ?? []
  if (problem) throw invalidField(problem.path.join('.'), problem.message)
  return server.db.company(companyId, async trx => {
    const { assetId } = await assetOf(server, trx, value.asset_id)
    const known = await Badge.query(trx).where({ assetId }).orderBy('createdAt', 'desc').orderBy('id', 'desc')
    const found = known.find(badge => hasAll(badge, value))
    const badge = found ?? (await createBadge(server, trx, value))
    const status = (await statusesOf(trx, [badge.id])).get(badge.id)
    if (!found) {
      const target = { type: 'badge', id: badge.id }
      const event = { action: 'badge.created', target, details: { asset_id: assetId } }
      await audit(trx, { companyId, actor: 'cli' }, event)
    }
    return { badge: presentBadge(badge, status, server.config.baseUrl), isNew: !found }
  })
}

function hasAll(badge: Badge, wanted: BadgeInput): boolean {
  const given = Object.entries(columnsOf(wanted)).filter(([, value]) => value !== undefined)
  return given.every(([name, value]) => isDeepStrictEqual(badge[name as keyof Badge], value))
}

/** The columns that name an asset. */
async function assetOf(
  server: Server,
  trx: Transaction,
  given: string,
): Promise<{ assetId: string; sourceId: string }> {
  const { source, table } = await server.plugins.catalog.findAsset(trx, given)
  return { assetId: table?.id ?? source.id, sourceId: source.id }
}

/** What is left out stays as it is, or is what the table has for it. */
function columnsOf(input: Partial<BadgeInput>): Partial<Badge> {
  return {
    label: input.label,
    tagFilters: input.tag_filters,
    schemaDriftEnabled: input.schema_drift_enabled,
    freshnessEnabled: input.freshness_enabled,
  }
}
