import { v7 } from 'uuid'
import type { Transaction } from '../../server/database/database.ts'
import { Chapter, CHAPTERS, OnboardingEvent, type ChapterName } from './models.ts'
import { databaseNow, timeOf } from '../../server/database/now.ts'

/** How far a user is in a chapter. */
export interface ChapterProgress {
  completed: boolean
  completed_at: Date | null
  current_step: number
}

/** How far a user is in the tour. */
export interface OnboardingProgress {
  chapters: Record<ChapterName, ChapterProgress>
  /** Completed chapters of a hundred. */
  overall_percent: number
  completed: boolean
}

/** How far a user is. */
export async function readProgress(trx: Transaction, userId: string): Promise<OnboardingProgress> {
  const kept = new Map((await Chapter.query(trx).where({ userId })).map(row => [row.chapter, row]))
  const chapters = Object.fromEntries(
    CHAPTERS.map(name => {
      const { completedAt = null, currentStep = 0 } = kept.get(name) ?? {}
      return [name, { completed: completedAt !== null, completed_at: completedAt, current_step: currentStep }]
    }),
  ) as OnboardingProgress['chapters']
  const done = CHAPTERS.filter(name => chapters[name].completed).length
  return {
    chapters,
    overall_percent: Math.round((100 * done) / CHAPTERS.length),
    completed: done === CHAPTERS.length,
  }
}

/** Marks a chapter as completed, or as not; completed twice, it stays completed since the first time. */
export async function markChapter(
  trx: Transaction,
  userId: string,
  { chapter, completed }: { chapter: ChapterName; completed: boolean },
): Promise<void> {
  const now = databaseNow()
  await Chapter.query(trx)
    .insert({ userId, chapter, completedAt: completed ? now : null, updatedAt: now })
    .onConflict(['userId', 'chapter'])
    .merge({
      completedAt: completed ? timeOf('coalesce(onboarding_chapters.completed_at, now())') : null,
      updatedAt: now,
    })
}

/** Keeps where in a chapter a user is, to go on from there. */
export async function saveStep(
  trx: Transaction,
  userId: string,
  { chapter, step }: { chapter: ChapterName; step: number },
): Promise<void> {
  await Chapter.query(trx)
    .insert({ userId, chapter, currentStep: step, updatedAt: databaseNow() })
    .onConflict(['userId', 'chapter'])
    .merge(['currentStep', 'updatedAt'])
}

/** Starts one chapter over, or all. What the user made on the way stays. */
export async function resetProgress(trx: Transaction, userId: string, chapter?: ChapterName): Promise<void> {
  await Chapter.query(trx)
    .delete()
    .where({ userId, ...(chapter && { chapter }) })
}

/** The body of an event, validated. */
export interface NewOnboardingEvent {
  event_name: string
  chapter: ChapterName
  step?: number
  properties?: Record<string, unknown>
}

/** Keeps what a user did. @returns whether they did it in a chapter that they had completed already */
export async function recordEvent(
  trx: Transaction,
  userId: string,
  event: NewOnboardingEvent,
): Promise<boolean> {
  const { chapter, event_name: eventName, step = null, properties = {} } = event
  const completed = await Chapter.query(trx).findById([userId, chapter]).whereNotNull('completedAt')
  const isReplay = completed !== undefined
  await OnboardingEvent.query(trx).insert({
    id: v7(),
    userId,
    eventName,
    chapter,
    step,
    properties,
    isReplay,
  })
  return isReplay
}
