import { createHash } from 'node:crypto'
import { html, Markup } from '../../server/markup.ts'

/** Colours and type of all pages, light or dark as in the system settings; every pair meets WCAG AA. */
export const SHELL_STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --quiet: #575b63; --page: #f4f5f7; --card: #fff; --line: #dfe2e6; --on: #1a62d6; --link: #0b57d0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #edeef0; --quiet: #a9afb7; --page: #111315; --card: #1a1d20; --line: #33383d; --on: #4c8dff; --link: #8ab4ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57d0"/><path d="M5 13q5.5-5 11 0t11 0M5 21q5.5-5 11 0t11 0" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>`

export interface HtmlPage {
  title: string
  content: Markup
  style: string
  /** Inline, run at the end of the page. */
  script?: string
  /** Files of this host; scripts run in order. */
  styleSheets?: readonly string[]
  scripts?: readonly string[]
  /** The address that the browser is sent to at once. */
  next?: string
  /** Hidden from search engines. */
  isHidden?: boolean
}

/** A whole page of HTML. */
export function renderPage({ title, content, style, script, ...page }: HtmlPage): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${page.isHidden ? new Markup('<meta name="robots" content="noindex" />') : null}
        ${page.next === undefined ? null : html`<meta http-equiv="refresh" content="0; url=${page.next}" />`}
        <title>${title}</title>
        <link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}" />
        ${(page.styleSheets ?? []).map(file => html`<link rel="stylesheet" href="${file}" />`)}
        ${new Markup(`<style>${style}</style>`)}
      </head>
      <body>
        ${content} ${(page.scripts ?? []).map(file => html`<script src="${file}"></script>`)}
        ${script === undefined ? null : new Markup(`<script>${script}</script>`)}
      </body>
    </html> `.text
}

/**
 * The Content-Security-Policy of a page: forbids everything except the given sources, and data addresses for the icon.
 * @param sources by directive, such as `{ 'connect-src': ["'self'"] }`
 */
export function buildPolicy(sources: Record<string, readonly string[]>): string {
  const all: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'img-src': ['data:'],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
    ...sources,
  }
  return Object.entries(all)
    .map(([directive, allowed]) => [directive, ...allowed].join(' '))
    .join('; ')
}

/** The source of an inline style or script, for a policy. */
export function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
