import Joi from 'joi'
import {
  checkRemoval,
  createKeys,
  dryRunKeys,
  exampleRecord,
  held,
  inData,
  inItems,
  managedFields,
  patchKeys,
  reply,
  replyKeys,
  shared,
  statementsReply,
  tablePath,
  totalsReply,
  trialReply,
  warningsReply,
  type CreateBody,
  type Fields,
  type PatchBody,
} from 'tidemark/check-kind'
import type { RowBudget } from './models.ts'

const { count, id, integer, text, time } = held

/** All that bodies set and replies show of a budget. */
export const budgetFields = {
  max_rows: {
    column: 'maxRows',
    body: Joi.number().strict().integer().min(0).required().description('The most rows of the table.'),
    patch: Joi.number().strict().integer().min(0),
    reply: count,
    example: 1_000,
  },
  name: { ...shared.name, example: 'Orders are few' },
  severity: { ...shared.severity, example: 'warning' },
  is_active: { ...shared.isActive, default: true },
  check_interval: shared.interval,
} as const satisfies Fields<RowBudget>

export type NewBudget = CreateBody<RowBudget, typeof budgetFields> & { table_path: string }
export type BudgetPatch = PatchBody<RowBudget, typeof budgetFields>

const newBudget = Joi.object({ table_path: tablePath, ...createKeys(budgetFields) })
  .required()
  .example({ table_path: 'public.orders', max_rows: 1_000 })

/** The body of a budget in a declaration: that of a new one, less its table. */
export const declaredBudget = newBudget.keys({ table_path: Joi.forbidden() })

export const schemas = {
  id: Joi.string().max(100).required(),
  create: newBudget,
  patch: Joi.object(patchKeys(budgetFields)).required().example({ max_rows: 2_000 }),
  run: Joi.object({}).allow(null).example({}),
}

export const dryRunBody = newBudget
  .keys({ asset_id: dryRunKeys.asset_id })
  .example({ asset_id: 'shop', table_path: 'public.orders', max_rows: 1_000 }, { override: true })

const status = Joi.valid('pass', 'fail', 'error')
const budgetId = Joi.string().example('b_0196f2ee-0102-7304-8506-0708090a0b0c')

const budget = exampleRecord({
  id: budgetId,
  asset_id: id.description('The table.').example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  table_path: text.example('shop.public.orders'),
  ...replyKeys(budgetFields),
  status: status.allow(null).example(null),
  ...managedFields,
}).label('RowBudget')

const measured = {
  status: status.example('pass'),
  rows: count.allow(null).example(120),
  error_message: text.allow(null).example(null),
}

const result = exampleRecord({
  id: integer.example(7),
  ...measured,
  checked_at: time.example('2026-03-09T08:15:04.000Z'),
}).label('RowBudgetResult')

const dryRun = exampleRecord({
  sql: statementsReply.example([{ text: 'select count(*) from "public"."orders"', values: [] }]),
  ...measured,
  ...trialReply,
  warnings: warningsReply,
}).label('RowBudgetDryRun')

export const replies = {
  summary: reply(inData(totalsReply('budgets', 'RowBudgetSummary'))),
  list: reply(inItems(budget)),
  created: reply(inData(budget), 201),
  get: reply(inData(budget)),
  patched: reply(inData(budget)),
  removed: reply(checkRemoval('Row budget Orders are few was removed')),
  run: reply(inData(result)),
  results: reply(inItems(result)),
}

export const dryRunReply = reply(inData(dryRun))
