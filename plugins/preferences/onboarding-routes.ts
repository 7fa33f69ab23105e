import type { ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany, routesOf, type AnyRequest } from '../../server/http/access.ts'
import type { Transaction } from '../../server/database/database.ts'
import { envelope } from '../../server/http/replies.ts'
import { markChapter, readProgress, recordEvent, resetProgress, saveStep } from './onboarding.ts'
import { replies } from './replies.ts'
import { schemas } from './schemas.ts'

const route = routesOf('onboarding')
const path = '/api/v1/auth/preferences/onboarding'

/** Progress in the onboarding tour. It is private to the user, so changes are not audited. */
export const onboardingRoutes: ServerRoute[] = [
  route('GET', path, access.session, {
    id: 'getOnboarding',
    description: 'Get the progress in each chapter of the tour, and overall',
    notes: 'Chapters that were never opened are listed as not started.',
    validate: { query: schemas.none },
    response: replies.progress,
    handler: request => replyWithProgress(request, async () => undefined),
  }),
  route('PATCH', path, access.session, {
    id: 'updateOnboardingChapter',
    description: 'Mark a chapter as completed or not completed',
    notes: 'Use `step` to store a step within a chapter.',
    validate: { payload: schemas.chapter, query: schemas.none },
    response: replies.progress,
    handler: request =>
      replyWithProgress(request, (trx, userId) => markChapter(trx, userId, request.payload)),
  }),
  route('PATCH', `${path}/step`, access.session, {
    id: 'updateOnboardingStep',
    description: 'Save the current step of a chapter',
    notes: 'The tour goes on at this step when it is opened again.',
    validate: { payload: schemas.step, query: schemas.none },
    response: replies.progress,
    handler: request => replyWithProgress(request, (trx, userId) => saveStep(trx, userId, request.payload)),
  }),
  route('POST', `${path}/reset`, access.session, {
    id: 'resetOnboarding',
    description: 'Restart a chapter, or all of them',
    notes: 'What the user created in the tour is kept.',
    validate: { payload: schemas.reset, query: schemas.none },
    response: replies.progress,
    handler: request =>
      replyWithProgress(request, (trx, userId) => resetProgress(trx, userId, request.payload?.chapter)),
  }),
  route('POST', `${path}/events`, access.sessionCounted, {
    id: 'trackOnboardingEvent',
    description: 'Record an event of the tour',
    notes: 'Kept for 90 days. The server finds out whether the user had completed the chapter before.',
    validate: { payload: schemas.event, query: schemas.none },
    response: replies.tracked,
    handler: request =>
      inCompany(request, async trx => {
        const userId = caller(request).userId as string
        return envelope({ is_replay: await recordEvent(trx, userId, request.payload) })
      }),
  }),
]

function replyWithProgress(request: AnyRequest, work: (trx: Transaction, userId: string) => Promise<void>) {
  const userId = caller(request).userId as string
  return inCompany(request, async trx => {
    await work(trx, userId)
    return envelope(await readProgress(trx, userId))
  })
}
