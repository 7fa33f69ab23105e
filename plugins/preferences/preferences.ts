import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { databaseNow } from '../../server/database/now.ts'
import { columnsOf, defaultsOf, presentFields, type ReplyOf } from '../../server/http/fields.ts'
import type { AlertsApi } from '../alerts/api.ts'
import type { AuthApi } from '../auth/api.ts'
import type { CatalogApi } from '../catalog/api.ts'
import { preferenceFields } from './fields.ts'
import { UserPreferences } from './models.ts'
import { readProgress } from './onboarding.ts'
import type { PreferencesPatch } from './schemas.ts'

type PreferencesRecord = ReplyOf<UserPreferences, typeof preferenceFields>

const DEFAULTS = columnsOf<UserPreferences>(preferenceFields, defaultsOf(preferenceFields)) as UserPreferences

const DEFAULT_TIMEZONE = 'UTC'

export interface PreferencesDeps {
  alerts: AlertsApi
  auth: AuthApi
  catalog: CatalogApi
}

export async function readPreferences(
  { alerts, auth }: PreferencesDeps,
  trx: Transaction,
  userId: string,
): Promise<PreferencesRecord> {
  const stored = (await UserPreferences.query(trx).findById(userId)) ?? DEFAULTS
  const timezone = await auth.getTimezone(trx, userId)
  const { defaultAssetId: id } = stored
  const [existing = null] = id === null ? [] : await alerts.filterKnownAssets(trx, [id])
  const onboarding = await readProgress(trx, userId)
  return presentFields(preferenceFields, { ...stored, timezone, defaultAssetId: existing, onboarding })
}

/**
 * Changes the given fields in one statement, so that concurrent changes do not undo each other. `custom` is replaced as
 * a whole.
 * @throws 404 `ASSET_NOT_FOUND` for an unknown default asset
 */
export async function changePreferences(
  { auth, catalog }: PreferencesDeps,
  trx: Transaction,
  userId: string,
  patch: PreferencesPatch,
): Promise<void> {
  const changes = columnsOf<UserPreferences>(preferenceFields, patch)
  if (changes.defaultAssetId != null) {
    const { source, table } = await catalog.findAsset(trx, changes.defaultAssetId)
    changes.defaultAssetId = (table ?? source).id
  }
  if (patch.timezone !== undefined) await auth.setTimezone(trx, userId, patch.timezone)
  const names = Object.keys(changes) as (keyof UserPreferences)[]
  if (names.length === 0) return
  await UserPreferences.query(trx)
    .insert({ userId, ...changes, updatedAt: databaseNow() })
    .onConflict('userId')
    .merge([...names, 'updatedAt'])
}

/** Restores the defaults; progress in the tour stays. */
export async function resetPreferences(
  { auth }: PreferencesDeps,
  trx: Transaction,
  userId: string,
): Promise<void> {
  // The same order as in `changePreferences`, so that the two cannot deadlock.
  await auth.setTimezone(trx, userId, DEFAULT_TIMEZONE)
  await UserPreferences.query(trx).deleteById(userId)
}

/** Clears the default asset of all users of the company who chose one of these assets. */
export async function forgetDefaultAsset(trx: Transaction, assetIds: readonly string[]): Promise<void> {
  await rows(
    trx,
    `update user_preferences set default_asset_id = null, updated_at = now()
     where company_id = :companyId and default_asset_id = any(cast(:assetIds as uuid[]))`,
    { companyId: companyOf(trx), assetIds: [...assetIds] },
  )
}

const CUSTOM_PREFIX = 'custom.'

/**
 * A field of the record by name, or a value of `custom` by its key, also written `custom.<key>` in case the record has a
 * field of that name; null for neither.
 */
export function pickPreference(record: PreferencesRecord, key: string): unknown {
  if (Object.hasOwn(record, key)) return record[key as keyof PreferencesRecord]
  const { custom } = record
  if (Object.hasOwn(custom, key)) return custom[key]
  const own = key.startsWith(CUSTOM_PREFIX) ? key.slice(CUSTOM_PREFIX.length) : ''
  return Object.hasOwn(custom, own) ? custom[own] : null
}
