import { rows } from '../../server/database/database.ts'
import type { CompanyJobs, DeadRecord } from '../../server/jobs/dead-letters.ts'

/** Ids of sources and tables, as the data of jobs names them. */
interface JobData {
  source_id?: string
  table_id?: string
}

/** Dead jobs as the API has them, with the name of the table or source that each is about. */
export async function presentDeadJobs({ trx, companyId }: CompanyJobs, dead: readonly DeadRecord[]) {
  const jobs = dead.map(job => ({ ...job, ...assetOf(job.data), data: withoutMarks(job.data) }))
  const names = await namesOf(
    { trx, companyId },
    jobs.flatMap(({ asset_id: id }) => id ?? []),
  )
  return jobs.map(job => ({ ...job, asset_name: names.get(job.asset_id ?? '') ?? null }))
}

function assetOf(data: object): { asset_id: string | null; asset_type: 'table' | 'source' | null } {
  const { table_id: table, source_id: source } = data as JobData
  if (table !== undefined) return { asset_id: table, asset_type: 'table' }
  return source === undefined
    ? { asset_id: null, asset_type: null }
    : { asset_id: source, asset_type: 'source' }
}

/** Without what the service notes for itself in the data, such as `_crashes`, and the company. */
function withoutMarks(data: object) {
  return Object.fromEntries(
    Object.entries(data).filter(([name]) => !name.startsWith('_') && name !== 'company_id'),
  )
}

async function namesOf(
  { trx, companyId }: CompanyJobs,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const named = await rows<{ id: string; name: string }>(
    trx,
    `select id, qualified_name as name from tables where company_id = :companyId and id = any(cast(:ids as uuid[]))
     union all select id, name from sources where company_id = :companyId and id = any(cast(:ids as uuid[]))`,
    { companyId, ids },
  )
  return new Map(named.map(({ id, name }) => [id, name]))
}
