import type { AnyRequest } from '../../server/http/access.ts'
import type { RouteOptionsResponse } from '@hapi/hapi'
import type Joi from 'joi'
import type { CheckOutcome } from '../../checks/check.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { ErrorCode } from '../../server/http/errors.ts'
import type { Page } from '../../server/http/page.ts'
import type { Asset } from '../catalog/api.ts'
import type { CheckSubject, Declaration } from './declared/declared-checks.ts'
import type { CheckKind } from './kind.ts'
import type { CheckResult, CheckRow, TableNames } from './models.ts'
import type { CheckChange, CheckTotals } from './store.ts'

/** What a reply shows, or the audit log holds, of a check: by the names of the API. The resource's reply schema has more. */
export type ShownFields = Record<string, unknown>

/** A page of a list, as its reply shows it, and how many items there are in all. */
export interface PresentedPage {
  items: ShownFields[]
  total: number
}

/** A kind of check as the API offers it: what its endpoints need to know of it, and do with it. */
export interface CheckResource<Row extends CheckRow> {
  kind: CheckKind<Row>
  names: {
    /** The path segment below `/api/v1/sdk`, and the tag. */
    path: string
    /** As sentences name it: `rule`, `rules`. */
    one: string
    many: string
    /** The path parameter that holds its id. */
    id: string
    /** The last path segments of what runs one and of what that stores. */
    run: string
    results: string
    /** The type of its entries in the audit log. */
    audit: string
    notFound: ErrorCode
    /** The error codes of the endpoints of one, where they do not follow from the parameter's name. */
    errors?: ErrorCode[]
    /** The error codes of what the body of a new one may name beside its table. */
    namedErrors?: ErrorCode[]
  }
  schemas: {
    id: Joi.Schema
    /** By default a page, with `is_active`. */
    list?: Joi.AnySchema<Page>
    create: Joi.AnySchema<object>
    patch: Joi.AnySchema<object>
    get?: Joi.AnySchema<object>
    run?: Joi.AnySchema<object | null>
  }
  /** What makes one for each of several columns. */
  bulk?: { body: Joi.AnySchema<{ column_names: string[] }>; reply: RouteOptionsResponse }
  replies: Record<
    'summary' | 'list' | 'created' | 'get' | 'patched' | 'removed' | 'run' | 'results',
    RouteOptionsResponse
  >
  /** Its name at the start of a sentence, and what the audit log holds of it. */
  identify(row: Row): { title: string; details: ShownFields }
  /** What the audit log holds of a new one besides. */
  createdDetails?(row: Row): ShownFields
  /** What it is about; null of one that is about a part of it only. */
  subjectOf(row: Row): CheckSubject | null
  /** By default the numbers that `totalsReply` describes, by the last word of `names.many`. */
  presentSummary?(totals: CheckTotals, trx: Transaction, asset: Asset): ShownFields | Promise<ShownFields>
  /** By default the checks of the asset, newest first, each as `present` shows it without a query. */
  list?(request: AnyRequest, assetId: string, query: Page): Promise<PresentedPage>
  /** What columns of the checks of that list are, besides `is_active`. */
  listFilter?(query: Page): Record<string, unknown>
  /** @param audit is called in the transaction that stores the row */
  create(
    companyId: string,
    assetId: string,
    body: object,
    audit: (trx: Transaction, row: Row & TableNames) => Promise<unknown>,
  ): Promise<ShownFields>
  present(trx: Transaction, row: Row & TableNames, query: object): ShownFields | Promise<ShownFields>
  /** What a patch changes. @throws 400 `VALIDATION_ERROR` */
  changeOf(trx: Transaction, row: Row, patch: object): CheckChange<Row> | Promise<CheckChange<Row>>
  /** Invalid rows to keep of a run, by its body. */
  sampleLimitOf?(body: object | null): number
  /** Whether the reply shows all columns of these, by its body. */
  wholeRowsOf?(body: object | null): boolean
  presentRun(row: Row, results: CheckResult[], outcome: CheckOutcome): ShownFields
  presentResult(result: CheckResult, row: Row): ShownFields
  /** What a chart of the results needs besides them: fields beside `items`. */
  presentChart?(trx: Transaction, row: Row): Promise<ShownFields>
  /** How declarations of many checks list and create them. */
  declaration: Declaration<Row>
  /** Measures a check that is not stored. */
  dryRun?: {
    body: Joi.AnySchema<Record<string, unknown>>
    reply: RouteOptionsResponse
    measure(companyId: string, body: object): Promise<ShownFields>
  }
}
