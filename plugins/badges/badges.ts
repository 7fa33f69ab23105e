import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Server } from '@hapi/hapi'
import type { ValidationError } from 'joi'
import { v7 as uuid, validate as isUuid } from 'uuid'
import { audit } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { apiError, invalidInput } from '../../server/http/errors.ts'
import { newestFirst, type Page, pageOf } from '../../server/http/page.ts'
import { inputErrorsOf, VALIDATION_OPTIONS } from '../../server/http/validation-messages.ts'
import type { BadgeInput, BadgesApi } from './api.ts'
import { Badge } from './models.ts'
import { presentBadge } from './present.ts'
import { newBadge } from './schemas.ts'
import { readStatuses } from './status.ts'

/** @throws 404 `BADGE_NOT_FOUND`, also for a badge of another company */
export async function findBadge(trx: Transaction, id: string): Promise<Badge> {
  const badge = isUuid(id) ? await Badge.query(trx).findById(id.toLowerCase()) : undefined
  if (badge) return badge
  const message = 'There is no such badge: GET /api/v1/sdk/badges lists them'
  throw apiError('BADGE_NOT_FOUND', message, { badge_id: id })
}

/** Which badges are listed. */
export interface BadgeListQuery extends Page {
  /** The id or qualified name of a source or a table. */
  asset_id?: string
  active_only: boolean
}

/** One page of the badges of the company, or of one asset, newest first. */
export async function listBadges(
  server: Server,
  trx: Transaction,
  { limit, offset, asset_id: assetId, active_only: isActiveOnly }: BadgeListQuery,
): Promise<{ results: Badge[]; total: number }> {
  const query = Badge.query(trx).orderBy(newestFirst('createdAt', 'id'))
  if (assetId !== undefined) void query.where('assetId', (await assetColumns(server, trx, assetId)).assetId)
  if (isActiveOnly) void query.where('isActive', true)
  return pageOf(query, { limit, offset })
}

/** Creates a badge; an asset may have several. @throws 404 `ASSET_NOT_FOUND` */
export async function createBadge(server: Server, trx: Transaction, input: BadgeInput): Promise<Badge> {
  const asset = await assetColumns(server, trx, input.asset_id)
  return Badge.query(trx)
    .insert({ ...columnsOf(input), id: uuid(), publicId: randomUUID(), ...asset })
    .returning('*')
}

/** Changes the given fields; the URL of the picture stays. @throws 404 `BADGE_NOT_FOUND`, `ASSET_NOT_FOUND` */
export async function changeBadge(
  server: Server,
  trx: Transaction,
  id: string,
  input: Partial<BadgeInput>,
): Promise<Badge> {
  const { id: badgeId } = await findBadge(trx, id)
  const asset = input.asset_id === undefined ? {} : await assetColumns(server, trx, input.asset_id)
  const [badge] = await Badge.query(trx)
    .where('id', badgeId)
    .patch({ ...columnsOf(input), ...asset, updatedAt: new Date() })
    .returning('*')
  return badge ?? findBadge(trx, id)
}

/** Removes a badge. @throws 404 `BADGE_NOT_FOUND` */
export async function removeBadge(trx: Transaction, id: string): Promise<Badge> {
  const badge = await findBadge(trx, id)
  await Badge.query(trx).deleteById(badge.id)
  return badge
}

export async function ensureBadge(
  server: Server,
  companyId: string,
  input: BadgeInput,
): ReturnType<BadgesApi['ensureBadge']> {
  const { value, error } = newBadge.validate(input, { ...VALIDATION_OPTIONS, noDefaults: true }) as {
    value: BadgeInput
    error?: ValidationError
  }
  if (error) throw invalidInput(inputErrorsOf(error, newBadge))
  return server.db.company(companyId, async trx => {
    const { assetId } = await assetColumns(server, trx, value.asset_id)
    const known = await Badge.query(trx)
      .where({ assetId, isActive: true })
      .orderBy('createdAt', 'desc')
      .orderBy('id', 'desc')
    const found = known.find(badge => hasAll(badge, value))
    const badge = found ?? (await createBadge(server, trx, value))
    const status = (await readStatuses(server, trx, [badge])).get(badge.id)
    if (!found) {
      const target = { type: 'badge', id: badge.id }
      const event = { action: 'badge.created', target, details: { asset_id: assetId } }
      await audit(trx, { companyId, actor: 'cli' }, event)
    }
    return { badge: presentBadge(badge, status, server.config.baseUrl), isNew: !found }
  })
}

function hasAll(badge: Badge, input: BadgeInput): boolean {
  const given = Object.entries(columnsOf(input)).filter(([, value]) => value !== undefined)
  return given.every(([name, value]) => isDeepStrictEqual(badge[name as keyof Badge], value))
}

async function assetColumns(server: Server, trx: Transaction, given: string) {
  const { source, table } = await server.plugins.catalog.findAsset(trx, given)
  return { assetId: table?.id ?? source.id, sourceId: source.id }
}

/** Undefined fields keep their value, or take the default of the table. */
function columnsOf(input: Partial<BadgeInput>): Partial<Badge> {
  return {
    label: input.label,
    tagFilters: input.tag_filters,
    schemaDriftEnabled: input.schema_drift_enabled,
    freshnessEnabled: input.freshness_enabled,
    includeUpstream: input.include_upstream,
    isActive: input.is_active,
  }
}
