import type { Model } from 'objection'
import type { Transaction } from '../../../server/database/database.ts'
import { fieldsOf, type AuditEvent } from '../../../server/http/audit.ts'
import type { CheckResource } from '../check-resource.ts'
import type { DeclaredChecks, RecordEvent } from './declared-checks.ts'

/** The entry of the audit log for a check that was created or removed. */
export function auditEventOf<Row, Result extends Model>(
  { names, identify, createdDetails }: CheckResource<Row, Result>,
  happened: 'created' | 'removed',
  row: Row,
): AuditEvent {
  const { id, details } = identify(row)
  const more = happened === 'created' ? createdDetails?.(row) : undefined
  return {
    action: `${names.audit}.${happened}`,
    target: { type: names.audit, id },
    details: { ...details, ...more },
  }
}

/** Changes a check and audits it. @returns undefined when it is gone */
export async function changeCheck<Row, Result extends Model>(
  resource: CheckResource<Row, Result>,
  trx: Transaction,
  { row, patch }: { row: Row; patch: object },
  record: RecordEvent,
): Promise<Row | undefined> {
  const changed = await resource.patch(trx, row, patch)
  if (changed === undefined) return undefined
  const { audit: type } = resource.names
  const target = { type, id: resource.identify(changed).id }
  await record({ action: `${type}.updated`, target, details: { fields: fieldsOf(patch) } })
  return changed
}

/** Removes a check and audits it. */
export async function removeCheck<Row, Result extends Model>(
  resource: CheckResource<Row, Result>,
  trx: Transaction,
  row: Row,
  record: RecordEvent,
): Promise<void> {
  await resource.remove(trx, row)
  await record(auditEventOf(resource, 'removed', row))
}

/** Checks with the usual endpoints, as declarations use them. */
export function checksOfResource<Row, Result extends Model>(
  resource: CheckResource<Row, Result>,
): DeclaredChecks {
  const { insert, ...declaration } = resource.declaration
  const createAll: DeclaredChecks['createAll'] = async (trx, checks, record) => {
    const rows = await insert(trx, checks)
    for (const row of rows) await record(auditEventOf(resource, 'created', row))
    return rows.map(row => resource.identify(row).id)
  }
  return {
    ...declaration,
    createAll,
    async create(trx, table, fields, record) {
      const [id] = await createAll(trx, [{ table, fields }], record)
      return id!
    },
    async update(trx, { source, id }, patch, record) {
      const row = await resource.find(trx, { source }, id)
      return row !== undefined && (await changeCheck(resource, trx, { row, patch }, record)) !== undefined
    },
    async remove(trx, { source, id }, record) {
      const row = await resource.find(trx, { source }, id)
      if (row === undefined) return false
      await removeCheck(resource, trx, row, record)
      return true
    },
  }
}
