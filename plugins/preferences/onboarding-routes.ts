import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany } from '../../server/http/access.ts'
import type { Transaction } from '../../server/database/database.ts'
import { bodyOf } from '../../server/http/input.ts'
import { envelope } from '../../server/http/replies.ts'
import type { ChapterName } from './models.ts'
import {
  markChapter,
  readProgress,
  recordEvent,
  resetProgress,
  saveStep,
  type NewOnboardingEvent,
} from './onboarding.ts'
import { replies } from './replies.ts'
import { schemas } from './schemas.ts'

const tags = ['api', 'onboarding']
const path = '/api/v1/auth/preferences/onboarding'

/**
 * How far the signed-in user is in the tour. The audit log is not told: these are notes to themselves, of which only
 * they see anything.
 */
export const onboardingRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path,
    options: {
      ...access.session,
      description: 'How far the user is in each chapter of the tour, and in all',
      tags,
      validate: { query: schemas.none },
      response: replies.progress,
    },
    handler: request => replyWithProgress(request, async () => undefined),
  },
  {
    method: 'PATCH',
    path,
    options: {
      ...access.session,
      description: 'Mark a chapter as completed, or as not',
      tags,
      validate: { payload: schemas.chapter, query: schemas.none },
      response: replies.progress,
    },
    handler: request =>
      replyWithProgress(request, (trx, userId) => markChapter(trx, userId, bodyOf(request))),
  },
  {
    method: 'PATCH',
    path: `${path}/step`,
    options: {
      ...access.session,
      description: 'Keep where in a chapter the user is, to go on from there',
      tags,
      validate: { payload: schemas.step, query: schemas.none },
      response: replies.progress,
    },
    handler: request => replyWithProgress(request, (trx, userId) => saveStep(trx, userId, bodyOf(request))),
  },
  {
    method: 'POST',
    path: `${path}/reset`,
    options: {
      ...access.session,
      description: 'Start a chapter over, or all of them',
      notes: 'Deletes nothing that the user has made.',
      tags,
      validate: { payload: schemas.reset, query: schemas.none },
      response: replies.progress,
    },
    handler: request =>
      replyWithProgress(request, (trx, userId) =>
        resetProgress(trx, userId, bodyOf<{ chapter?: ChapterName } | null>(request)?.chapter),
      ),
  },
  {
    method: 'POST',
    path: `${path}/events`,
    options: {
      ...access.sessionCounted,
      description: 'Tell what the user did in the tour',
      notes: 'Kept for 90 days. Whether they did it after they had completed the chapter is found out here.',
      tags,
      validate: { payload: schemas.event, query: schemas.none },
      response: replies.tracked,
    },
    handler: request =>
      inCompany(request, async trx => {
        const userId = caller(request).userId as string
        return envelope({ is_replay: await recordEvent(trx, userId, bodyOf<NewOnboardingEvent>(request)) })
      }),
  },
]

/** Does something with the caller's progress and answers with how far they are then. */
function replyWithProgress(request: Request, work: (trx: Transaction, userId: string) => Promise<void>) {
  const userId = caller(request).userId as string
  return inCompany(request, async trx => {
    await work(trx, userId)
    return envelope(await readProgress(trx, userId))
  })
}
