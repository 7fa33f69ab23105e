import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, inCompany, routesOf } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import { crud } from '../../../server/http/crud.ts'
import { exampleRecord, inData, removal, reply } from '../../../server/http/envelopes.ts'
import { apiError } from '../../../server/http/errors.ts'
import { createKeys, patchKeys, replyKeys } from '../../../server/http/fields.ts'
import { idParams, param } from '../../../server/http/input.ts'
import { pageQuery, type Page } from '../../../server/http/page.ts'
import type { Deps } from '../deps.ts'
import { DESTINATION_ID_EXAMPLE } from '../destinations/replies.ts'
import { findDestination } from '../destinations/destinations.ts'
import { composeDigest } from './compose.ts'
import {
  changeDigest,
  createDigest,
  deleteDigest,
  findDigest,
  listDigests,
  presentDigests,
  resolveOwner,
  type DigestPatch,
  type NewDigest,
} from './digests.ts'
import { digestContent, digestFields } from './fields.ts'
import type { DigestFrequency } from './models.ts'
import { startDigest } from './send.ts'
import { periodBefore } from './times.ts'

const PATH = '/api/v1/sdk/alerts/digests'
const MAX_SENT_PER_MINUTE = 10

const route = routesOf('alert-rules')

interface DigestPreview {
  name: string
  owner?: string | null
  frequency: DigestFrequency
  timezone: string
}

const { owner, frequency, timezone } = createKeys(digestFields)
const preview = Joi.object<DigestPreview>({
  name: Joi.string().trim().min(1).max(200).default('Digest'),
  ...{ owner, frequency, timezone },
})
  .required()
  .example({ frequency: 'weekly', timezone: 'Europe/Berlin' })
  .label('DigestPreviewRequest')

export const digestRoutes = (deps: Deps): ServerRoute[] => [
  route('POST', `${PATH}/preview`, access.read, {
    id: 'previewDigest',
    description: 'Compose the digest of the last day or week without sending it',
    notes: 'Takes the fields of a digest that its content depends on.',
    validate: { payload: preview },
    response: reply(inData(digestContent)),
    handler: request =>
      inCompany(request, async trx => {
        const { name, owner: given, frequency: every, timezone: zone } = request.payload
        const scope = { name, frequency: every, timezone: zone, owner: await resolveOwner(deps, trx, given) }
        return { data: await composeDigest(deps, trx, scope, periodBefore(scope, new Date())) }
      }),
  }),
  route('POST', `${PATH}/{id}/send`, access.write, {
    id: 'sendDigest',
    description: 'Send the digest of the last day or week now',
    notes: 'Its schedule stays as it is. At most 10 per minute and digest.',
    validate: { params: idParams },
    response: reply(removal('The digest is on its way')),
    app: { errors: ['NOT_FOUND', 'CONFLICT'] },
    async handler(request) {
      const id = param(request, 'id')
      await request.server.limits.take(`digest-send:${id}`, MAX_SENT_PER_MINUTE, 60, request)
      await inCompany(request, async trx => {
        const digest = await findDigest(trx, id)
        const destination = await findDestination(trx, digest.destinationId)
        if (!destination.isActive)
          throw apiError('CONFLICT', 'The destination is switched off: PATCH it with is_active true first', {
            destination_id: destination.id,
          })
        const content = await composeDigest(deps, trx, digest, periodBefore(digest, new Date()))
        await startDigest(deps, trx, digest, content)
        await auditRequest(request, trx, {
          action: 'digest.sent',
          target: { type: 'digest', id },
          details: { destination_id: destination.id },
        })
      })
      return { data: { success: true, message: 'The digest is on its way' } }
    },
  }),
  ...crud({
    tag: 'alert-rules',
    path: PATH,
    params: idParams,
    record: exampleRecord(replyKeys(digestFields)).label('Digest'),
    listName: 'digests',
    kind: 'digest',
    auditDetails: ({ name }) => ({ name }),
    present: (_trx, digests) => presentDigests(digests),
    list: {
      description: 'List digests',
      notes: 'Newest first, each with its next time.',
      query: Joi.object<Page>(pageQuery()),
      read: listDigests,
    },
    create: {
      description: 'Create a digest: a summary that a destination gets every day or week',
      notes:
        'It says what broke, what was noticed late, which checks are noisy and what is not watched, of all tables or of those of an `owner`.',
      body: Joi.object<NewDigest>(createKeys(digestFields))
        .required()
        .example({
          name: 'What happened last week',
          destination_id: DESTINATION_ID_EXAMPLE,
          timezone: 'Europe/Berlin',
        })
        .label('NewDigest'),
      errors: ['DESTINATION_NOT_FOUND', 'LIMIT_REACHED'],
      write: (trx, body) => createDigest(deps, trx, body),
    },
    get: {
      description: 'Get a digest',
      notes: 'With its next time.',
      errors: ['NOT_FOUND'],
      read: findDigest,
    },
    change: {
      method: 'PATCH',
      description: 'Change a digest',
      notes: 'Fields that are left out keep their values. Its next time counts from now.',
      body: Joi.object<DigestPatch>(patchKeys(digestFields))
        .min(1)
        .required()
        .example({ send_at: '07:30' })
        .label('UpdateDigestRequest'),
      errors: ['NOT_FOUND', 'DESTINATION_NOT_FOUND'],
      write: (trx, id, patch) => changeDigest(deps, trx, id, patch),
    },
    remove: {
      description: 'Delete a digest',
      notes: 'What was sent stays among the deliveries.',
      message: 'The digest was deleted',
      errors: ['NOT_FOUND'],
      write: deleteDigest,
    },
  }),
]
