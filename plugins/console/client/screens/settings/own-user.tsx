import { useState } from 'preact/hooks'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { updatePreferences, updateUser, type Preferences, type User } from '../../lib/session.ts'
import { useSession } from '../../parts/frame.tsx'
import { notify } from '../../parts/notices.tsx'
import { describeError } from '../../parts/states.tsx'
import { peopleTexts } from './people-texts.ts'
import { texts } from '../../texts.ts'
import { hideChecklist, isChecklistHidden } from '../setup/setup-steps.ts'
import { SignInMethods } from './sign-in-methods.tsx'

const PAGE_SIZES = [25, 50, 100]

/** Your preferences, your profile, and how you sign in. */
export function OwnUser() {
  const { user, preferences } = useSession()
  if (!user || !preferences) return null
  return (
    <div class="columns">
      <section>
        <h2>Preferences</h2>
        <PreferenceFields preferences={preferences} />
      </section>
      <section>
        <h2>Profile</h2>
        <Profile user={user} />
        <SignInMethods user={user} />
      </section>
    </div>
  )
}

type Changes = Partial<Pick<Preferences, 'theme' | 'timezone' | 'table_page_size'>>

/** Each change is saved at once. */
function PreferenceFields({ preferences }: { preferences: Preferences }) {
  const [message, setMessage] = useState({ text: '', isError: false })
  const save = async (changes: Changes) => {
    const before = preferences
    updatePreferences({ ...preferences, ...changes })
    try {
      const { data } = await api.patch('/api/v1/auth/preferences', { body: changes })
      updatePreferences(data)
      setMessage({ text: texts.saved, isError: false })
    } catch (error) {
      updatePreferences(before)
      setMessage({ text: describeError(error), isError: true })
    }
  }
  const valueOf = (event: Event) => (event.target as HTMLSelectElement).value
  const zones = Intl.supportedValuesOf('timeZone')
  return (
    <>
      <fieldset class="choices">
        <legend>Theme</legend>
        {Object.entries(texts.themes).map(([theme, text]) => (
          <label key={theme}>
            <input
              type="radio"
              name="theme"
              value={theme}
              checked={preferences.theme === theme}
              onChange={() => void save({ theme: theme as Preferences['theme'] })}
            />
            {text}
          </label>
        ))}
      </fieldset>
      <label class="field">
        <span>Time zone</span>
        <select
          value={preferences.timezone}
          onChange={(event: Event) => void save({ timezone: valueOf(event) })}
        >
          {[...new Set([preferences.timezone, 'UTC', ...zones])].map(zone => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Rows of a list</span>
        <select
          value={String(preferences.table_page_size)}
          onChange={(event: Event) => void save({ table_page_size: Number(valueOf(event)) })}
        >
          {[...new Set([...PAGE_SIZES, preferences.table_page_size])]
            .sort((a, b) => a - b)
            .map(size => (
              <option key={size} value={String(size)}>
                {size}
              </option>
            ))}
        </select>
      </label>
      {isChecklistHidden(preferences) && <ShowChecklist />}
      <p role="status" class={message.isError ? 'bad' : 'quiet'}>
        {message.text}
      </p>
    </>
  )
}

function ShowChecklist() {
  const [isBusy, show] = useAction(peopleTexts.showChecklist, () => hideChecklist(false))
  return (
    <p>
      <button disabled={isBusy} onClick={show}>
        {peopleTexts.showChecklist}
      </button>
    </p>
  )
}

const profileFields: FieldSpec[] = [
  {
    ...{ name: 'full_name', label: 'Full name', kind: 'text', maxLength: 200 },
    ...{ hint: 'How histories and colleagues see you.', autoComplete: 'name' },
  },
]

function Profile({ user }: { user: User }) {
  const form = useForm('profile', profileFields, user)
  const submit = () =>
    form.send(profileFields, async body => {
      if (Object.keys(body).length > 0) updateUser(await api.patch('/api/v1/auth/me', { body }))
      notify(texts.saved)
    })
  return (
    <>
      <dl class="facts">
        <div>
          <dt>{texts.email}</dt>
          <dd>
            <bdi>{user.email}</bdi>
          </dd>
        </div>
        <div>
          <dt>{texts.role}</dt>
          <dd>{user.role}</dd>
        </div>
        <div>
          <dt>Company</dt>
          <dd>
            <bdi>{user.company.name}</bdi>
          </dd>
        </div>
      </dl>
      <Form form={form} submit={submit}>
        <Fields form={form} of={profileFields} />
      </Form>
    </>
  )
}
