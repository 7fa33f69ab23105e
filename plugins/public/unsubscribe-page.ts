import { html } from '../../server/markup.ts'
import { assetPath } from './assets.ts'
import { renderMessage } from './card-page.ts'
import { buildPolicy } from '../../server/http/content-policy.ts'

/** Allows the page's own script, requests to this host and its form. */
export const preferencesPolicy = buildPolicy({
  'script-src': ["'self'"],
  'connect-src': ["'self'"],
  'form-action': ["'self'"],
})

const ON = 'You receive alerts by email.'
const OFF = 'You no longer receive email from us.'

/** The page where an address is unsubscribed and subscribed again; shows the current state. */
export function renderPreferences(email: string, token: string, isSubscribed: boolean): string {
  const action = isSubscribed ? 'unsubscribe' : 'subscribe'
  // Relative, so that it works behind any proxy.
  const target = `?${new URLSearchParams({ email, token, action }).toString()}`
  return renderMessage(
    'Email from Tidemark',
    email,
    html`<form method="post" action="${target}" data-on="${ON}" data-off="${OFF}">
        <button role="switch" aria-checked="${String(isSubscribed)}">
          <span>Alerts by email</span><span class="knob" aria-hidden="true"></span>
        </button>
      </form>
      <p role="status">${isSubscribed ? ON : OFF}</p>`,
    { scripts: [assetPath('unsubscribe.js')] },
  )
}

/** The page for an invalid link. */
export const refusalPage = renderMessage(
  'This link does not work',
  'It is not complete, or it was made for another address. Open the link at the end of one of our mails again; if you copied it, copy all of it.',
)
