import { createHash } from 'node:crypto'
import type { Lifecycle, RouteOptions, Server, ServerRoute } from '@hapi/hapi'
import { access } from '../../server/http/access.ts'
import { apiError } from '../../server/http/errors.ts'
import { answerHealth } from '../../server/http/health.ts'
import { openApi } from '../../server/openapi/openapi.ts'
import { pageFile } from './doc-pages.ts'
import { redoc, swagger, type ReferencePage } from './reference.ts'
import { assetParams, fileReply, healthReply, html, markdown, pageParams, script } from './schemas.ts'
import { startPage, startPolicy } from './start-page.ts'
import { unsubscribeRoutes } from './unsubscribe.ts'

const tags = ['api', 'public']

export function routes(server: Server): ServerRoute[] {
  return [
    ...healthRoutes(server),
    descriptionRoute(server),
    ...[swagger, redoc].flatMap(referenceRoutes),
    ...pageRoutes(),
    ...unsubscribeRoutes,
  ]
}

function healthRoutes(server: Server): ServerRoute[] {
  const handler: Lifecycle.Method = async (_request, h) => {
    const { status, body } = await answerHealth(server)
    return h.response(body).code(status).header('Cache-Control', 'no-store')
  }
  const options: RouteOptions = {
    ...access.open,
    description: 'Get the health of the service, its database and its jobs',
    tags,
    response: { status: { 200: healthReply, 503: healthReply } },
  }
  return [
    { method: 'GET', path: '/health', handler, options: { ...options, id: 'getServiceHealth' } },
    { method: 'GET', path: '/api/v1/health', handler, options },
  ]
}

function descriptionRoute(server: Server): ServerRoute {
  let document: { text: string; tag: string } | undefined
  // Built at the first request, when all routes are registered.
  const describe = () => {
    const text = JSON.stringify(openApi(server, server.config.baseUrl))
    return { text, tag: createHash('sha256').update(text).digest('base64url').slice(0, 22) }
  }
  return {
    method: 'GET',
    path: '/openapi.json',
    handler: (_request, h) => {
      const { text, tag } = (document ??= describe())
      return h.response(text).type('application/json').etag(tag).header('Cache-Control', 'no-cache')
    },
    options: { ...access.open, description: 'The OpenAPI 3.1 description of this API', tags },
  }
}

function referenceRoutes({ path, description, files, ...reference }: ReferencePage): ServerRoute[] {
  return [
    {
      method: 'GET',
      path,
      handler: (_request, h) =>
        h.response(reference.page).type('text/html').header('Content-Security-Policy', reference.policy),
      options: { ...access.open, description, tags, response: { status: { 200: html } } },
    },
    {
      method: 'GET',
      path: `${path}/start.js`,
      handler: (_request, h) => h.response(reference.startScript).type('text/javascript'),
      options: {
        ...access.open,
        description: `Starts the page at ${path}`,
        tags,
        response: { status: { 200: script } },
      },
    },
    {
      method: 'GET',
      path: `${path}/assets/{file}`,
      handler: (request, h) => {
        if (reference.folder === null) {
          const message = `The renderer of ${path} is not installed: install the development dependencies, or run the build`
          throw apiError('NOT_FOUND', message)
        }
        return h.file(String(request.params.file), { confine: reference.folder })
      },
      options: {
        ...access.open,
        description: `A file of the page at ${path}`,
        tags,
        validate: { params: assetParams(files) },
        response: { status: { 200: fileReply(files) }, sample: 0 },
        cache: { expiresIn: 24 * 3600 * 1000 },
      },
    },
  ]
}

function pageRoutes(): ServerRoute[] {
  return [
    {
      method: 'GET',
      path: '/',
      handler: (_request, h) =>
        h.response(startPage).type('text/html').header('Content-Security-Policy', startPolicy),
      options: {
        ...access.open,
        description: 'The start page',
        tags,
        response: { status: { 200: html } },
      },
    },
    {
      method: 'GET',
      path: '/api/public/docs/{path*}',
      handler: (request, h) =>
        h.file(pageFile(String(request.params.path ?? '')), { confine: false }).type('text/markdown'),
      options: {
        ...access.open,
        description: 'A page of the documentation, as markdown',
        tags,
        validate: { params: pageParams },
        app: { path: '/api/public/docs/{path}.md', errors: ['FORBIDDEN', 'NOT_FOUND'] },
        response: { status: { 200: markdown }, sample: 0 },
      },
    },
  ]
}
