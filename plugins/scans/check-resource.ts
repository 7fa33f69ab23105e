import type { Request, RouteOptionsResponse } from '@hapi/hapi'
import type Joi from 'joi'
import type { Model, QueryBuilder } from 'objection'
import type { Readings, Transaction } from '../../server/database/database.ts'
import type { ErrorCode } from '../../server/http/errors.ts'
import type { Page } from '../../server/http/page.ts'
import type { Asset } from '../catalog/api.ts'
import type { CheckSubject, Declaration } from './declared/declared-checks.ts'

/** A page of a list, as its reply shows it, and how many items there are in all. */
export interface PresentedPage {
  items: object[]
  total: number
}

/** A kind of check as the API offers it: what its endpoints need to know of it, and do with it. */
export interface CheckResource<Row, Result extends Model> {
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
  }
  schemas: Record<'id' | 'list' | 'create' | 'patch', Joi.Schema> & { get?: Joi.Schema; run?: Joi.Schema }
  /** What makes one for each of several columns. */
  bulk?: { body: Joi.Schema; reply: RouteOptionsResponse }
  replies: Record<
    'summary' | 'list' | 'created' | 'get' | 'patched' | 'removed' | 'run' | 'results',
    RouteOptionsResponse
  >
  /** Its public id, its name at the start of a sentence, and what the audit log holds of it. */
  identify(row: Row): { id: string; title: string; details: object }
  /** What it is about; null of one that is about a part of it only. */
  subjectOf(row: Row): CheckSubject | null
  /** What the audit log holds of a new one besides. */
  createdDetails?(row: Row): object
  summarize(trx: Transaction, asset: Asset): Promise<object>
  list(request: Request, assetId: string, query: Page): Promise<PresentedPage>
  /** The statements that `list` gives to `readForCaller`, for an asset by UUID. */
  listReadings?(companyId: string, assetId: string, query: Page): Readings<object[]>
  /** @param audit is called in the transaction that stores the row */
  create(
    companyId: string,
    assetId: string,
    body: object,
    audit: (trx: Transaction, row: Row) => Promise<unknown>,
  ): Promise<object>
  find(trx: Transaction, asset: Asset, id: string): Promise<Row | undefined>
  present(trx: Transaction, row: Row, query: object): object | Promise<object>
  /** @returns undefined when the row is gone */
  patch(trx: Transaction, row: Row, patch: object): Promise<Row | undefined>
  remove(trx: Transaction, row: Row): Promise<void>
  /** @returns undefined when the row is gone */
  run(row: Row, body: object | null): Promise<object | undefined>
  /** What is stored of a row, newest first. */
  results(trx: Transaction, row: Row): QueryBuilder<Result, Result[]>
  presentResult(result: Result, row: Row): object
  /** What a chart of the results needs besides them: fields beside `items`. */
  presentChart?(trx: Transaction, row: Row): Promise<object>
  /** How declarations of many checks list and create them. */
  declaration: Declaration<Row>
  /** Measures a check that is not stored. */
  dryRun?: {
    body: Joi.Schema
    reply: RouteOptionsResponse
    measure(companyId: string, body: object): Promise<object>
  }
}
