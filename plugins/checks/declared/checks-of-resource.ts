import type { Transaction } from '../../../server/database/database.ts'
import { fieldsOf, type AuditEvent } from '../../../server/http/audit.ts'
import type { AlertsApi } from '../../alerts/api.ts'
import type { CheckResource } from '../check-resource.ts'
import { publicIdOf } from '../kind.ts'
import type { CheckRow, NewRow, TableNames } from '../models.ts'
import {
  changeCheck,
  findCheck,
  insertChecks,
  ownerColumns,
  removeCheck,
  setOwners,
  storeChecks,
} from '../store.ts'
import type { DeclaredChecks, RecordEvent } from './declared-checks.ts'

/** The entry of the audit log for a check that was created or removed. */
export function auditEventOf<Row extends CheckRow>(
  { kind, names, identify, createdDetails }: CheckResource<Row>,
  happened: 'created' | 'removed',
  row: Row,
): AuditEvent {
  const more = happened === 'created' ? createdDetails?.(row) : undefined
  return {
    action: `${names.audit}.${happened}`,
    target: { type: names.audit, id: publicIdOf(kind, row) },
    details: { ...identify(row).details, ...more },
  }
}

/** Changes a check and audits it. @returns undefined when it is gone */
export async function patchCheck<Row extends CheckRow>(
  alerts: AlertsApi,
  resource: CheckResource<Row>,
  trx: Transaction,
  { row, patch }: { row: Row; patch: object },
  record: RecordEvent,
): Promise<(Row & TableNames) | undefined> {
  const { kind, names } = resource
  const changed = await changeCheck(alerts, trx, kind, row, await resource.changeOf(trx, row, patch))
  if (changed === undefined) return undefined
  const target = { type: names.audit, id: publicIdOf(kind, changed) }
  await record({ action: `${names.audit}.updated`, target, details: { fields: fieldsOf(patch) } })
  return changed
}

/** Removes a check and audits it. */
export async function deleteCheck<Row extends CheckRow>(
  alerts: AlertsApi,
  resource: CheckResource<Row>,
  trx: Transaction,
  row: Row,
  record: RecordEvent,
): Promise<void> {
  await removeCheck(alerts, trx, resource.kind, row)
  await record(auditEventOf(resource, 'removed', row))
}

/** Checks with the usual endpoints, as declarations use them. */
export function checksOfResource<Row extends CheckRow>(
  alerts: AlertsApi,
  resource: CheckResource<Row>,
): DeclaredChecks {
  const { kind } = resource
  const { rowsOf, complete, ...declaration } = resource.declaration
  const createAll: DeclaredChecks['createAll'] = async (trx, checks, record) => {
    const rows = await rowsOf(trx, checks)
    const owned = rows.map((row, index) => ({ ...row, ...ownerColumns(checks[index]?.owner) }))
    const stored = await insertChecks(trx, kind.model, owned)
    for (const row of stored) await record(auditEventOf(resource, 'created', row))
    return stored.map(row => publicIdOf(kind, row))
  }
  return {
    ...declaration,
    alertKind: kind.alert.name,
    createAll,
    setOwners: (trx, owned) => setOwners(trx, kind, owned),
    lacking: {
      complete,
      async insertAll(trx, checks, backfillDays) {
        const rows = await rowsOf(trx, checks)
        const learns = (row: NewRow<Row>) => (kind.startState?.(row as Row) ?? null) !== null
        await storeChecks(
          trx,
          kind.model,
          rows.map(row => ({ ...row, backfillDays: learns(row) ? backfillDays : null })),
        )
      },
    },
    async create(trx, table, fields, record) {
      const [id] = await createAll(trx, [{ table, fields }], record)
      return id!
    },
    async update(trx, { source, id }, patch, record) {
      const row = await findCheck(trx, kind, { source }, id)
      return (
        row !== undefined && (await patchCheck(alerts, resource, trx, { row, patch }, record)) !== undefined
      )
    },
    async remove(trx, { source, id }, record) {
      const row = await findCheck(trx, kind, { source }, id)
      if (row === undefined) return false
      await deleteCheck(alerts, resource, trx, row, record)
      return true
    },
  }
}
