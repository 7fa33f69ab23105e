import { html } from '../../server/markup.ts'
import { CARD_STYLE, renderCard } from './card-page.ts'
import { sourceHash, buildPolicy } from './page-shell.ts'

const STYLE = `${CARD_STYLE}
.email { overflow-wrap: anywhere; }
form { margin: 24px 0 16px; padding: 16px 0; border: solid var(--line); border-width: 1px 0; }
button { display: flex; align-items: center; justify-content: space-between; gap: 16px; width: 100%; padding: 6px 0; border: 0;
  background: none; color: inherit; font: inherit; text-align: left; cursor: pointer; }
button:focus-visible { outline: 3px solid var(--on); outline-offset: 6px; border-radius: 6px; }
button:disabled { cursor: progress; }
.knob { flex: none; width: 46px; height: 28px; border-radius: 14px; background: #8b9097; transition: background .15s; }
.knob::after { content: ''; display: block; width: 22px; height: 22px; margin: 3px; border-radius: 50%; background: #fff; transition: translate .15s; }
[aria-checked=true] .knob { background: var(--on); }
[aria-checked=true] .knob::after { translate: 18px; }
@media (prefers-reduced-motion: reduce) { .knob, .knob::after { transition: none; } }
@media (forced-colors: active) { .knob { border: 1px solid; } .knob::after { background: CanvasText; } }
`

/** Moves the switch in place; without the script, the button sends the form and a new page is shown. */
const SCRIPT = `
const form = document.querySelector('form')
const button = document.querySelector('button')
const state = document.querySelector('[role=status]')
form.addEventListener('submit', async event => {
  event.preventDefault()
  button.disabled = true
  try {
    const answer = await fetch(form.action, { method: 'POST', headers: { accept: 'application/json' } })
    if (!answer.ok) throw new Error(answer.status)
    const { subscribed } = await answer.json()
    button.setAttribute('aria-checked', String(subscribed))
    state.textContent = subscribed ? form.dataset.on : form.dataset.off
    const next = new URL(form.action)
    next.searchParams.set('action', subscribed ? 'unsubscribe' : 'subscribe')
    form.action = next
  } catch {
    state.textContent = 'That did not work. Please try again in a minute.'
  }
  button.disabled = false
  button.focus()
})
`

/** Allows the page's own style and script, and requests to this host. */
export const preferencesPolicy = buildPolicy({
  'style-src': [sourceHash(STYLE)],
  'script-src': [sourceHash(SCRIPT)],
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
  return renderCard(
    'Email from Tidemark',
    html`<h1>Email from Tidemark</h1>
      <p class="email">${email}</p>
      <form method="post" action="${target}" data-on="${ON}" data-off="${OFF}">
        <button role="switch" aria-checked="${String(isSubscribed)}">
          <span>Alerts by email</span><span class="knob" aria-hidden="true"></span>
        </button>
      </form>
      <p role="status">${isSubscribed ? ON : OFF}</p>`,
    STYLE,
    { script: SCRIPT },
  )
}

/** The page for an invalid link. */
export const refusalPage = renderCard(
  'This link does not work',
  html`<h1>This link does not work</h1>
    <p>
      It is not complete, or it was made for another address. Open the link at the end of one of our mails
      again; if you copied it, copy all of it.
    </p>`,
  STYLE,
)
