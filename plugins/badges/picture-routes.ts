import { createHash } from 'node:crypto'
import type { ResponseObject, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi'
import { access, routesOf } from '../../server/http/access.ts'
import { param } from '../../server/http/input.ts'
import type { BadgePicture } from './api.ts'
import type { Badge } from './models.ts'
import { drawBadge } from './picture.ts'
import { pictureParams, replies } from './schemas.ts'
import { readStatuses } from './status.ts'

/** An SVG opened by itself is a document: its styles apply, and nothing in it may run or load. */
const CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'unsafe-inline'; sandbox`

export const pictureRoutes: ServerRoute[] = [
  routesOf('badges')('GET', '/badges/{public_id}.svg', access.open, {
    id: 'getBadgePicture',
    description: 'The picture of a badge',
    notes:
      'It shows passing, failing or unknown. An unknown id, or that of an inactive badge, gets a grey picture with status 404, so that pages show something.',
    tags: ['api', 'badges', 'public'],
    validate: { params: pictureParams },
    response: { status: { 200: replies.picture, 404: replies.picture }, sample: 0 },
    handler: async (request, h) =>
      answerPicture(h, await readPicture(request.server, param(request, 'public_id'))),
  }),
]

/** Answers with a picture; with a grey one and status 404 if there is none. */
export function answerPicture(h: ResponseToolkit, picture: BadgePicture | undefined): ResponseObject {
  const svg = drawBadge(picture?.status ?? 'unknown', picture?.label)
  const reply = h
    .response(svg)
    .type('image/svg+xml')
    .header('Cache-Control', 'max-age=60')
    .header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  // No ETag: a cached grey picture of a badge would match it, and the client would get 304 instead of 404.
  if (picture === undefined) return reply.code(404)
  return reply.etag(createHash('sha256').update(svg).digest('base64url').slice(0, 22))
}

async function readPicture(server: Server, publicId: string): Promise<BadgePicture | undefined> {
  // The request names no company, so this statement searches all of them; the rest runs as the badge's company.
  const [badge] = await server.db.statement<
    Pick<Badge, 'id' | 'label' | 'includeUpstream'> & { companyId: string }
  >('select id, company_id, label, include_upstream from badges where public_id = :publicId and is_active', {
    publicId,
  })
  if (!badge) return undefined
  const statuses = await server.db.company(badge.companyId, trx => readStatuses(server, trx, [badge]))
  return { status: statuses.get(badge.id) ?? 'unknown', label: badge.label }
}
