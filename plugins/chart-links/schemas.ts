import Joi from 'joi'
import { exampleRecord, held, inData, inNestedPage, removal } from '../../server/http/envelopes.ts'
import { pageQuery } from '../../server/http/page.ts'

const assetId = Joi.string().max(1_000).description('A table, by its id or qualified name.')
const checkId = Joi.string()
  .max(100)
  .description(
    'The id of a rule, a metric or a referential check, as `GET /api/v1/sdk/checks/{asset_id}` has it.',
  )

export const newLink = Joi.object({
  asset_id: assetId.required(),
  check_id: checkId.required(),
  days: Joi.number()
    .strict()
    .integer()
    .min(1)
    .max(90)
    .default(30)
    .description('How many days the chart goes back.'),
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

export const linkList = Joi.object({ ...pageQuery(), asset_id: assetId, check_id: checkId })

export const linkParams = Joi.object({ id: Joi.string().required().description('The id of a link.') })

export const pageParams = Joi.object({
  token: Joi.string()
    .pattern(/^[A-Za-z0-9_-]{43}$/)
    .required()
    .messages({ 'string.pattern.base': '{{#label}} must be the end of a link' })
    .description('The token of a link.'),
})

const fields = {
  id: held.id.example('019a2f3e-6a51-7c7e-9d0b-3f1c2b4a5d6e'),
  asset_id: held.id.description('The table.').example('6f1c2b4a-5d6e-4c7e-9d0b-3f1c2b4a5d6e'),
  check_id: Joi.string().example('m_0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  days: held.count.example(30),
  created_at: held.time.example('2030-01-15T09:30:00.000Z'),
  expires_at: held.time.example('2030-01-22T09:30:00.000Z'),
}

const link = exampleRecord(fields).label('ChartLink')
const created = exampleRecord({
  ...fields,
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
