import type { ResponseObject, ResponseToolkit } from '@hapi/hapi'
import { buildPolicy } from '../../server/http/content-policy.ts'
import { html, Markup } from '../../server/markup.ts'
import { assetPath } from './assets.ts'

export interface HtmlPage {
  title: string
  content: Markup
  /** The class of the body, by which `site.css` lays it out. */
  layout: 'card' | 'start' | 'docs' | 'reference'
  /** Files of this host beside `tokens.css` and `site.css`, by default `pages.css`; scripts run in order once the page is read. */
  styleSheets?: readonly string[]
  scripts?: readonly string[]
  /** The address that the browser is sent to at once. */
  next?: string
}

/**
 * A whole page of HTML. Pages of one card are hidden from search engines, and have the theme of the system: those that
 * hold a token run no script.
 */
export function renderPage({ title, content, layout, ...page }: HtmlPage): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${layout === 'card' ? new Markup('<meta name="robots" content="noindex" />') : null}
        ${page.next === undefined ? null : html`<meta http-equiv="refresh" content="0; url=${page.next}" />`}
        <title>${title}</title>
        <link rel="icon" href="/favicon.svg" />
        <meta name="color-scheme" content="light dark" />
        ${layout === 'card' ? null : html`<script src="${assetPath('theme.js')}"></script>`}
        ${[
          assetPath('tokens.css'),
          ...(page.styleSheets ?? [assetPath('pages.css')]),
          assetPath('site.css'),
        ].map(file => html`<link rel="stylesheet" href="${file}" />`)}
        ${(page.scripts ?? []).map(file => html`<script defer src="${file}"></script>`)}
      </head>
      <body class="${layout}">
        ${content}
      </body>
    </html> `.text
}

const SECTIONS = [
  ['/guide/index', 'Documentation'],
  ['/docs', 'Try the API'],
  ['/redoc', 'API reference'],
] as const

/**
 * The bar above every page but cards; it looks like that of the console, and leads back there.
 * @param current the address of the section that the page belongs to
 * @param tools what stands at its end, such as the search
 */
export function renderHeader(current: string, tools: Markup | null = null): Markup {
  return html`<header class="bar">
    <a class="skip" href="#main">Skip to content</a>
    <a class="brand" href="/"><img src="/favicon.svg" alt="" width="20" height="20" />Tidemark</a>
    <nav aria-label="Sections">
      ${SECTIONS.map(([path, name]) =>
        path === current
          ? html`<a href="${path}" aria-current="page">${name}</a>`
          : html`<a href="${path}">${name}</a>`,
      )}
    </nav>
    ${tools}
    <a class="button console" href="/">Open the console</a>
  </header>`
}

/** For pages with scripts of this host, which may send requests to it. */
export const scriptPolicy = buildPolicy({ 'script-src': ["'self'"], 'connect-src': ["'self'"] })

/** Replies with a page; a page of one visitor is not to be stored. */
export function sendPage(
  h: ResponseToolkit,
  page: string,
  policy: string,
  { status = 200, cache = 'no-store' } = {},
): ResponseObject {
  return h
    .response(page)
    .code(status)
    .type('text/html')
    .header('Content-Security-Policy', policy)
    .header('Cache-Control', cache)
}
