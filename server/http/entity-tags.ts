/** Entity tags of JSON replies that clients ask for again and again. */
import { createHash } from 'node:crypto'
import type { Server } from '@hapi/hapi'

declare module '@hapi/hapi' {
  interface RouteOptionsApp {
    /** Whether clients poll the route: its replies carry an `ETag`, and an unchanged one is 304 without a body. */
    isPolled?: true
  }
}

/**
 * Tags the replies of polled routes with a hash of their content. It saves the body, not the reading: a stamp that
 * changes with any row of any list would cost every write. The tag is weak, since the same content may be indented.
 */
export function installEntityTags(server: Server): void {
  server.ext('onPreResponse', (request, h) => {
    const { response } = request
    if (request.route.settings.app?.isPolled && !('isBoom' in response) && response.statusCode === 200)
      response.etag(hashContent(response.source), { weak: true, vary: false })
    return h.continue
  })
}

function hashContent(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)
}
