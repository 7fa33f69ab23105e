import { html, type Markup } from '../../server/markup.ts'
import { buildPolicy } from '../../server/http/content-policy.ts'
import { renderPage } from './page-shell.ts'

/** For cards that send a form to this host. */
export const formPolicy = buildPolicy({ 'form-action': ["'self'"] })

/** A page of one card in the middle of the window, without scripts: a heading, a sentence, and more content. */
export function renderMessage(
  title: string,
  sentence: string,
  more: Markup = html``,
  page: { next?: string; scripts?: readonly string[] } = {},
): string {
  const content = html`<main>
    <img src="/favicon.svg" alt="" width="40" height="40" />
    <h1>${title}</h1>
    <p>${sentence}</p>
    ${more}
  </main>`
  return renderPage({ title, content, layout: 'card', ...page })
}

export const notFoundPage = renderMessage(
  'Page not found',
  'There is no page at this address. Check the address, or go to one of these:',
  html`<ul>
    <li><a href="/">Start page</a></li>
    <li><a href="/guide/index">Documentation</a></li>
  </ul>`,
)

/**
 * A page that sends the browser to an address. It replaces a redirect as the reply to a form: browsers apply
 * `form-action` to redirects too, and would refuse one to another origin.
 */
export function renderForward(title: string, next: string): string {
  const link = html`<p><a href="${next}">Continue</a></p>`
  return renderMessage(title, 'You will be redirected in a moment.', link, { next })
}
