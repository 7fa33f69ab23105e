/** Deletes rows that have become too old. */
import Joi from 'joi'
import type { Server } from '@hapi/hapi'
import type { Job } from '../jobs/job.ts'
import type { Config } from '../settings/config.ts'
import { deleteFirst, prune, type Pace } from './prune.ts'

/** How long the rows of a table are kept. A feature adds its own to `server.retention`. */
export interface Retention {
  table: string
  /** The time from which rows age: a column with an index, or an expression on small tables. */
  column: string
  /** Days, or how many of them the settings say; 0 where the time is that of expiry. */
  days: number | ((config: Config) => number)
  /** What else holds for rows that are deleted. */
  where?: string
}

/** The hour, UTC, in which rows are deleted that are kept for longer than a day. */
const QUIET_HOUR = 3

/** Each table is pruned whatever becomes of the others. */
export const expireRowsJob: Job = {
  name: 'rows.expire',
  data: Joi.object({}),
  every: '43 * * * *',
  queue: { expireSeconds: 3_600 },
  concurrency: { local: 1 },
  work: (_data, { server, signal }) =>
    expireRows(server, { signal, ...(new Date().getUTCHours() !== QUIET_HOUR && { maxDays: 1 }) }),
}

/**
 * Deletes rows that are too old, of all companies, until the signal says to stop.
 * @param options.maxDays leaves tables to the next time whose rows are kept for longer
 * @returns how many, by table
 * @throws AggregateError with what went wrong, after all tables
 */
export async function expireRows(
  { db, config, retention }: Pick<Server, 'db' | 'config' | 'retention'>,
  { maxDays = Infinity, ...pace }: Pace & { maxDays?: number } = {},
): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {}
  const errors: unknown[] = []
  for (const { table, column, days: kept, where = 'true' } of retention) {
    const days = typeof kept === 'number' ? kept : kept(config)
    if (days > maxDays) continue
    const condition = `${column} < now() - make_interval(days => :days) and ${where}`
    try {
      const count = await prune(db.system, deleteFirst(table, column, condition), { days }, pace)
      if (count > 0) deleted[table] = count
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `Rows were not deleted: ${errors.join('; ')}`)
  return deleted
}
