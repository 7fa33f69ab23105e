import { createHash, randomBytes } from 'node:crypto'
import { v7 as uuid, validate as isUuid } from 'uuid'
import type { Database, Transaction } from '../../server/database/database.ts'
import { apiError, invalidField } from '../../server/http/errors.ts'
import { newestFirst, pageOf } from '../../server/http/page.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { CheckSeries, ChecksApi } from '../checks/api.ts'
import { ChartLink } from './models.ts'
import type { ChartLinkQuery, NewChartLink } from './schemas.ts'

const DAY_MS = 86_400_000

/** Only the hash of a token is stored: a copy of the database opens no chart. */
const hashToken = (token: string) => createHash('sha256').update(token).digest()

/** What the page of a link shows. */
export interface SharedChart {
  series: CheckSeries
  days: number
  expiresAt: Date
}

interface ChartLinksDeps {
  db: Database
  catalog: CatalogApi
  checks: ChecksApi
  baseUrl: string
}

/** Links of the companies that show a chart without signing in. */
export function makeChartLinks({ db, catalog, checks, baseUrl }: ChartLinksDeps) {
  /**
   * Makes a link, and deletes those of the company that have expired.
   * @returns its address, which is known only now
   * @throws 404 `ASSET_NOT_FOUND`, 400 `VALIDATION_ERROR` for a check that the table lacks or that has no chart to show
   */
  async function createLink(
    trx: Transaction,
    { asset_id: assetId, check_id: checkId, days, expires_in_days: lifetimeDays }: NewChartLink,
  ): Promise<{ link: ChartLink; url: string }> {
    const { source, table } = await catalog.findAsset(trx, assetId)
    if (!table) throw invalidField('asset_id', 'must be a table, whose check is shown')
    const series = await checks.readSeries(trx, { tableId: table.id, checkId, days: 1 })
    if (!series) throw invalidField('check_id', `is no check of ${table.qualifiedName}`)
    if (!series.hasSeries) throw invalidField('check_id', 'is a check by groups, which has no single chart')
    if (series.isHidden)
      throw invalidField('check_id', 'would show values of a column that is tagged as personal data')
    await ChartLink.query(trx).where('expiresAt', '<=', new Date()).delete()
    const token = randomBytes(32).toString('base64url')
    const link = await ChartLink.query(trx)
      .insert({
        id: uuid(),
        sourceId: source.id,
        tableId: table.id,
        checkId,
        days,
        tokenHash: hashToken(token),
        expiresAt: new Date(Date.now() + lifetimeDays * DAY_MS),
      })
      .returning('*')
    return { link, url: `${baseUrl}/charts/${token}` }
  }

  /** One page of the links of the company that have not expired, newest first. */
  async function listLinks(
    trx: Transaction,
    { asset_id: assetId, check_id: checkId, ...page }: ChartLinkQuery,
  ): Promise<{ results: ChartLink[]; total: number }> {
    const query = ChartLink.query(trx)
      .where('expiresAt', '>', new Date())
      .orderBy(newestFirst('createdAt', 'id'))
    if (assetId !== undefined) {
      const { source, table } = await catalog.findAsset(trx, assetId)
      void (table ? query.where('tableId', table.id) : query.where('sourceId', source.id))
    }
    if (checkId !== undefined) void query.where({ checkId })
    return pageOf(query, page)
  }

  /** The chart of a token; undefined when the link has expired or was revoked, and when there is nothing to be shown. */
  async function findSharedChart(token: string): Promise<SharedChart | undefined> {
    // The request names no company, so this statement searches all of them; the rest runs as the link's company.
    const [link] = await db.statement<
      Pick<ChartLink, 'companyId' | 'tableId' | 'checkId' | 'days' | 'expiresAt'>
    >(
      `select company_id, table_id, check_id, days, expires_at from chart_links
        where token_hash = :hash and expires_at > now()`,
      { hash: hashToken(token) },
    )
    if (!link) return undefined
    const { companyId, days, expiresAt } = link
    const series = await db.company(companyId, trx => checks.readSeries(trx, link))
    return !series || series.isHidden || !series.hasSeries ? undefined : { series, days, expiresAt }
  }

  return { createLink, findSharedChart, listLinks, revokeLink }
}

/** Revokes a link. @throws 404 `NOT_FOUND`, also for one of another company */
async function revokeLink(trx: Transaction, id: string): Promise<ChartLink> {
  const [link] = isUuid(id) ? await ChartLink.query(trx).where({ id }).delete().returning('*') : []
  if (link) return link
  const message = 'There is no such link: GET /api/v1/sdk/chart-links lists those that have not expired'
  throw apiError('NOT_FOUND', message, { chart_link_id: id })
}
