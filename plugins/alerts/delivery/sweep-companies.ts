import type { Deps } from '../deps.ts'

/**
 * Runs a step of the sweep for each company with due rows, one after the other. An error of one company is logged and
 * does not affect the others; its rows are due again in the next sweep.
 * @param step its name in the log
 * @returns the sum of the results of `work`, without the companies that failed
 */
export async function sweepCompanies<Row extends { companyId: string }>(
  log: Pick<Deps['log'], 'error'>,
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
