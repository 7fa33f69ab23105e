import { createClient, type RegisterRequest } from 'tidemark/client'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { bodyOf } from '../../lib/api.ts'
import { pageSettings } from '../../lib/page-settings.ts'
import { navigate } from '../../lib/router.ts'
import { signIn } from '../../lib/session.ts'
import { texts } from '../../texts.ts'
import { Card, offerSignIn } from '../sign-in.tsx'
import { accountTexts } from './texts.ts'

export const emailField: FieldSpec = {
  ...{ name: 'email', label: texts.email, kind: 'email', isRequired: true, maxLength: 254 },
  autoComplete: 'username',
}
export const nameField: FieldSpec = {
  ...{ name: 'full_name', label: texts.name, kind: 'text', maxLength: 200, autoComplete: 'name' },
}
export const passwordField: FieldSpec = {
  ...{ name: 'password', label: 'Password', kind: 'secret', isRequired: true },
  hint: accountTexts.passwordHint,
}

const specs: FieldSpec[] = [
  emailField,
  nameField,
  {
    ...{ name: 'company_name', label: 'Company', kind: 'text', maxLength: 200 },
    autoComplete: 'organization',
  },
  passwordField,
]

/** Creates the account and signs in. @throws what the server refuses */
export async function register(body: RegisterRequest): Promise<void> {
  await createClient({ retries: 0 }).post('/api/v1/auth/register', { body })
  const { email, password } = body
  // The account is there: a failed sign-in must not look as if it were not.
  await signIn({ email, password }).catch(() => offerSignIn(email, 'Your account was created. Sign in.'))
  navigate('/', { replace: true })
}

export function Register() {
  const form = useForm('register', specs)
  if (!pageSettings.canRegister)
    return (
      <Card title="Registration is closed" text="Ask an admin of your company for an invitation.">
        <p class="foot">
          <a href="/">{texts.signIn}</a>
        </p>
      </Card>
    )
  return (
    <Card title={texts.createAccount} text="For your company. You can invite others later.">
      <Form
        form={form}
        submit={() => form.send(specs, body => register(bodyOf<RegisterRequest>(body)))}
        label={texts.createAccount}
        busyLabel={accountTexts.creating}
      >
        <Fields form={form} of={specs} />
      </Form>
      <p class="foot">
        <a href="/">{accountTexts.haveAccount}</a>
      </p>
    </Card>
  )
}
