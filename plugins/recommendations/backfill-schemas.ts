import Joi from 'joi'
import { held, record } from '../../server/http/envelopes.ts'
import { BACKFILL_DAYS } from './backfill.ts'

const { count } = held

/** Whether new checks are given the past of their tables. */
export const backfillBody = Joi.boolean()
  .strict()
  .default(true)
  .description(
    `Whether new metrics learn the last ${BACKFILL_DAYS} days at once, computed by a job from the time column of their table.`,
  )

/** What computing the past reads. */
export const backfillCost = record({
  days: count,
  tables: count.description('Tables with new metrics and a time column.'),
  statements: count.description('One grouped statement a table.'),
  rows: count.allow(null).description('By the estimates of the catalog; null where it has none.'),
  bytes: count.allow(null).description('In a dry run, where the engine says it.'),
})
  .label('BackfillCost')
  .description('What computing the past of new metrics reads once; zeros where none is computed.')
  .example({ days: 30, tables: 24, statements: 24, rows: 1_204_331, bytes: 180_000_000 })
