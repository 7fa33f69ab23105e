import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { auditorOf } from '../../server/http/audit.ts'
import { reply } from '../../server/http/envelopes.ts'
import { presentFields } from '../../server/http/fields.ts'
import { param } from '../../server/http/input.ts'
import { pagination } from '../../server/http/page.ts'
import { linkFields } from './fields.ts'
import type { makeChartLinks } from './links.ts'
import type { ChartLink } from './models.ts'
import { chartPolicy, missingPage, renderChartPage } from './page.ts'
import { linkList, linkParams, newLink, pageParams, replies } from './schemas.ts'

const base = '/api/v1/sdk/chart-links'
const route = routesOf('chart-links')
const audit = auditorOf('chart_link', ({ id }: ChartLink) => id)

export const routes = (links: ReturnType<typeof makeChartLinks>): ServerRoute[] => [
  route('GET', base, access.read, {
    description: 'List the links to charts that have not expired',
    notes: 'The links themselves are shown once, when they are made.',
    validate: { query: linkList },
    response: reply(replies.links),
    handler: request =>
      inCompany(request, async trx => {
        const { results, total } = await links.listLinks(trx, request.query)
        const shown = results.map(link => presentFields(linkFields, link))
        return { data: { links: shown, pagination: pagination(total, request.query) } }
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
        const { link, url } = await links.createLink(trx, request.payload)
        const { tableId, checkId, expiresAt } = link
        await audit(request, trx, 'created', link, {
          asset_id: tableId,
          check_id: checkId,
          expires_at: expiresAt,
        })
        return { ...presentFields(linkFields, link), url }
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
        const link = await links.revokeLink(trx, param(request, 'id'))
        await audit(request, trx, 'revoked', link, { asset_id: link.tableId, check_id: link.checkId })
        return { data: { success: true, message: 'The link was revoked' } }
      }),
  }),
  route('GET', '/charts/{token}', access.byAddress({ name: 'charts', perMinute: 60 }), {
    id: 'getSharedChart',
    description: 'The page of a link to a chart',
    notes: 'For people: the chart of one check, without signing in. A link that has expired is 404.',
    tags: ['api', 'chart-links', 'public'],
    validate: { params: pageParams },
    response: { status: { 200: replies.page, 404: replies.page }, sample: 0 },
    handler: async (request, h) => {
      const chart = await links.findSharedChart(param(request, 'token'))
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
