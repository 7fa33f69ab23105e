import { CompanyRow } from '../../server/database/database.ts'
import { modelOf } from '../../server/http/fields.ts'
import type { ChapterName } from './chapters.ts'
import { preferenceFields } from './fields.ts'

/** Without a row, the defaults of the fields apply. */
export class UserPreferences extends modelOf(preferenceFields) {
  static override tableName = 'user_preferences'
  static override idColumn = 'userId'
  static override jsonAttributes = ['custom']

  declare userId: string
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
