import { actorOf, caller, type AnyRequest } from './access.ts'
import { rows, type Transaction } from '../database/database.ts'
import { addressOf } from './limits.ts'

/** An action of a user or a key, as `GET /audit-log` shows it. */
export interface AuditEvent {
  /** `<thing>.<what happened to it>`: `api_key.created`. */
  action: string
  target?: { type: string; id: string }
  /** More details; never a secret. */
  details?: Record<string, unknown>
}

export interface AuditOrigin {
  companyId: string
  /** `user:<id>`, `key:<id>`, `system`, or `cli` for the operator. */
  actor: string
  requestId?: string
  address?: string
}

/** Where a request came from, for events of callers who are not signed in yet. */
export type RequestOrigin = Pick<AuditOrigin, 'requestId' | 'address'>

/**
 * Adds to the audit log of a company, in the transaction of the action: both are stored, or neither is. An
 * entry locks the log of the company until the transaction ends, so add it last.
 * @returns the entry's number in the company's log
 */
export async function audit(trx: Transaction, origin: AuditOrigin, event: AuditEvent): Promise<number> {
  const [entry] = await rows<{ sequence: string }>(
    trx,
    `select audit_append(:companyId, :actor, :action, :type, :id, cast(:details as jsonb), :requestId, :address) as sequence`,
    {
      companyId: origin.companyId,
      actor: origin.actor,
      action: event.action,
      type: event.target?.type ?? null,
      id: event.target?.id ?? null,
      details: JSON.stringify(event.details ?? {}),
      requestId: origin.requestId ?? null,
      address: origin.address ?? null,
    },
  )
  return Number(entry?.sequence)
}

/** Adds any number of events in their order, by one statement. */
export async function auditAll(
  trx: Transaction,
  origin: AuditOrigin,
  events: readonly AuditEvent[],
): Promise<void> {
  if (events.length === 0) return
  const records = events.map(({ action, target, details = {} }, number) => {
    return { number, action, type: target?.type ?? null, id: target?.id ?? null, details }
  })
  // The order is that of the inner SELECT: the function is called for its rows one by one.
  await trx.raw(
    `select count(audit_append(:companyId, :actor, r.action, r.type, r.id, r.details, :requestId, :address)) from (
       select * from jsonb_to_recordset(cast(:records as jsonb)) as
         g(number int, action text, type text, id text, details jsonb) order by number offset 0) r`,
    {
      companyId: origin.companyId,
      actor: origin.actor,
      requestId: origin.requestId ?? null,
      address: origin.address ?? null,
      records: JSON.stringify(records),
    },
  )
}

/** The same for actions of the caller of a request. */
export async function auditRequestAll(
  request: AnyRequest,
  trx: Transaction,
  events: readonly AuditEvent[],
): Promise<void> {
  const who = caller(request)
  const origin = { companyId: who.companyId, actor: actorOf(who), ...requestOrigin(request) }
  await auditAll(trx, origin, events)
}

/**
 * Does work that records events, and stores them when it has ended: an entry locks the log of the company.
 * @param store receives all events, in their order
 */
export async function auditAtEnd<Result>(
  store: (events: readonly AuditEvent[]) => Promise<unknown>,
  work: (record: (event: AuditEvent) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const events: AuditEvent[] = []
  const result = await work(async event => void events.push(event))
  await store(events)
  return result
}

/** Adds an event of an action of the caller of a request. */
export function auditRequest(request: AnyRequest, trx: Transaction, event: AuditEvent): Promise<number> {
  const who = caller(request)
  return audit(trx, { companyId: who.companyId, actor: actorOf(who), ...requestOrigin(request) }, event)
}

/**
 * Makes the audit function of the routes of one kind of resource.
 * @param type of the target; actions are `<type>.<what happened>`
 * @param idOf the id that the API shows of it
 */
export function auditorOf<Thing>(type: string, idOf: (thing: Thing) => string) {
  return (
    request: AnyRequest,
    trx: Transaction,
    happened: string,
    thing: Thing,
    details: object,
  ): Promise<number> =>
    auditRequest(request, trx, {
      action: `${type}.${happened}`,
      target: { type, id: idOf(thing) },
      details: { ...details },
    })
}

export function requestOrigin(request: AnyRequest): RequestOrigin {
  return { requestId: request.info.id, address: addressOf(request, request.server.config.trustProxy) }
}

/** Fields of a body that an event names. */
const MAX_FIELDS = 100

/** The names of what a body gives, never the values: `["name", "connection_config.password"]`. */
export function fieldsOf(body: object): string[] {
  const names = Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.keys(value).map(inner => `${name}.${inner}`)
      : [name],
  )
  return names.slice(0, MAX_FIELDS).map(name => name.slice(0, 200))
}
