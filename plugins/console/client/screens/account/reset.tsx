import { createClient, type ResetPasswordRequest } from 'tidemark/client'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { bodyOf } from '../../lib/api.ts'
import { navigate } from '../../lib/router.ts'
import { useSignal } from '../../lib/signal.ts'
import { Card, offerSignIn } from '../sign-in.tsx'
import { linkToken } from '../../lib/session.ts'
import { passwordField } from './register.tsx'
import { accountTexts } from './texts.ts'

const specs: FieldSpec[] = [{ ...passwordField, name: 'new_password', label: 'New password' }]
const title = 'Choose a new password'

/**
 * It does not sign in by itself: the link may be of another person, who wants this one to work in an account that is not
 * theirs. The sign-in shows whose account it is.
 */
export function ResetPassword() {
  const form = useForm('reset', specs)
  const token = useSignal(linkToken)
  const send = async (body: Record<string, unknown>) => {
    const { new_password } = bodyOf<ResetPasswordRequest>(body)
    const { email } = await createClient({ retries: 0 }).post('/api/v1/auth/reset-password', {
      body: { token, new_password },
    })
    offerSignIn(email, 'Your password was changed. Sign in with it.')
    navigate('/', { replace: true })
  }
  const again = (
    <p class="foot">
      <a href="/forgot">{accountTexts.askForLink}</a>
    </p>
  )
  if (!token)
    return (
      <Card title={title} text={accountTexts.incompleteLink}>
        {again}
      </Card>
    )
  return (
    <Card title={title} text="All your sessions end, on all devices.">
      <Form
        form={form}
        submit={() => form.send(specs, send)}
        label="Change the password"
        busyLabel="Changing…"
      >
        <Fields form={form} of={specs} />
      </Form>
      {again}
    </Card>
  )
}
