import type { JobContext } from '../../../server/jobs/jobs.ts'

/** What a step of the sweep gets. */
export type SweepContext = Pick<JobContext, 'server' | 'log'>

/**
 * Runs a step of a sweep for each company that has rows to work on, one after the other. An error of one company is
 * logged and leaves the others alone; its rows are due in the next sweep again.
 * @param step what the log calls it
 * @returns the sum of what the step returns, without the companies that failed
 */
export async function sweepCompanies<Row extends { companyId: string }>(
  log: SweepContext['log'],
  step: string,
  due: readonly Row[],
  work: (companyId: string, rows: readonly Row[]) => Promise<number>,
): Promise<number> {
  let count = 0
  for (const [companyId, rows] of Map.groupBy(due, row => row.companyId)) {
    try {
      count += await work(companyId, rows)
    } catch (error) {
      log.error({ err: error, step, company_id: companyId }, 'a step of the sweep failed for a company')
    }
  }
  return count
}
