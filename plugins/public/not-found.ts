import type { Lifecycle } from '@hapi/hapi'
import { acceptsHtml } from '../../server/http/input.ts'
import { messagePolicy, notFoundPage } from './card-page.ts'

/**
 * Shows browsers a page instead of the error body of an unknown address. Programs, and addresses of the API, get the
 * error body. Runs after the host has built that body.
 */
export const showNotFoundPage: Lifecycle.Method = (request, h) => {
  const { response, method, route, path } = request
  const isMissing = 'statusCode' in response && response.statusCode === 404
  // Only hapi's own catch-all route has no access.
  const isUnknown = isMissing && route.settings.plugins?.access === undefined && !path.startsWith('/api/')
  if (!isUnknown || !['get', 'head'].includes(method) || !acceptsHtml(request)) return h.continue
  return h
    .response(notFoundPage)
    .code(404)
    .type('text/html')
    .header('X-Request-Id', request.info.id)
    .header('Content-Security-Policy', messagePolicy)
    .header('Cache-Control', 'no-store')
}
