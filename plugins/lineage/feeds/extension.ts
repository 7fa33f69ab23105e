import { companyOf } from '../../../server/database/database.ts'
import type { AssetExtension } from '../../catalog/api.ts'

/** Rows of removed sources and tables go with them by their keys; ends of runs have none, as nodes are ends too. */
export const feedsExtension: AssetExtension = {
  async forgetAssets(trx, assetIds) {
    await trx.raw(
      `delete from lineage_run_ends where company_id = :companyId and end_id = any(cast(:ids as uuid[]))`,
      { companyId: companyOf(trx), ids: [...assetIds] },
    )
  },
}
