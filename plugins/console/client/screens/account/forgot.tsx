import { useState } from 'preact/hooks'
import { createClient, type PasswordResetRequest } from 'tidemark/client'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import { bodyOf } from '../../lib/api.ts'
import { pageSettings } from '../../lib/page-settings.ts'
import { Card } from '../sign-in.tsx'
import { emailField } from './register.tsx'

const specs = [emailField]
const title = 'Reset your password'
const back = (
  <p class="foot">
    <a href="/">Back to the sign-in</a>
  </p>
)

export function ForgotPassword() {
  const form = useForm('forgot', specs)
  const [sentTo, setSentTo] = useState<string>()
  const send = (body: Record<string, unknown>) => {
    const { email } = bodyOf<PasswordResetRequest>(body)
    return createClient({ retries: 0 })
      .post('/api/v1/auth/password-resets', { body: { email } })
      .then(() => setSentTo(email))
  }
  if (!pageSettings.hasMail)
    return (
      <Card title={title} text="This service sends no mail. Ask an administrator of your company for help.">
        {back}
      </Card>
    )
  if (sentTo !== undefined)
    return (
      <Card title="Check your mail" text={`If ${sentTo} has an account, a link is on its way.`}>
        <p class="quiet" role="status">
          It works once, within one hour. At most 3 mails an hour are sent to one address.
        </p>
        {back}
      </Card>
    )
  return (
    <Card title={title} text="You get a mail with a link to choose a new one.">
      <Form form={form} submit={() => form.send(specs, send)} label="Send the link" busyLabel="Sending…">
        <Fields form={form} of={specs} />
      </Form>
      {back}
    </Card>
  )
}
