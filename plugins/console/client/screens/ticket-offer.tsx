import { useState } from 'preact/hooks'
import { session, SignInError, signIn, type TicketHolder } from '../lib/session.ts'
import { createSignal } from '../lib/signal.ts'
import { texts } from '../texts.ts'
import { Card, signInNotice } from './sign-in.tsx'

/** The sign-in that a link offers; null when there is none, or the person has decided. */
export const ticketOffer = createSignal<(TicketHolder & { ticket: string }) | null>(null)

/** Shows the sign-in page with the reason when a ticket cannot be used. @throws the error of anything else */
export function refuseTicket(error: unknown): void {
  if (!(error instanceof SignInError) || error.status !== 401) throw error
  signInNotice.set('The sign-in link was used before or has expired. Sign in with your password.')
  session.set(session.value ?? null)
}

/** Asks before a link signs a person in: who has made it may want them to work in an account that is not theirs. */
export function TicketOffer({ ticket, email, company }: TicketHolder & { ticket: string }) {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const accept = async () => {
    setBusy(true)
    try {
      await signIn({ ticket }).catch(refuseTicket)
      ticketOffer.set(null)
    } catch (error) {
      setProblem((error instanceof SignInError && error.message) || texts.noConnection)
      setBusy(false)
    }
  }
  return (
    <Card
      title={`Sign in as ${email}?`}
      text={`This link opens the account of ${company}. Go on only if the account is yours.`}
    >
      {problem && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
      <button class="primary" disabled={isBusy} onClick={() => void accept()}>
        {texts.signIn}
      </button>
      <p class="foot">
        <button class="link" onClick={() => ticketOffer.set(null)}>
          Sign in with another account
        </button>
      </p>
    </Card>
  )
}
