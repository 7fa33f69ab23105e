import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { UserPreferences } from './models.ts'
import { readProgress, type OnboardingProgress } from './onboarding.ts'
import { databaseNow } from '../../server/database/now.ts'

export interface PreferencesRecord {
  theme: UserPreferences['theme']
  /** The same as in the user's profile. */
  timezone: string
  email_notifications: boolean
  digest: UserPreferences['digest']
  default_asset_id: string | null
  table_page_size: number
  onboarding: OnboardingProgress
  custom: Record<string, unknown>
}

export type PreferencesPatch = Partial<Omit<PreferencesRecord, 'onboarding'>>

/** The same as the defaults of the columns. */
const DEFAULTS = {
  theme: 'system',
  emailNotifications: true,
  digest: 'off',
  defaultAssetId: null,
  tablePageSize: 50,
  custom: {},
} satisfies Partial<UserPreferences>

const DEFAULT_TIMEZONE = 'UTC'

export async function readPreferences(
  server: Server,
  trx: Transaction,
  userId: string,
): Promise<PreferencesRecord> {
  const stored = await UserPreferences.query(trx).findById(userId)
  const { theme, emailNotifications, digest, defaultAssetId, tablePageSize, custom } = stored ?? DEFAULTS
  return {
    theme,
    timezone: await server.plugins.auth.getTimezone(trx, userId),
    email_notifications: emailNotifications,
    digest,
    default_asset_id: await existingAssetId(server, trx, defaultAssetId),
    table_page_size: tablePageSize,
    onboarding: await readProgress(trx, userId),
    custom,
  }
}

async function existingAssetId(server: Server, trx: Transaction, id: string | null): Promise<string | null> {
  if (id === null) return null
  const [known] = await server.plugins.alerts.filterKnownAssets(trx, [id])
  return known ?? null
}

/**
 * Changes the given fields in one statement, so that concurrent changes do not undo each other. `custom` is replaced as
 * a whole.
 * @throws 404 `ASSET_NOT_FOUND` for an unknown default asset
 */
export async function changePreferences(
  server: Server,
  trx: Transaction,
  userId: string,
  patch: PreferencesPatch,
): Promise<void> {
  const { timezone, ...own } = patch
  const changes = await toColumns(server, trx, own)
  if (timezone !== undefined) await server.plugins.auth.setTimezone(trx, userId, timezone)
  const names = Object.keys(changes) as (keyof typeof changes)[]
  if (names.length === 0) return
  await UserPreferences.query(trx)
    .insert({ userId, ...changes, updatedAt: databaseNow() })
    .onConflict('userId')
    .merge([...names, 'updatedAt'])
}

async function toColumns(
  server: Server,
  trx: Transaction,
  patch: Omit<PreferencesPatch, 'timezone'>,
): Promise<Partial<UserPreferences>> {
  const { default_asset_id: assetId } = patch
  const asset = assetId == null ? undefined : await server.plugins.catalog.findAsset(trx, assetId)
  const columns: Partial<UserPreferences> = {
    theme: patch.theme,
    emailNotifications: patch.email_notifications,
    digest: patch.digest,
    tablePageSize: patch.table_page_size,
    custom: patch.custom,
    ...(assetId !== undefined && { defaultAssetId: asset ? (asset.table ?? asset.source).id : null }),
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

/** Restores the defaults; progress in the tour stays. */
export async function resetPreferences(server: Server, trx: Transaction, userId: string): Promise<void> {
  // The same order as in `changePreferences`, so that the two cannot deadlock.
  await server.plugins.auth.setTimezone(trx, userId, DEFAULT_TIMEZONE)
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
