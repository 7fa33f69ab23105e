import { CompanyRow } from '../../server/database/database.ts'

/** The chapters of the onboarding tour, in order. */
export const CHAPTERS = ['connect', 'discover', 'freshness', 'schema'] as const
export type ChapterName = (typeof CHAPTERS)[number]

export const THEMES = ['system', 'light', 'dark'] as const
export const DIGESTS = ['off', 'daily', 'weekly'] as const

/** Without a row, `DEFAULTS` apply. */
export class UserPreferences extends CompanyRow {
  static override tableName = 'user_preferences'
  static override idColumn = 'userId'
  static override jsonAttributes = ['custom']

  declare userId: string
  declare theme: (typeof THEMES)[number]
  declare emailNotifications: boolean
  declare digest: (typeof DIGESTS)[number]
  /** A source or a table, which may have been removed since. */
  declare defaultAssetId: string | null
  declare tablePageSize: number
  declare custom: Record<string, unknown>
  declare updatedAt: Date
}

/** A user's progress in a chapter. Without a row they have not started it. */
export class Chapter extends CompanyRow {
  static override tableName = 'onboarding_chapters'
  static override idColumn = ['userId', 'chapter']

  declare userId: string
  declare chapter: ChapterName
  declare completedAt: Date | null
  declare currentStep: number
  declare updatedAt: Date
}

export class OnboardingEvent extends CompanyRow {
  static override tableName = 'onboarding_events'
  static override jsonAttributes = ['properties']

  declare id: string
  declare userId: string
  declare eventName: string
  declare chapter: ChapterName
  declare step: number | null
  declare properties: Record<string, unknown>
  declare isReplay: boolean
  declare at: Date
}
