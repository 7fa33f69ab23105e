import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { v7 as uuid, validate as isUuid } from 'uuid'
import { audit } from '../../server/http/audit.ts'
import type { Database, Transaction } from '../../server/database/database.ts'
import { apiError, invalidInput } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import { newestFirst, pageOf } from '../../server/http/page.ts'
import { inputErrorsOf, VALIDATION_OPTIONS } from '../../server/http/validation-messages.ts'
import type { CatalogApi } from '../catalog/api.ts'
import { badgeFields } from './fields.ts'
import { Badge } from './models.ts'
import { answerPicture, type BadgePicture } from './picture.ts'
import { badgeUrl, presentBadge, type BadgeRecord } from './present.ts'
import { newBadge, type BadgeListQuery, type BadgePatch, type NewBadge } from './schemas.ts'
import { readStatuses } from './status.ts'

interface BadgesDeps {
  db: Database
  catalog: CatalogApi
  baseUrl: string
}

/** Badges of the companies: `server.plugins.badges`, for the command line, and for features with pictures of their own. */
export function makeBadges({ db, catalog, baseUrl }: BadgesDeps) {
  async function assetColumns(trx: Transaction, given: string) {
    const { source, table } = await catalog.findAsset(trx, given)
    return { assetId: table?.id ?? source.id, sourceId: source.id }
  }

  /** One page of the badges of the company, or of one asset, newest first. */
  async function listBadges(
    trx: Transaction,
    { asset_id: assetId, active_only: isActiveOnly, ...page }: BadgeListQuery,
  ): Promise<{ results: Badge[]; total: number }> {
    const query = Badge.query(trx).orderBy(newestFirst('createdAt', 'id'))
    if (assetId !== undefined) void query.where('assetId', (await assetColumns(trx, assetId)).assetId)
    if (isActiveOnly) void query.where('isActive', true)
    return pageOf(query, page)
  }

  /** Creates a badge; an asset may have several. @throws 404 `ASSET_NOT_FOUND` */
  async function createBadge(trx: Transaction, body: NewBadge): Promise<Badge> {
    const asset = await assetColumns(trx, body.asset_id)
    return Badge.query(trx)
      .insert({ ...columnsOf<Badge>(badgeFields, body), id: uuid(), publicId: randomUUID(), ...asset })
      .returning('*')
  }

  /** Changes the given fields; the URL of the picture stays. @throws 404 `BADGE_NOT_FOUND`, `ASSET_NOT_FOUND` */
  async function changeBadge(trx: Transaction, id: string, patch: BadgePatch): Promise<Badge> {
    const { id: badgeId } = await findBadge(trx, id)
    const asset = patch.asset_id === undefined ? {} : await assetColumns(trx, patch.asset_id)
    const [badge] = await Badge.query(trx)
      .where('id', badgeId)
      .patch({ ...columnsOf<Badge>(badgeFields, patch), ...asset, updatedAt: new Date() })
      .returning('*')
    return badge ?? findBadge(trx, id)
  }

  /** Badges as replies show them, with their status now. */
  async function presentBadges(trx: Transaction, badges: readonly Badge[]): Promise<BadgeRecord[]> {
    const statuses = await readStatuses(catalog, trx, badges)
    return badges.map(badge => presentBadge(badge, statuses.get(badge.id) ?? 'unknown', baseUrl))
  }

  /** The status of a badge, and the URL of its picture. @throws 404 `BADGE_NOT_FOUND` */
  async function readStatus(trx: Transaction, id: string) {
    const badge = await findBadge(trx, id)
    const statuses = await readStatuses(catalog, trx, [badge])
    return { badge_id: badge.id, status: statuses.get(badge.id), badge_url: badgeUrl(badge, baseUrl) }
  }

  /** The picture of an active badge of any company; undefined where there is none. */
  async function readPicture(publicId: string): Promise<BadgePicture | undefined> {
    // The request names no company, so this statement searches all of them; the rest runs as the badge's company.
    const [badge] = await db.statement<Pick<Badge, 'id' | 'label' | 'includeUpstream' | 'companyId'>>(
      'select id, company_id, label, include_upstream from badges where public_id = :publicId and is_active',
      { publicId },
    )
    if (!badge) return undefined
    const statuses = await db.company(badge.companyId, trx => readStatuses(catalog, trx, [badge]))
    return { status: statuses.get(badge.id) ?? 'unknown', label: badge.label }
  }

  /**
   * Returns the newest active badge of an asset that has all given properties; creates it if there is none.
   * @throws 404 `ASSET_NOT_FOUND`, 400 `VALIDATION_ERROR`
   */
  async function ensureBadge(
    companyId: string,
    input: NewBadge,
  ): Promise<{ badge: BadgeRecord; isNew: boolean }> {
    const { value, error } = newBadge.validate(input, { ...VALIDATION_OPTIONS, noDefaults: true })
    if (error) throw invalidInput(inputErrorsOf(error, newBadge))
    return db.company(companyId, async trx => {
      const { assetId } = await assetColumns(trx, value.asset_id)
      const wanted = { ...columnsOf<Badge>(badgeFields, value), assetId }
      const active = await Badge.query(trx)
        .where({ assetId, isActive: true })
        .orderBy(newestFirst('createdAt', 'id'))
      const existing = active.find(badge => hasAll(badge, wanted))
      const badge = existing ?? (await createBadge(trx, value))
      const [record] = await presentBadges(trx, [badge])
      if (!existing) {
        const target = { type: 'badge', id: badge.id }
        const event = { action: 'badge.created', target, details: { asset_id: assetId } }
        await audit(trx, { companyId, actor: 'cli' }, event)
      }
      return { badge: record!, isNew: !existing }
    })
  }

  return {
    answerPicture,
    changeBadge,
    createBadge,
    ensureBadge,
    findBadge,
    listBadges,
    presentBadges,
    readPicture,
    readStatus,
    removeBadge,
  }
}

/** @throws 404 `BADGE_NOT_FOUND`, also for a badge of another company */
async function findBadge(trx: Transaction, id: string): Promise<Badge> {
  const badge = isUuid(id) ? await Badge.query(trx).findById(id.toLowerCase()) : undefined
  if (badge) return badge
  const message = 'There is no such badge: GET /api/v1/sdk/badges lists them'
  throw apiError('BADGE_NOT_FOUND', message, { badge_id: id })
}

/** Removes a badge. @throws 404 `BADGE_NOT_FOUND` */
async function removeBadge(trx: Transaction, id: string): Promise<Badge> {
  const badge = await findBadge(trx, id)
  await Badge.query(trx).deleteById(badge.id)
  return badge
}

function hasAll(badge: Badge, columns: Partial<Badge>): boolean {
  return Object.entries(columns).every(([name, value]) =>
    isDeepStrictEqual(badge[name as keyof Badge], value),
  )
}
