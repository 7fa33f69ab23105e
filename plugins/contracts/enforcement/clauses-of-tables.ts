import { companyOf, rows } from '../../../server/database/database.ts'
import type { ContractsApi, TableClause } from '../api.ts'

export const listClauses: ContractsApi['listClauses'] = (trx, tableIds) =>
  rows<TableClause>(
    trx,
    `select d.name as contract, c.title, c.table_id, c.column_name
       from contract_clauses c join data_contracts d on d.company_id = :companyId and d.id = c.contract_id
      where c.company_id = :companyId and c.table_id = any(cast(:tableIds as uuid[])) and c.status <> 'not_enforced'
      order by d.name, c.position`,
    { companyId: companyOf(trx), tableIds: [...tableIds] },
  )
