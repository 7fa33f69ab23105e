import { useState } from 'preact/hooks'
import { createClient } from 'tidemark/client'
import { html, type Children } from '../lib/html.ts'
import { pageSettings } from '../lib/page-settings.ts'
import { navigate } from '../lib/router.ts'
import { hasExpired, session, SignInError, signIn, type Credentials } from '../lib/session.ts'
import { createSignal, useSignal } from '../lib/signal.ts'
import { Dialog } from '../parts/dialog.ts'
import { useTitle } from '../parts/frame.ts'
import { noteAttempt } from '../lib/provider-attempt.ts'
import { nameProvider } from '../lib/providers.ts'
import { describeError } from '../parts/states.ts'
import { texts } from '../texts.ts'

/** A sentence above the form: why the person has to sign in. */
export const signInNotice = createSignal('')

/** A page of its own, outside of the frame. */
export function Card({ title, text, children }: { title: string; text: string; children: Children }) {
  useTitle(title)
  return html`<main class="card" id="main">
    <div>
      <img src="/favicon.svg" alt="" width="40" height="40" />
      <h1>${title}</h1>
      <p class="quiet">${text}</p>
      ${children}
    </div>
  </main>`
}

/** A field with its label, and its error below it. */
function Field({
  name,
  label,
  type,
  autoComplete,
  error,
  initial,
  isFirst = false,
}: {
  name: string
  label: string
  type: string
  autoComplete: string
  error?: string
  /** What it holds at first. */
  initial?: string
  /** Whether a dialog puts the cursor here. */
  isFirst?: boolean
}) {
  return html`<label class="field">
    <span>${label}</span>
    <input
      name=${name}
      type=${type}
      autocomplete=${autoComplete}
      defaultValue=${initial}
      autofocus=${isFirst}
      aria-invalid=${error ? 'true' : undefined}
      aria-describedby=${error ? `${name}-error` : undefined}
    />
    ${error && html`<span class="bad" id=${`${name}-error`}>${error}</span>`}
  </label>`
}

const EmailField = ({ error, initial }: { error?: string; initial?: string }) =>
  html`<${Field}
    name="email"
    label=${texts.email}
    type="email"
    autoComplete="username"
    initial=${initial}
    error=${error}
  />`

function PasswordField({
  error,
  autoComplete,
  isFirst,
}: {
  error?: string
  autoComplete: string
  isFirst?: boolean
}) {
  return html`<${Field}
    name="password"
    label="Password"
    type="password"
    autoComplete=${autoComplete}
    isFirst=${isFirst}
    error=${error}
  />`
}

interface Problems {
  form?: string
  email?: string
  password?: string
}

/**
 * Handles the submission of a form: with what is missing, the first such field gets the focus and all keep their text.
 * @param send gets the texts of the fields by their names
 */
function submitFields(
  event: SubmitEvent,
  {
    setProblems,
    send,
  }: { setProblems: (problems: Problems) => void; send: (values: Record<string, string>) => void },
): void {
  event.preventDefault()
  const form = event.currentTarget as HTMLFormElement
  const values = Object.fromEntries(new FormData(form)) as Record<string, string>
  const problems: Problems = {
    ...(!values.email?.trim() && { email: 'Enter your email address.' }),
    ...(!values.password && { password: 'Enter your password.' }),
  }
  setProblems(problems)
  const [first] = Object.keys(problems)
  if (first) form.querySelector<HTMLInputElement>(`[name=${first}]`)?.focus()
  else send(values)
}

