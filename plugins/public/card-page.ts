import { html, type Markup } from '../../server/markup.ts'
import { sourceHash, renderPage, buildPolicy, SHELL_STYLE } from './page-shell.ts'

/** The style of a page that is one card in the middle of the window. */
export const CARD_STYLE = `${SHELL_STYLE}
body { min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 16px; }
main { width: 100%; max-width: 440px; padding: 32px 28px; background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
h1 { margin: 0 0 4px; font-size: 22px; line-height: 1.25; }
p { margin: 0; color: var(--quiet); }
`

/**
 * A page of one card, which search engines leave out.
 * @param more a script of the page, or the address that the browser goes on to at once
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

/** What pages of a sentence, and perhaps a button, may do: show their style, and send the form to this host. */
export const messagePolicy = buildPolicy({ 'style-src': [sourceHash(STYLE)], 'form-action': ["'self'"] })

/** A page without scripts: a heading, a sentence, and what else there is. */
export function renderMessage(title: string, sentence: string, more: Markup = html``): string {
  return renderCard(
    title,
    html`<h1>${title}</h1>
      <p>${sentence}</p>
      ${more}`,
    STYLE,
  )
}

/** The page of an address that does not exist. */
export const notFoundPage = renderMessage(
  'Page not found',
  'There is no page at this address. Check the address, or go to the start page.',
  html`<p><a href="/">Start page</a></p>`,
)

/**
 * A page that goes on to an address, by itself and by a link. In place of a redirect as the answer to a form: browsers
 * hold a redirect to `form-action` too, and would refuse one to another origin.
 */
export function renderForward(title: string, next: string): string {
  return renderCard(
    title,
    html`<h1>${title}</h1>
      <p>This page goes on by itself in a moment.</p>
      <p><a href="${next}">Continue</a></p>`,
    STYLE,
    { next },
  )
}
