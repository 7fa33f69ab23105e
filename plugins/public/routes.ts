import type { Lifecycle, RouteOptions, Server, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access } from '../../server/http/access.ts'
import { failure, reply } from '../../server/http/envelopes.ts'
import { apiError } from '../../server/http/errors.ts'
import { answerHealth } from '../../server/telemetry/health.ts'
import { prefersHtml } from '../../server/http/input.ts'
import { pascalCase } from '../../server/openapi/components.ts'
import { openApi } from '../../server/openapi/openapi.ts'
import { assetNames, contentTag, sendAsset } from './assets.ts'
import { missingPage, pageAddress, pageFile, pageNames, PREFIX } from './doc-pages.ts'
import { documentationPage, searchIndex } from './docs-site.ts'
import { scriptPolicy, sendPage } from './page-shell.ts'
import { redoc, swagger, type ReferencePage } from './reference.ts'
import {
  assetParams,
  fileReply,
  guideParams,
  healthReply,
  html,
  markdown,
  pageParams,
  plainText,
  script,
  siteFile,
} from './schemas.ts'
import { renderStart } from './start-page.ts'
import { unsubscribeRoutes } from './unsubscribe.ts'

const tags = ['api', 'public']
const ROBOTS = `User-agent: *\nAllow: /$\nAllow: /guide\nAllow: ${PREFIX}\nAllow: /assets/\nDisallow: /\n`

export function routes(server: Server): ServerRoute[] {
  return [
    ...healthRoutes(server),
    descriptionRoute(server),
    ...[swagger, redoc].flatMap(referenceRoutes),
    ...pageRoutes(server),
    ...assetRoutes(),
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
    notes: '503 means that requests should go to another process. Monitoring and people ask this one.',
    tags,
    response: { status: { 200: healthReply, 503: healthReply } },
  }
  return [
    {
      method: 'GET',
      path: '/health',
      handler,
      options: {
        ...options,
        id: 'getServiceHealth',
        description: 'Get the health of the service, for load balancers',
        notes: 'The same reply as `GET /api/v1/health`, at the path that load balancers ask.',
      },
    },
    { method: 'GET', path: '/api/v1/health', handler, options },
  ]
}

function descriptionRoute(server: Server): ServerRoute {
  let document: { text: string; tag: string } | undefined
  // Built at the first request, when all routes are registered.
  const describe = () => {
    const text = JSON.stringify(openApi(server, server.config.baseUrl))
    return { text, tag: contentTag(text) }
  }
  return {
    method: 'GET',
    path: '/openapi.json',
    handler: (_request, h) => {
      const { text, tag } = (document ??= describe())
      return h.response(text).type('application/json').etag(tag).header('Cache-Control', 'no-cache')
    },
    options: {
      ...access.open,
      description: 'The OpenAPI 3.1 description of this API',
      notes: 'Generators make clients from it. `ETag` and `If-None-Match` save its transfer.',
      tags,
      response: reply(Joi.object().unknown().description('The document')),
    },
  }
}

function referenceRoutes({ path, description, files, ...reference }: ReferencePage): ServerRoute[] {
  const name = `${pascalCase(path)}Page`
  return [
    {
      method: 'GET',
      path,
      handler: (_request, h) => sendPage(h, reference.page, reference.policy, { cache: 'no-cache' }),
      options: {
        ...access.open,
        id: `get${name}`,
        description,
        notes: 'For people, in a browser.',
        tags,
        response: { status: { 200: html } },
      },
    },
    {
      method: 'GET',
      path: `${path}/start.js`,
      handler: (_request, h) => h.response(reference.startScript).type('text/javascript'),
      options: {
        ...access.open,
        id: `get${name}Script`,
        description: `Starts the page at ${path}`,
        notes: 'That page loads it; programs do not need it.',
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
        notes: 'That page loads it; programs do not need it.',
        tags,
        validate: { params: assetParams(files) },
        response: { status: { 200: fileReply(files) }, sample: 0 },
        cache: { expiresIn: 24 * 3600 * 1000 },
      },
    },
  ]
}

