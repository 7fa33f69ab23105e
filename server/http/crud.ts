/** The endpoints of a plain resource. */
import type { ServerRoute } from '@hapi/hapi'
import type Joi from 'joi'
import type { Transaction } from '../database/database.ts'
import { access, inCompany, routesOf } from './access.ts'
import { auditorOf, fieldsOf } from './audit.ts'
import { inData, inNestedPage, inPage, removal, reply } from './envelopes.ts'
import type { ErrorCode } from './errors.ts'
import { param } from './input.ts'
import { pagination, type Page } from './page.ts'

/** What `/openapi.json` says of an endpoint. */
interface EndpointWords {
  description: string
  notes: string
  /** The name of the operation, where it does not follow from method and path. */
  id?: string
  errors?: readonly ErrorCode[]
}

/** A resource that is listed, created, read, changed and removed by the functions of its feature. */
export interface Resource<Row extends { id: string }, Shown, Query extends Page, New, Patch extends object> {
  /** Its section in `/openapi.json`. */
  tag: string
  path: string
  /** The key of the path, whose only one is the id. */
  params: Joi.ObjectSchema
  /** One of it, in replies. */
  record: Joi.Schema
  /** The name of a list in `{data: {<name>: […], pagination}}`; without it lists are flat, and one stands in no `data`. */
  listName?: string
  /** The type of the target in the audit log. */
  kind: string
  /** What the audit log says of one that is created or removed. */
  auditDetails(row: Row): Record<string, unknown>
  present(trx: Transaction, rows: readonly Row[]): Shown[] | Promise<Shown[]>
  list: EndpointWords & {
    query: Joi.AnySchema<Query>
    read(trx: Transaction, query: Query): Promise<{ results: Row[]; total: number }>
  }
  create: EndpointWords & { body: Joi.AnySchema<New>; write(trx: Transaction, body: New): Promise<Row> }
  get: EndpointWords & { read(trx: Transaction, id: string): Promise<Row> }
  change: EndpointWords & {
    method: 'PUT' | 'PATCH'
    body: Joi.AnySchema<Patch>
    write(trx: Transaction, id: string, patch: Patch): Promise<Row>
  }
  remove: EndpointWords & {
    /** The sentence of the reply, or its example where it names what was removed. */
    message: string
    messageOf?(row: Row): string
    write(trx: Transaction, id: string): Promise<Row>
  }
}

/** The routes of a resource. Who may read may list and get; who may write, the rest. Entries of the audit log come last. */
export function crud<Row extends { id: string }, Shown, Query extends Page, New, Patch extends object>(
  resource: Resource<Row, Shown, Query, New, Patch>,
): ServerRoute[] {
  const { tag, path, params, record, listName, list, create, get, change, remove } = resource
  const route = routesOf(tag)
  const audit = auditorOf(resource.kind, ({ id }: Row) => id)
  const [idName = ''] = Object.keys((params.describe() as { keys: object }).keys)
  const onePath = `${path}/{${idName}}`
  const one = listName === undefined ? record : inData(record)
  async function present(trx: Transaction, row: Row): Promise<Shown> {
    const [shown] = await resource.present(trx, [row])
    return shown as Shown
  }
  const wrap = (shown: Shown) => (listName === undefined ? (shown as object) : { data: shown })

  return [
    route('GET', path, access.read, {
      ...optionsOf(list),
      validate: { query: list.query },
      response: reply(listName === undefined ? inPage(record) : inNestedPage(record, listName)),
      handler: request =>
        inCompany(request, async trx => {
          const query = request.query as Query
          const { results, total } = await list.read(trx, query)
          const shown = await resource.present(trx, results)
          const page = { [listName ?? 'data']: shown, pagination: pagination(total, query) }
          return listName === undefined ? page : { data: page }
        }),
    }),
    route('POST', path, access.write, {
      ...optionsOf(create),
      validate: { payload: create.body },
      response: reply(one, 201),
      handler: async (request, h) => {
        const shown = await inCompany(request, async trx => {
          const row = await create.write(trx, request.payload as New)
          const made = await present(trx, row)
          await audit(request, trx, 'created', row, resource.auditDetails(row))
          return made
        })
        return h.response(wrap(shown)).code(201)
      },
    }),
    route('GET', onePath, access.read, {
      ...optionsOf(get),
      validate: { params },
      response: reply(one),
      handler: request =>
        inCompany(request, async trx =>
          wrap(await present(trx, await get.read(trx, param(request, idName)))),
        ),
    }),
    route(change.method, onePath, access.write, {
      ...optionsOf(change),
      validate: { params, payload: change.body },
      response: reply(one),
      handler: request =>
        inCompany(request, async trx => {
          const patch = request.payload as Patch
          const row = await change.write(trx, param(request, idName), patch)
          const shown = await present(trx, row)
          await audit(request, trx, 'updated', row, { fields: fieldsOf(patch) })
          return wrap(shown)
        }),
    }),
    route('DELETE', onePath, access.write, {
      ...optionsOf(remove),
      validate: { params },
      response: reply(removal(remove.message)),
      handler: request =>
        inCompany(request, async trx => {
          const row = await remove.write(trx, param(request, idName))
          await audit(request, trx, 'removed', row, resource.auditDetails(row))
          return { data: { success: true, message: remove.messageOf?.(row) ?? remove.message } }
        }),
    }),
  ]
}

function optionsOf({ description, notes, id, errors }: EndpointWords) {
  return { description, notes, ...(id !== undefined && { id }), ...(errors && { app: { errors } }) }
}
