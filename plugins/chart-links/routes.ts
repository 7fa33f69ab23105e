import type { Server, ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { auditorOf } from '../../server/http/audit.ts'
import { reply } from '../../server/http/envelopes.ts'
import { bodyOf, param, queryOf } from '../../server/http/input.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import { createLink, findSharedChart, listLinks, revokeLink, type ChartLinkInput } from './links.ts'
import type { ChartLink } from './models.ts'
import { chartPolicy, missingPage, renderChartPage } from './page.ts'
import { linkList, linkParams, newLink, pageParams, replies } from './schemas.ts'

const base = '/api/v1/sdk/chart-links'
const route = routesOf('chart-links')
const audit = auditorOf('chart_link', ({ id }: ChartLink) => id)

export const routes = (server: Server): ServerRoute[] => [
  route('GET', base, access.read, {
    description: 'List the links to charts that have not expired',
    notes: 'The links themselves are shown once, when they are made.',
    validate: { query: linkList },
    response: reply(replies.links),
    handler: request =>
      inCompany(request, async trx => {
        const page = queryOf<Page & { asset_id?: string; check_id?: string }>(request)
        const { results, total } = await listLinks(server, trx, page)
        return { data: { links: results.map(presentLink), pagination: pagination(total, page) } }
      }),
  }),
  route('POST', base, access.write, {
    description: 'Create a link that shows the chart of a check',
    notes:
      'Everyone who has the link sees the name of the check and its table, its values, expected range and anomalies, and nothing else, until it expires or is revoked.',
    validate: { payload: newLink },
    response: reply(replies.created, 201),
    handler: async (request, h) => {
      const data = await inCompany(request, async trx => {
        const { link, token } = await createLink(server, trx, bodyOf<ChartLinkInput>(request))
        const { tableId, checkId, expiresAt } = link
        await audit(request, trx, 'created', link, {
          asset_id: tableId,
          check_id: checkId,
          expires_at: expiresAt,
        })
        return { ...presentLink(link), url: `${server.config.baseUrl}/charts/${token}` }
      })
      return h.response({ data }).code(201)
    },
  }),
  route('DELETE', `${base}/{id}`, access.write, {
    id: 'deleteChartLink',
    description: 'Revoke a link to a chart',
    notes: 'It shows nothing from now on.',
    validate: { params: linkParams },
    response: reply(replies.revoked),
    handler: request =>
      inCompany(request, async trx => {
        const link = await revokeLink(trx, param(request, 'id'))
        await audit(request, trx, 'revoked', link, { asset_id: link.tableId, check_id: link.checkId })
        return { data: { success: true, message: 'The link was revoked' } }
      }),
  }),
  route('GET', '/charts/{token}', access.charts, {
    id: 'getSharedChart',
    description: 'The page of a link to a chart',
    notes: 'For people: the chart of one check, without signing in. A link that has expired is 404.',
    tags: ['api', 'chart-links', 'public'],
    validate: { params: pageParams },
    response: { status: { 200: replies.page, 404: replies.page }, sample: 0 },
    handler: async (request, h) => {
      const chart = await findSharedChart(server, param(request, 'token'))
      return h
        .response(chart ? renderChartPage(chart) : missingPage)
        .code(chart ? 200 : 404)
        .type('text/html')
        .header('Content-Security-Policy', chartPolicy)
        .header('Cache-Control', 'no-store')
        .header('Referrer-Policy', 'no-referrer')
        .header('X-Robots-Tag', 'noindex, nofollow')
    },
  }),
]

function presentLink({ id, tableId, checkId, days, createdAt, expiresAt }: ChartLink) {
  return {
    id,
    asset_id: tableId,
    check_id: checkId,
    days,
    created_at: createdAt,
    expires_at: expiresAt,
  }
}
