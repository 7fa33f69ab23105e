import { v7 } from 'uuid'
import type { Transaction } from '../../server/database/database.ts'
import { CHAPTERS, type ChapterName, type OnboardingProgress } from './chapters.ts'
import { Chapter, OnboardingEvent } from './models.ts'
import type { NewOnboardingEvent } from './schemas.ts'
import { databaseNow, timeOf } from '../../server/database/now.ts'

export async function readProgress(trx: Transaction, userId: string): Promise<OnboardingProgress> {
  const stored = new Map((await Chapter.query(trx).where({ userId })).map(row => [row.chapter, row]))
  const chapters = Object.fromEntries(
    CHAPTERS.map(name => {
      const { completedAt = null, currentStep = 0 } = stored.get(name) ?? {}
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

/** Completing a chapter twice keeps the first time. */
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

/** Resets one chapter, or all of them. */
export async function resetProgress(trx: Transaction, userId: string, chapter?: ChapterName): Promise<void> {
  await Chapter.query(trx)
    .delete()
    .where({ userId, ...(chapter && { chapter }) })
}

/** @returns whether the user had completed the chapter before */
export async function recordEvent(
  trx: Transaction,
  userId: string,
  event: NewOnboardingEvent,
): Promise<boolean> {
  const { chapter, event_name: eventName, step = null, properties = {} } = event
  const completed = await Chapter.query(trx).findById([userId, chapter]).whereNotNull('completedAt')
  const isReplay = completed !== undefined
  const id = v7()
  await OnboardingEvent.query(trx).insert({ id, userId, eventName, chapter, step, properties, isReplay })
  return isReplay
}
