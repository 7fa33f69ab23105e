import { createHash } from 'node:crypto'
import type { Server, ServerRoute } from '@hapi/hapi'
import { access } from '../../server/http/access.ts'
import { param } from '../../server/http/input.ts'
import { drawBadge } from './picture.ts'
import { pictureParams, replies } from './schemas.ts'
import { statusesOf } from './status.ts'

/** A picture needs its own styles, and nothing in it may run or load, wherever it is opened. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; sandbox`

/** The picture of a badge, for anybody. */
export const pictureRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path: '/badges/{public_id}.svg',
    options: {
      ...access.open,
      id: 'getBadgePicture',
      description: 'The picture of a badge',
      notes:
        'It says passing, failing or unknown. Of no badge there is a grey one, with 404, so that pages show something.',
      tags: ['api', 'badges', 'public'],
      validate: { params: pictureParams },
      response: { status: { 200: replies.picture, 404: replies.picture }, sample: 0 },
    },
    async handler(request, h) {
      const picture = await pictureOf(request.server, param(request, 'public_id'))
      const svg = picture ?? drawBadge('unknown')
      const reply = h
        .response(svg)
        .type('image/svg+xml')
        .header('Cache-Control', 'max-age=60')
        .header('Content-Security-Policy', POLICY)
      // Without a tag: who has the picture of a badge that knew nothing is to hear that it is gone.
      if (picture === undefined) return reply.code(404)
      return reply.etag(createHash('sha256').update(svg).digest('base64url').slice(0, 22))
    },
  },
]

/** Undefined where there is no such badge. */
async function pictureOf(server: Server, publicId: string): Promise<string | undefined> {
  // Whose it is nobody says, so it is asked over all companies; all else as the company itself may.
  const [badge] = await server.db.statement<{ id: string; companyId: string; label: string | null }>(
    'select id, company_id, label from badges where public_id = :publicId',
    { publicId },
  )
  if (!badge) return undefined
  const statuses = await server.db.company(badge.companyId, trx => statusesOf(trx, [badge.id]))
  return drawBadge(statuses.get(badge.id) ?? 'unknown', badge.label)
}
