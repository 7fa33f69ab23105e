/** Checks as declarations list them: what a feature offers to those that create, change and remove checks of many kinds. */
import type Joi from 'joi'
import type { Connection } from '../../../connectors/connector.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { AuditEvent } from '../../../server/http/audit.ts'
import type { CheckOwner } from '../../../server/http/check-owner.ts'
import type { Source, Table, TableContext } from '../../catalog/api.ts'
import type { CheckRow, NewRow, OwnerKind } from '../models.ts'

/** The name of a kind that can be declared: `validity`. Extensions add kinds. */
export type CheckKindName = string

/** All fields of a check that bodies set, by their names in the API; null where nothing is set. */
export type CheckFields = Record<string, unknown>

/** A stored check with its table. */
export interface DeclaredCheck {
  /** As the paths of its feature take it: `v_…`, `m_…`, a UUID. */
  id: string
  tableId: string
  /** `catalog.schema.table`. */
  tablePath: string
  /** Whether the last discovery found the table. */
  isTableActive: boolean
  fields: CheckFields
  /** What manages it; null of one by hand. */
  owner: CheckOwner | null
  /** The body that creates the same check, without defaults, and without the path of its table. */
  body: Record<string, unknown>
}

/** A check of a source, by its id. */
export interface CheckRef {
  source: Source
  id: string
}

/** Receives what belongs into the audit log; an entry locks the log, so many are stored at the end of a transaction. */
export type RecordEvent = (event: AuditEvent) => Promise<unknown>

/** Gives a session of the source to a question; it stays open for further ones. */
export type AskEngine = <T>(question: (connection: Connection) => Promise<T>) => Promise<T>

/** A check that is to be stored, with no more of its table than its row needs. */
export interface CheckToStore {
  table: Pick<TableContext, 'source'> & { table: CheckedTable }
  /** All of them. */
  fields: CheckFields
  /** The second table of a check of two; it is looked up by its path where it is not given. */
  otherTable?: CheckedTable
}

/** A table as a row of a check needs it. */
export type CheckedTable = Pick<Table, 'id' | 'name'>

/** A check that is to be created, with the fields that `read` gave. */
export interface NewDeclaredCheck extends CheckToStore {
  table: TableContext
  /** What manages it from now on. */
  owner?: NamedOwner
}

/** What manages a check, as its row says. */
export interface NamedOwner extends CheckOwner {
  kind: OwnerKind
}

/** How one kind of check is listed, created, changed and removed, as its endpoints do it, in the caller's transaction. */
export interface DeclaredChecks {
  kind: CheckKindName
  /** The kind of the alerts that its checks raise, each with its id as the cause. */
  alertKind: string
  /** What `read` takes. */
  body: Joi.ObjectSchema
  /** Fields that no change can set: with another value, it is another check. */
  fixedFields(fields: CheckFields): readonly string[]
  /** Fields that a change can set and only the engine can judge, such as an expression. */
  engineFields: readonly string[]
  /** All checks of a source, in the order of their creation. */
  list(trx: Transaction, source: Source): Promise<DeclaredCheck[]>
  /**
   * Finds the body of a new check good for its table, as its POST does, and fills in what it leaves out. The body is
   * that of the POST without the table, and with `is_active`. Opens transactions of its own.
   * @param asksEngine whether the engine is asked about what only it knows, such as the SQL of a rule; in a session of
   *   its own, or in that of the caller
   * @throws 400 `VALIDATION_ERROR` naming the fields of the body
   */
  read(table: TableContext, body: object, asksEngine: boolean | AskEngine): Promise<CheckFields>
  /**
   * Creates a check; it is due at once.
   * @param fields as `read` gave them
   * @returns its id
   */
  create(trx: Transaction, table: TableContext, fields: CheckFields, record: RecordEvent): Promise<string>
  /** Creates any number of checks, by statements of many where its feature can. @returns their ids, in the same order */
  createAll(trx: Transaction, checks: readonly NewDeclaredCheck[], record: RecordEvent): Promise<string[]>
  /** Says what manages checks that are there. */
  setOwners(trx: Transaction, owned: readonly OwnedCheckId[]): Promise<void>
  /** How checks are created that tables lack; absent of schedules, which their own feature creates in bulk. */
  lacking?: LackingChecks
  /**
   * Changes fields of a check, as its PATCH does.
   * @param changes the fields that differ, none of them fixed
   * @returns false when the check is gone
   */
  update(trx: Transaction, check: CheckRef, changes: CheckFields, record: RecordEvent): Promise<boolean>
  /** Removes a check with its results, as its DELETE does. @returns false when the check is gone */
  remove(trx: Transaction, check: CheckRef, record: RecordEvent): Promise<boolean>
}

/** A check, by the id of `DeclaredCheck`, and what manages it from now on. */
export interface OwnedCheckId {
  id: string
  /** Null of one by hand. */
  owner: NamedOwner | null
}

/** How checks of one kind are created without a look at their tables. */
export interface LackingChecks {
  /**
   * The fields of a new check: those of a body that is good for its table, and what it leaves out.
   * @param otherTable the second table of a check of two
   */
  complete(table: CheckedTable, body: CheckFields, otherTable?: CheckedTable): CheckFields
  /**
   * Stores checks and nothing else; they are due at once.
   * @param backfillDays days of the past that those that learn wait for; null for none
   */
  insertAll(trx: Transaction, checks: readonly CheckToStore[], backfillDays: number | null): Promise<void>
}

/** What a kind of check with the usual endpoints adds to them to become declarable. */
export interface Declaration<Row extends CheckRow>
  extends
    Pick<DeclaredChecks, 'kind' | 'body' | 'fixedFields' | 'engineFields' | 'read'>,
    Pick<LackingChecks, 'complete'> {
  /** As in `DeclaredChecks`; \`owner\` is the \`ownerRef\` of the row. */
  list(trx: Transaction, source: Source): Promise<DeclaredCheck[]>
  /** The rows of new checks, in the same order. */
  rowsOf(trx: Transaction, checks: readonly CheckToStore[]): Promise<NewRow<Row>[]>
}

/** What a check is about: a table, or a column of it, and the type of the check. */
export interface CheckSubject {
  tableId: string
  /** The type of a rule or metric; `referential` and `freshness` for the others. */
  type: string
  column: string | null
}

/** A check that measures nothing from now on: removed, or paused. */
export interface StoppedCheck {
  kind: CheckKindName
  id: string
  how: 'removed' | 'paused'
  /** Null of a metric by groups, which is none of its table or column as a whole. */
  subject: CheckSubject | null
  /** The caller, as the audit log names it. */
  by: string
}

/** Called with each check that a caller stopped, in the transaction that did. */
export type StopListener = (trx: Transaction, source: Source, check: StoppedCheck) => Promise<void>
