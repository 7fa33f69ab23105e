import Joi from 'joi'
import { exampleRecord, inData, inNestedPage, removal } from '../../server/http/envelopes.ts'
import { createKeys, replyKeys, type CreateBody } from '../../server/http/fields.ts'
import { pageQuery, type Page } from '../../server/http/page.ts'
import { assetId, checkId, linkFields } from './fields.ts'
import type { ChartLink } from './models.ts'

export type NewChartLink = CreateBody<ChartLink, typeof linkFields> & { expires_in_days: number }

export const newLink = Joi.object<NewChartLink>({
  ...createKeys(linkFields),
  expires_in_days: Joi.number()
    .strict()
    .integer()
    .min(1)
    .max(30)
    .default(7)
    .description('After how many days the link shows nothing.'),
})
  .required()
  .example({
    asset_id: 'shop.shop.public.orders',
    check_id: 'm_0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d',
    days: 30,
    expires_in_days: 7,
  })
  .label('CreateChartLinkRequest')

export type ChartLinkQuery = Page & { asset_id?: string; check_id?: string }

export const linkList = Joi.object<ChartLinkQuery>({
  ...pageQuery(),
  asset_id: assetId,
  check_id: checkId,
})

export const linkParams = Joi.object({ id: Joi.string().required().description('The id of a link.') })

export const pageParams = Joi.object({
  token: Joi.string()
    .pattern(/^[A-Za-z0-9_-]{43}$/)
    .required()
    .messages({ 'string.pattern.base': '{{#label}} must be the end of a link' })
    .description('The token of a link.'),
})

const link = exampleRecord(replyKeys(linkFields)).label('ChartLink')
const created = exampleRecord({
  ...replyKeys(linkFields),
  url: Joi.string()
    .description('The link, shown only now: its token is not stored.')
    .example('http://127.0.0.1:8000/charts/3q2-7wEjQ0mYtW5hVv8kq3oH1m0cZb6xR9sT2uV4wXY'),
}).label('CreatedChartLink')

export const replies = {
  created: inData(created),
  links: inNestedPage(link, 'links'),
  revoked: removal('The link was revoked'),
  page: Joi.string().meta({ contentType: 'text/html' }),
}