function pageRoutes({ config }: Server): ServerRoute[] {
  const start = renderStart(config.baseUrl)
  return [
    {
      method: 'GET',
      path: '/guide',
      handler: (_request, h) => sendPage(h, start, scriptPolicy, { cache: 'no-cache' }),
      options: {
        ...access.open,
        id: 'getGuideStart',
        description: 'The start page of the documentation',
        notes: 'For people: the first steps, and links to the documentation and the reference.',
        tags,
        response: { status: { 200: html } },
      },
    },
    {
      method: 'GET',
      path: '/guide/{page}',
      handler(request, h) {
        const [name = ''] = String(request.params.page).split(/\.md$/)
        if (!pageNames.includes(name)) throw missingPage()
        // Pages link to each other by file, and people copy such addresses.
        if (request.params.page !== name) return h.redirect(pageAddress(name)).permanent()
        const { content, tag } = documentationPage(name)
        return sendPage(h, content, scriptPolicy, { cache: 'no-cache' }).etag(tag)
      },
      options: {
        ...access.open,
        id: 'getGuidePage',
        description: 'A page of the documentation',
        notes: 'For people. Programs find the same as Markdown at `/api/public/docs/{page}.md`.',
        tags,
        validate: { params: guideParams },
        app: { errors: ['NOT_FOUND'] },
        response: {
          status: { 200: html, 301: true, 404: Joi.alternatives(failure, html) },
          sample: 0,
        },
      },
    },
    {
      method: 'GET',
      path: '/api/public/docs/{path*}',
      handler(request, h) {
        const path = String(request.params.path ?? '')
        const file = pageFile(path)
        const reply = prefersHtml(request)
          ? h.redirect(pageAddress(path.slice(0, -'.md'.length))).permanent()
          : h.file(file, { confine: false }).type('text/markdown')
        return reply.vary('Accept')
      },
      options: {
        ...access.open,
        id: 'getGuide',
        description: 'A page of the documentation as Markdown',
        notes: 'A client that prefers text/html, as browsers do, is redirected to the page under `/guide`.',
        tags,
        validate: { params: pageParams },
        app: { path: '/api/public/docs/{path}.md', errors: ['FORBIDDEN', 'NOT_FOUND'] },
        response: {
          status: {
            200: markdown.description('The page'),
            301: true,
            404: Joi.alternatives(failure, html),
          },
          sample: 0,
        },
      },
    },
  ]
}

function assetRoutes(): ServerRoute[] {
  const names = [...assetNames, 'search.json']
  const asset = (path: string, description: string, options: RouteOptions, name?: string): ServerRoute => ({
    method: 'GET',
    path,
    handler(request, h) {
      const file = name ?? String(request.params.file)
      return file === 'search.json' ? sendAsset(request, h, file, searchIndex()) : sendAsset(request, h, file)
    },
    options: {
      ...access.open,
      description,
      notes: 'Pages load it; programs do not need it.',
      tags,
      ...options,
    },
  })
  return [
    asset('/assets/{file}', 'A file of our pages', {
      validate: { params: assetParams(names) },
      response: { status: { 200: siteFile }, sample: 0 },
    }),
    ...['favicon.ico', 'favicon.svg'].map(name =>
      asset(
        `/${name}`,
        `The icon of our pages, ${name}`,
        { response: { status: { 200: siteFile }, sample: 0 } },
        name,
      ),
    ),
    {
      method: 'GET',
      path: '/robots.txt',
      handler: (_request, h) => h.response(ROBOTS).type('text/plain'),
      options: {
        ...access.open,
        description: 'What search engines may read: the start page and the documentation',
        notes: 'For crawlers, by RFC 9309.',
        tags,
        response: { status: { 200: plainText } },
      },
    },
  ]
}
