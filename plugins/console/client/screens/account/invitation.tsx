import { createClient, type FoundInvitation, type RegisterRequest } from 'tidemark/client'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import { bodyOf } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { useSignal } from '../../lib/signal.ts'
import { describeError, Skeleton } from '../../parts/states.tsx'
import { texts } from '../../texts.ts'
import { Card, ProviderLinks } from '../sign-in.tsx'
import { linkToken } from '../../lib/session.ts'
import { nameField, passwordField, register } from './register.tsx'
import { accountTexts } from './texts.ts'

const specs = [nameField, passwordField]
const title = 'Join your team on Tidemark'

/** The page of an invitation: the invited person chooses a password. */
export function Invitation() {
  const token = useSignal(linkToken)
  if (!token) return <Refused text={accountTexts.incompleteLink} />
  return <FoundByToken token={token} />
}

const Refused = ({ text }: { text: string }) => (
  <Card title={title} text={text}>
    <p class="foot">
      <a href="/">{texts.signIn}</a>
    </p>
  </Card>
)

function FoundByToken({ token }: { token: string }) {
  const { data, error } = useData<FoundInvitation>('invitation', signal =>
    createClient({ retries: 0 }).post('/api/v1/auth/invitation', {
      body: { invitation_token: token },
      signal,
    }),
  )
  if (error !== undefined) return <Refused text={`${describeError(error)}`} />
  if (!data)
    return (
      <Card title={title} text="…">
        <Skeleton rows={4} />
      </Card>
    )
  return <Join token={token} invitation={data} />
}

function Join({ token, invitation }: { token: string; invitation: FoundInvitation }) {
  const form = useForm('invitation', specs)
  const { email, company_name: company, invited_by: inviter } = invitation
  const send = (body: Record<string, unknown>) =>
    register({ ...bodyOf<RegisterRequest>(body), email, invitation_token: token })
  return (
    <Card
      title={`Join ${company} on Tidemark`}
      text={`${inviter ? `${inviter} invited you. ` : ''}Choose a password to create your account.`}
    >
      <Form
        form={form}
        submit={() => form.send(specs, send)}
        label={texts.createAccount}
        busyLabel={accountTexts.creating}
      >
        <div class="field">
          <span>
            <label for="email">{texts.email}</label>
          </span>
          <input id="email" name="email" type="email" autocomplete="username" value={email} readonly />
        </div>
        <Fields form={form} of={specs} />
      </Form>
      <ProviderLinks invitation={token} />
      <p class="foot">
        <a href="/">{accountTexts.haveAccount}</a>
      </p>
    </Card>
  )
}
