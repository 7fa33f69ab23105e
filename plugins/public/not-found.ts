import type { Lifecycle } from '@hapi/hapi'
import { acceptsHtml } from '../../server/http/input.ts'
import { notFoundPage } from './card-page.ts'
import { pageAddress, PREFIX } from './doc-pages.ts'
import { buildPolicy } from '../../server/http/content-policy.ts'
import { sendPage } from './page-shell.ts'

const POLICY = buildPolicy()

/**
 * Shows browsers a page instead of the error body of an unknown address, or of an unknown page of the documentation.
 * Programs, and addresses of the API, get the error body. Runs after the host has built that body.
 */
export const showNotFoundPage: Lifecycle.Method = (request, h) => {
  const { response, method, route, path } = request
  const isMissing = 'statusCode' in response && response.statusCode === 404
  // Only hapi's own catch-all route has no access.
  const isUnknown =
    isMissing &&
    (path.startsWith(PREFIX) ||
      path.startsWith(pageAddress('')) ||
      (route.settings.plugins?.access === undefined && !path.startsWith('/api/')))
  if (!isUnknown || !['get', 'head'].includes(method) || !acceptsHtml(request)) return h.continue
  return sendPage(h, notFoundPage, POLICY, { status: 404 }).header('X-Request-Id', request.info.id)
}
