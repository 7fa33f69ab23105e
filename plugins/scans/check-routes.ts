import type { Request, Server, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, caller, inCompany } from '../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { apiError } from '../../server/http/errors.ts'
import { bodyOf, param, queryOf } from '../../server/http/input.ts'
import { pageQuery, pagination, type Page } from '../../server/http/page.ts'
import type { CheckResource } from './api.ts'

const assetParams = Joi.object({ asset_id: Joi.string().max(1_000).required() })
const resultQuery = Joi.object(pageQuery({ max: 1_000, fallback: 100 }))

/** The eight endpoints that every kind of check has. */
export function checkRoutes<Row>(server: Server, resource: CheckResource<Row>): ServerRoute[] {
  const { names, schemas, replies, identify } = resource
  const { one, many } = names
  const base = `/api/v1/sdk/${names.path}/{asset_id}`
  const item = `${base}/{${names.id}}`
  const itemParams = assetParams.keys({ [names.id]: schemas.id })
  const tags = ['api', names.path]
  const app = names.errors && { errors: names.errors }

  const audit = auditorOf(names.audit, (row: Row) => identify(row).id)
  const assetIdOf = (request: Request) => param(request, 'asset_id')
  const assetOf = (trx: Transaction, request: Request) =>
    server.plugins.catalog.findAsset(trx, assetIdOf(request))
  /** Throws 404 for a row that never existed, belongs to another company, or was removed meanwhile. */
  const present = <T>(request: Request, found: T | undefined): T => {
    if (found !== undefined) return found
    const details = { [names.id]: param(request, names.id) }
    throw apiError(names.notFound, `There is no such ${one} on this asset`, details)
  }
  const rowOf = async (trx: Transaction, request: Request) =>
    present(request, await resource.find(trx, await assetOf(trx, request), param(request, names.id)))

  return [
    {
      method: 'GET',
      path: `${base}/summary`,
      options: {
        ...access.read,
        description: `Count the ${many} of an asset by their last status`,
        tags,
        validate: { params: assetParams },
        response: replies.summary,
      },
      handler: request =>
        inCompany(request, async trx => ({
          data: await resource.summarize(trx, await assetOf(trx, request)),
        })),
    },
    {
      method: 'GET',
      path: base,
      options: {
        ...access.read,
        description: `List the ${many} of an asset`,
        tags,
        validate: { params: assetParams, query: schemas.list },
        response: replies.list,
      },
      handler: async request => {
        const query = queryOf<Page>(request)
        const { items, total } = await resource.list(caller(request).companyId, assetIdOf(request), query)
        return { data: { items }, pagination: pagination(total, query) }
      },
    },
    {
      method: 'POST',
      path: base,
      options: {
        ...access.write,
        description: `Create a ${one}`,
        tags,
        validate: { params: assetParams, payload: schemas.create },
        response: replies.created,
      },
      handler: async (request, h) => {
        const data = await resource.create(
          caller(request).companyId,
          assetIdOf(request),
          bodyOf(request),
          (trx, row, details) =>
            audit(request, trx, 'created', row, { ...identify(row).details, ...details }),
        )
        return h.response({ data }).code(201)
      },
    },
    {
      method: 'GET',
      path: item,
      options: {
        ...access.read,
        description: `Get a ${one}`,
        tags,
        validate: { params: itemParams, ...(schemas.get && { query: schemas.get }) },
        response: replies.get,
        app,
      },
      handler: request =>
        inCompany(request, async trx => ({
          data: await resource.present(trx, await rowOf(trx, request), queryOf(request)),
        })),
    },
    {
      method: 'PATCH',
      path: item,
      options: {
        ...access.write,
        description: `Change a ${one}`,
        tags,
        validate: { params: itemParams, payload: schemas.patch },
        response: replies.patched,
        app,
      },
      handler: request =>
        inCompany(request, async trx => {
          const patch = bodyOf<object>(request)
          const row = present(request, await resource.patch(trx, await rowOf(trx, request), patch))
          await audit(request, trx, 'updated', row, { fields: fieldsOf(patch) })
          return { data: await resource.present(trx, row, {}) }
        }),
    },
    {
      method: 'DELETE',
      path: item,
      options: {
        ...access.write,
        description: `Remove a ${one} and its ${names.results}`,
        tags,
        validate: { params: itemParams },
        response: replies.removed,
        app,
      },
      handler: request =>
        inCompany(request, async trx => {
          const row = await rowOf(trx, request)
          await resource.remove(trx, row)
          const { title, details } = identify(row)
          await audit(request, trx, 'removed', row, details)
          return { data: { success: true, message: `${title} was removed` } }
        }),
    },
    {
      method: 'POST',
      path: `${item}/${names.run}`,
      options: {
        ...access.write,
        description: `Run a ${one} now`,
        tags,
        validate: { params: itemParams, ...(schemas.run && { payload: schemas.run }) },
        response: replies.run,
        app,
      },
      handler: async request => {
        const row = await inCompany(request, trx => rowOf(trx, request))
        return { data: present(request, await resource.run(row, bodyOf(request))) }
      },
    },
    {
      method: 'GET',
      path: `${item}/${names.results}`,
      options: {
        ...access.read,
        description: `List the ${names.results} of a ${one}, newest first`,
        tags,
        validate: { params: itemParams, query: resultQuery },
        response: replies.results,
        app,
      },
      handler: request =>
        inCompany(request, async trx => {
          const page = queryOf<Page>(request)
          const { items, total } = await resource.listResults(trx, await rowOf(trx, request), page)
          return { data: { items }, pagination: pagination(total, page) }
        }),
    },
  ]
}