/** @param props.email what the field holds at first: the address of the person whose session has ended */
function PasswordForm({ email, hasDemo }: { email?: string; hasDemo?: boolean }) {
  const [problems, setProblems] = useState<Problems>({})
  const [isBusy, setBusy] = useState(false)
  const enter = async (credentials: Credentials) => {
    setBusy(true)
    try {
      await signIn(credentials)
      signInNotice.set('')
    } catch (error) {
      const message = error instanceof SignInError ? error.message : ''
      setProblems({ form: message || texts.noConnection })
    }
    setBusy(false)
  }
  const submit = (event: SubmitEvent) =>
    submitFields(event, {
      setProblems,
      send: ({ email = '', password = '' }) => void enter({ email: email.trim(), password }),
    })
  return html`<form onSubmit=${submit} novalidate>
      ${problems.form && html`<p class="bad" role="alert">${problems.form}</p>`}
      <${EmailField} initial=${email} error=${problems.email} />
      <${PasswordField}
        autoComplete="current-password"
        isFirst=${email !== undefined}
        error=${problems.password}
      />
      <button class="primary" disabled=${isBusy}>${texts.signIn}</button>
    </form>
    ${(pageSettings.providers ?? []).map(
      provider =>
        html`<a key=${provider} class="button" href=${authorizeAddress(provider)} onClick=${noteAttempt}
          >${texts.signInWith(nameProvider(provider))}</a
        >`,
    )}
    ${
      hasDemo &&
      html`<p class="or">or</p>
        <button disabled=${isBusy} onClick=${() => void enter({ demo: true })}>Look at the demo</button>`
    }`
}

const authorizeAddress = (provider: string) =>
  `/api/v1/oauth/${encodeURIComponent(provider)}/authorize?${new URLSearchParams({ redirect_uri: location.href })}`

export function SignIn() {
  const notice = useSignal(signInNotice)
  return html`<${Card} title="Sign in to Tidemark" text=${notice || 'Know when your data is wrong.'}>
    <${PasswordForm} hasDemo=${pageSettings.hasDemo} />
    <p class="foot"><a href="/guide/index">Read the documentation</a></p>
  <//>`
}

/** Over the screen that was open when the session ended: it is still there after the sign-in. */
export function Expired() {
  const user = session.value?.user
  const leave = () => {
    hasExpired.set(false)
    session.set(null)
  }
  return html`<${Dialog} title=${texts.expiredTitle} className="card">
    <p class="quiet">Sign in again to go on where you were.</p>
    <${PasswordForm} email=${user?.email} hasDemo=${!user && pageSettings.hasDemo} />
    <p class="foot"><button class="link" onClick=${leave}>${texts.signOut}</button></p>
  <//>`
}

/** The page of an invitation: the invited person chooses a password. */
export function Invitation({ token }: { token: string }) {
  const [problems, setProblems] = useState<Problems>({})
  const [isBusy, setBusy] = useState(false)
  const register = async ({ email = '', password = '', name = '' }: Record<string, string>) => {
    setBusy(true)
    try {
      await createClient({ retries: 0 }).post('/api/v1/auth/register', {
        body: {
          email: email.trim(),
          password,
          invitation_token: token,
          ...(name.trim() && { full_name: name.trim() }),
        },
      })
      await signIn({ email: email.trim(), password })
      navigate('/', { replace: true })
    } catch (error) {
      setProblems({ form: error instanceof SignInError ? error.message : describeError(error) })
      setBusy(false)
    }
  }
  const submit = (event: SubmitEvent) =>
    submitFields(event, { setProblems, send: values => void register(values) })
  if (!token)
    return html`<${Card}
      title=${texts.joinTitle}
      text="The link is not complete. Open it again from the mail."
    >
      <p class="foot"><a href="/">${texts.signIn}</a></p>
    <//>`
  return html`<${Card}
    title=${texts.joinTitle}
    text="Use the email address that the invitation was sent to, and choose a password."
  >
    <form onSubmit=${submit} novalidate>
      ${problems.form && html`<p class="bad" role="alert">${problems.form}</p>`}
      <${EmailField} error=${problems.email} />
      <${Field} name="name" label=${texts.name} type="text" autoComplete="name" />
      <${PasswordField} autoComplete="new-password" error=${problems.password} />
      <button class="primary" disabled=${isBusy}>Create account</button>
    </form>
  <//>`
}
