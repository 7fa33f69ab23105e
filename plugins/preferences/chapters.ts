/** The chapters of the onboarding tour, in order. */
export const CHAPTERS = ['connect', 'discover', 'freshness', 'schema'] as const
export type ChapterName = (typeof CHAPTERS)[number]

interface ChapterProgress {
  completed: boolean
  completed_at: Date | null
  current_step: number
}

export interface OnboardingProgress {
  chapters: Record<ChapterName, ChapterProgress>
  /** Completed chapters, in percent. */
  overall_percent: number
  completed: boolean
}
