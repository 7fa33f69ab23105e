import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { listenToKeys } from './lib/keys.ts'
import { followLinks, navigate, place, withQuery } from './lib/router.ts'
import { isSignedOut } from './lib/api.ts'
import { takeAttempt } from './lib/provider-attempt.ts'
import { findTicketHolder, hasExpired, linkToken, resumeSession, session, signIn } from './lib/session.ts'
import { useSignal } from './lib/signal.ts'
import { applyTheme } from './lib/theme.ts'
import { Boundary } from './parts/boundary.tsx'
import { Frame } from './parts/frame.tsx'
import { notify } from './parts/notices.tsx'
import { Failure } from './parts/states.tsx'
import { preloadScreen, Screen } from './screens/screens.tsx'
import { findAccountScreen } from './screens/account/account-screens.ts'
import { Expired, SignIn, signInNotice } from './screens/sign-in.tsx'
import { refuseTicket, TicketOffer, ticketOffer } from './screens/ticket-offer.tsx'
import { texts } from './texts.ts'

/** @param props.error why it is not known whether there is a session: the server did not answer, or refused */
function App({ error }: { error: unknown }) {
  const who = useSignal(session)
  const { path } = useSignal(place)
  const isEnded = useSignal(hasExpired)
  const offer = useSignal(ticketOffer)
  const theme = who?.preferences?.theme
  useEffect(() => {
    if (theme) applyTheme(theme)
  }, [theme])
  if (error !== undefined)
    return (
      <main class="page" id="main">
        <h1 class="hidden">Tidemark</h1>
        <Failure what={texts.thisPart} error={error} retry={() => location.reload()} />
      </main>
    )
  const AccountScreen = findAccountScreen(path)
  if (AccountScreen) return <AccountScreen key={path} />
  if (offer) return <TicketOffer {...offer} />
  if (!who) return <SignIn />
  // What was loaded for one user must not be shown to the next one.
  return (
    <>
      <Frame key={who.user?.id ?? 'demo'} who={who}>
        <Boundary path={path}>
          <Screen path={path} />
        </Boundary>
      </Frame>
      {isEnded && <Expired />}
    </>
  )
}

/**
 * Continues the session of this browser, or offers the sign-in of a link. The ticket leaves the address at once, and
 * does not replace a session: a link must not sign a person in as another user. For the same reason a person without a
 * session is asked first, unless this tab has just come from a provider.
 */
async function start(): Promise<void> {
  const { path, query } = place.value
  const ticket = query.get('ticket')
  const refusal = query.get('error')
  if (ticket !== null || refusal !== null)
    navigate(withQuery(path, { ticket: null, error: null, error_description: null }, query), {
      replace: true,
    })
  if (findAccountScreen(path)) {
    linkToken.set(query.get('token') ?? '')
    if (query.has('token')) navigate(withQuery(path, { token: null }, query), { replace: true })
    return session.set(null)
  }
  if (refusal !== null)
    signInNotice.set('The sign-in through the provider failed. Try again, or sign in with your password.')
  await resumeSession().catch((error: unknown) => {
    if (!isSignedOut(error)) throw error
  })
  if (refusal !== null && session.value?.user)
    notify('The provider was not linked. Try again.', { isError: true })
  const isOwnAttempt = takeAttempt()
  if (ticket === null || session.value?.user) return
  if (isOwnAttempt) return signIn({ ticket }).catch(refuseTicket)
  await findTicketHolder(ticket).then(holder => {
    ticketOffer.set({ ...holder, ticket })
    session.set(session.value ?? null)
  }, refuseTicket)
}

followLinks()
listenToKeys()
const app = document.getElementById('app')!
/** What the server wrote for a signed-in user stays until the screen can take its place. */
const isShellShown = app.querySelector('nav') !== null
const [error] = await Promise.all([
  start().then(
    () => undefined,
    (error: unknown) => error,
  ),
  // A screen that cannot be loaded shows so itself.
  (isShellShown ? preloadScreen(place.value.path) : findAccountScreen(place.value.path)?.preload())?.catch(
    () => undefined,
  ),
])
app.textContent = ''
render(<App error={error} />, app)
