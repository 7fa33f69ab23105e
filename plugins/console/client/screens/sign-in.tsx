import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { pageSettings } from '../lib/page-settings.ts'
import { hasExpired, session, SignInError, signIn, type Credentials } from '../lib/session.ts'
import { createSignal, useSignal } from '../lib/signal.ts'
import { Dialog } from '../parts/dialog.tsx'
import { useTitle } from '../parts/frame.tsx'
import { noteAttempt } from '../lib/provider-attempt.ts'
import { nameProvider } from '../lib/providers.ts'
import { texts } from '../texts.ts'

/** A sentence above the form: why the person has to sign in. */
export const signInNotice = createSignal('')
const signInEmail = createSignal<string | undefined>(undefined)

/** Has a person sign in with an account that is new, or has a new password. */
export function offerSignIn(email: string, notice: string): void {
  signInEmail.set(email)
  signInNotice.set(notice)
}

/** A page of its own, outside of the frame. */
export function Card({
  title,
  text,
  children,
}: {
  title: string
  text: string
  children: ComponentChildren
}) {
  useTitle(title)
  return (
    <main class="card" id="main">
      <div>
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>{title}</h1>
        <p class="quiet">{text}</p>
        {children}
      </div>
    </main>
  )
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
  type: 'email' | 'password' | 'text'
  autoComplete: string
  error?: string
  /** What it holds at first. */
  initial?: string
  /** Whether a dialog puts the cursor here. */
  isFirst?: boolean
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        name={name}
        type={
          // The types of Preact want one kind of input only.
          type as 'text'
        }
        autocomplete={autoComplete}
        defaultValue={initial}
        autofocus={isFirst}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={error ? `${name}-error` : undefined}
      />
      {error && (
        <span class="bad" id={`${name}-error`}>
          {error}
        </span>
      )}
    </label>
  )
}

const EmailField = ({ error, initial }: { error?: string; initial?: string }) => (
  <Field
    name="email"
    label={texts.email}
    type="email"
    autoComplete="username"
    initial={initial}
    error={error}
  />
)

function PasswordField({
  error,
  autoComplete,
  isFirst,
}: {
  error?: string
  autoComplete: string
  isFirst?: boolean
}) {
  return (
    <Field
      name="password"
      label="Password"
      type="password"
      autoComplete={autoComplete}
      isFirst={isFirst}
      error={error}
    />
  )
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
  return (
    <>
      <form onSubmit={submit} novalidate>
        {problems.form && (
          <p class="bad" role="alert">
            {problems.form}
          </p>
        )}
        <EmailField initial={email} error={problems.email} />
        <PasswordField
          autoComplete="current-password"
          isFirst={email !== undefined}
          error={problems.password}
        />
        <button class="primary" disabled={isBusy}>
          {texts.signIn}
        </button>
      </form>
      <ProviderLinks />
      {hasDemo && (
        <>
          <p class="or">or</p>
          <button disabled={isBusy} onClick={() => void enter({ demo: true })}>
            Look at the demo
          </button>
        </>
      )}
    </>
  )
}

/** @param props.invitation its token, with which a new user joins the company */
export function ProviderLinks({ invitation }: { invitation?: string }) {
  const query = new URLSearchParams(
    invitation
      ? { redirect_uri: `${location.origin}/`, invitation_token: invitation }
      : { redirect_uri: location.href },
  )
  return (pageSettings.providers ?? []).map(provider => (
    <a
      key={provider}
      class="button"
      href={`/api/v1/oauth/${encodeURIComponent(provider)}/authorize?${query}`}
      onClick={noteAttempt}
    >
      {texts.signInWith(nameProvider(provider))}
    </a>
  ))
}

export function SignIn() {
  const notice = useSignal(signInNotice)
  const email = useSignal(signInEmail)
  return (
    <Card title="Sign in to Tidemark" text={notice || 'Know when your data is wrong.'}>
      <PasswordForm email={email} hasDemo={pageSettings.hasDemo} />
      <p class="foot">
        <a href="/forgot">Forgot your password?</a>
      </p>
      {pageSettings.canRegister && (
        <p class="foot">
          <a href="/register">{texts.createAccount}</a>
        </p>
      )}
      <p class="foot">
        <a href="/guide/index">Read the documentation</a>
      </p>
    </Card>
  )
}

/** Over the screen that was open when the session ended: it is still there after the sign-in. */
export function Expired() {
  const user = session.value?.user
  const leave = () => {
    hasExpired.set(false)
    session.set(null)
  }
  return (
    <Dialog title={texts.expiredTitle} className="card">
      <p class="quiet">Sign in again to go on where you were.</p>
      <PasswordForm email={user?.email} hasDemo={!user && pageSettings.hasDemo} />
      <p class="foot">
        <button class="link" onClick={leave}>
          {texts.signOut}
        </button>
      </p>
    </Dialog>
  )
}
