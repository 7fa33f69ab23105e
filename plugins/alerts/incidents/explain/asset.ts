import type { Transaction } from '../../../../server/database/database.ts'
import type { AssetLookup, LookUps } from '../../api.ts'

/** A source, or a table with its source. @throws 404 `ASSET_NOT_FOUND`; Error where no feature knows assets */
export function findAsset(
  { assets }: Partial<LookUps>,
  trx: Transaction,
  id: string,
): ReturnType<AssetLookup['findAsset']> {
  if (!assets) throw new Error('No feature has connected its look-up of assets')
  return assets.findAsset(trx, id)
}
