import { html, type Markup } from '../../server/markup.ts'
import { sourceHash, renderPage, buildPolicy, SHELL_STYLE } from './page-shell.ts'

/** One card in the middle of the window. */
export const CARD_STYLE = `${SHELL_STYLE}
body { min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 16px; }
main { width: 100%; max-width: 440px; padding: 32px 28px; background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
h1 { margin: 0 0 4px; font-size: 22px; line-height: 1.25; }
p { margin: 0; color: var(--quiet); }
`

/**
 * A page of one card, hidden from search engines.
 * @param more a script of the page, or the address that the browser is sent to at once
 */
export function renderCard(
  title: string,
  content: Markup,
  style: string,
  more: { script?: string; next?: string } = {},
): string {
  return renderPage({
    title,
    style,
    content: html`<main>${content}</main>`,
    isHidden: true,
    ...more,
  })
}

const STYLE = `${CARD_STYLE}
form { margin: 24px 0 0; }
button { width: 100%; padding: 10px 16px; border: 0; border-radius: 8px; background: var(--on); color: var(--card); font: inherit; font-weight: 600; cursor: pointer; }
button:focus-visible, a:focus-visible { outline: 3px solid var(--on); outline-offset: 3px; border-radius: 6px; }
a { display: inline-block; margin-top: 12px; padding: 4px 0; color: var(--link); }
`

/** Allows the page's own style, and sending its form to this host. */
export const messagePolicy = buildPolicy({ 'style-src': [sourceHash(STYLE)], 'form-action': ["'self'"] })

/** A page without scripts: a heading, a sentence, and more content. */
export function renderMessage(title: string, sentence: string, more: Markup = html``): string {
  return renderCard(
    title,
    html`<h1>${title}</h1>
      <p>${sentence}</p>
      ${more}`,
    STYLE,
  )
}

export const notFoundPage = renderMessage(
  'Page not found',
  'There is no page at this address. Check the address, or go to the start page.',
  html`<p><a href="/">Start page</a></p>`,
)

/**
 * A page that sends the browser to an address. It replaces a redirect as the reply to a form: browsers apply
 * `form-action` to redirects too, and would refuse one to another origin.
 */
export function renderForward(title: string, next: string): string {
  return renderCard(
    title,
    html`<h1>${title}</h1>
      <p>You will be redirected in a moment.</p>
      <p><a href="${next}">Continue</a></p>`,
    STYLE,
    { next },
  )
}
