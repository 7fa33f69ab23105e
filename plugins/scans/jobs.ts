import Joi from 'joi'
import { claimDue } from '../../server/due.ts'
import { hasErrorData } from '../../server/errors.ts'
import type { Job } from '../../server/jobs.ts'
import type { Contribution } from './api.ts'

interface TableJob {
  company_id: string
  table_id: string
}

/** Scans one table for every feature's due checks. */
export const scanJob: Job<TableJob> = {
  name: 'scans.run',
  data: Joi.object({ company_id: Joi.string().guid().required(), table_id: Joi.string().guid().required() }),
  queue: { expireSeconds: 3_900 },
  async work(data, { server }) {
    try {
      return await server.plugins.scans.runTable(data.company_id, data.table_id, 'claimed')
    } catch (error) {
      // Removed since the sweep, with all its checks.
      if (hasErrorData(error) && error.data?.code === 'ASSET_NOT_FOUND') return { checks: 0, statements: 0 }
      throw error
    }
  },
}

/** Claims what is due and sends one job a table, whoever owns its checks, in one transaction. */
export function dispatchScans(contributions: readonly Contribution[]): Job {
  return {
    name: 'scans.dispatch',
    data: Joi.object({}),
    every: '* * * * *',
    work: (_data, { server }) =>
      server.db.system(async trx => {
        const tables = new Map<string, TableJob>()
        for (const { table } of contributions) {
          const due = await claimDue(trx, table, {
            interval: 'check_interval',
            source: 'source_id',
            table: 'table_id',
          })
          for (const { companyId, tableId = '' } of due)
            tables.set(tableId, { company_id: companyId, table_id: tableId })
        }
        for (const data of tables.values())
          await server.jobs.send(scanJob, data, { trx, group: data.company_id })
        return { tables: tables.size }
      }),
  }
}
