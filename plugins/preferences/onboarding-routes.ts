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

/** Progress in the onboarding tour. It is private to the user, so changes are not audited. */
export const onboardingRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path,
    options: {
      ...access.session,
      description: 'Get the progress in each chapter of the tour, and overall',
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
      description: 'Mark a chapter as completed or not completed',
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
      description: 'Save the current step of a chapter',
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
      description: 'Restart a chapter, or all of them',
      notes: 'What the user created in the tour is kept.',
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
      description: 'Record an event of the tour',
      notes: 'Kept for 90 days. The server finds out whether the user had completed the chapter before.',
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

/** Changes the caller's progress and replies with the result. */
function replyWithProgress(request: Request, work: (trx: Transaction, userId: string) => Promise<void>) {
  const userId = caller(request).userId as string
  return inCompany(request, async trx => {
    await work(trx, userId)
    return envelope(await readProgress(trx, userId))
  })
}
