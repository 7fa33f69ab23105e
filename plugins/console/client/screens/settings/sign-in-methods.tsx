import { useEffect, useState } from 'preact/hooks'
import type {
  ChangePasswordRequest,
  ProviderLink,
  ProviderLinks,
  RemovePasswordRequest,
} from 'tidemark/client'
import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { useAction } from '../../lib/action.ts'
import { api, bodyOf } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { changeQuery, useQuery } from '../../lib/router.ts'
import { resumeSession, signIn, type User } from '../../lib/session.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { Help } from '../../parts/help.tsx'
import { notify } from '../../parts/notices.tsx'
import { nameProvider } from '../../lib/providers.ts'
import { Loaded } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { peopleTexts } from './people-texts.ts'

const oldPassword: FieldSpec = {
  ...{ name: 'old_password', label: 'Your password now', kind: 'secret' },
  ...{ isRequired: true, autoComplete: 'current-password' },
}
const passwordFields: FieldSpec[] = [
  oldPassword,
  {
    ...{ name: 'new_password', label: 'New password', kind: 'secret' },
    ...{
      isRequired: true,
      hint: '12 to 128 characters. A few words that nobody would guess are good.',
      autoComplete: 'new-password',
    },
  },
]

/** The password and the providers by which you sign in. */
export function SignInMethods({ user }: { user: User }) {
  const links = useData('provider links', async signal => api.get('/api/v1/oauth/links', { signal }))
  useLinkResult(links.data)
  return (
    <>
      <h2>
        {peopleTexts.signIn}
        <Help page="access#sign-in" about={peopleTexts.signIn} />
      </h2>
      <Loaded of={links} what={peopleTexts.signIn.toLowerCase()} rows={2}>
        {(found: ProviderLinks) => {
          const unlinked = found.providers.filter(name => !found.links.some(link => link.provider === name))
          return (
            <>
              <ul class="list methods">
                <Password user={user} hasPassword={found.has_password} hasLinks={found.links.length > 0} />
                {found.links.map(link => (
                  <LinkedProvider key={link.provider} link={link} reload={links.reload} />
                ))}
                {unlinked.map(name => (
                  <UnlinkedProvider key={name} provider={name} hasPassword={found.has_password} />
                ))}
              </ul>
              {found.providers.length === 0 && (
                <p class="quiet">The operator can add the sign-in through Google, GitHub and others.</p>
              )}
            </>
          )
        }}
      </Loaded>
    </>
  )
}

/** Says what became of a link, when the provider has sent the browser back. */
function useLinkResult(links: ProviderLinks | undefined): void {
  const [query] = useQuery()
  const linked = query.get('linked')
  useEffect(() => {
    if (linked === null || !links) return
    changeQuery({ linked: null })
    // Anyone can write such an address.
    if (links.links.some(({ provider }) => provider === linked))
      notify(`${nameProvider(linked)} is linked: you can sign in with it.`)
  }, [linked, links])
}

function Password({ user, hasPassword, hasLinks }: { user: User; hasPassword: boolean; hasLinks: boolean }) {
  const [open, setOpen] = useState<'change' | 'remove' | null>(null)
  const close = () => setOpen(null)
  const change = async (body: Record<string, unknown>) => {
    await api.post('/api/v1/auth/change-password', { body: bodyOf<ChangePasswordRequest>(body) })
    // All sessions have ended, this one too. If this fails, the console asks for the new password.
    await signIn({ email: user.email, password: String(body.new_password) }).catch(endSession)
    notify('Your password was changed.')
  }
  const remove = async (body: Record<string, unknown>) => {
    await api.post('/api/v1/auth/remove-password', { body: bodyOf<RemovePasswordRequest>(body) })
    await endSession()
  }
  return (
    <li>
      <span class="text">
        {peopleTexts.password}: {hasPassword ? 'set' : 'none'}
      </span>
      {hasPassword && (
        <button class="small" onClick={() => setOpen('change')}>
          {peopleTexts.changePassword}
        </button>
      )}
      {hasPassword && hasLinks && (
        <button class="small" onClick={() => setOpen('remove')}>
          {peopleTexts.removePassword}
        </button>
      )}
      {open === 'change' && (
        <FormDialog
          title={peopleTexts.changePassword}
          id="password"
          specs={passwordFields}
          label={peopleTexts.changePassword}
          send={change}
          close={close}
        >
          You are signed out everywhere else. Your API keys stay valid.
        </FormDialog>
      )}
      {open === 'remove' && (
        <FormDialog
          title={peopleTexts.removePassword}
          id="no password"
          specs={[oldPassword]}
          label={peopleTexts.removePassword}
          send={remove}
          close={close}
        >
          You sign in through a provider only from then on, and are signed out everywhere.
        </FormDialog>
      )}
    </li>
  )
}

/** Finds out that the session has ended, so that the console asks to sign in. */
const endSession = () => resumeSession().then(undefined, () => undefined)

function LinkedProvider({ link, reload }: { link: ProviderLink; reload: () => void }) {
  const { provider, linked_at: at, last_used_at: usedAt } = link
  const [isOpen, setOpen] = useState(false)
  const name = provider === null ? 'A provider that the operator has removed' : nameProvider(provider)
  const unlink = async () => {
    await api.delete('/api/v1/oauth/{provider_type}/link', { path: { provider_type: provider! } })
    reload()
  }
  return (
    <li>
      <span class="text">
        {name}{' '}
        <span class="quiet">
          {peopleTexts.linked} <Ago at={at} />, {peopleTexts.lastUsed.toLowerCase()} <Ago at={usedAt} />
        </span>
      </span>
      {provider !== null && (
        <button class="small" onClick={() => setOpen(true)}>
          {peopleTexts.unlink(name)}
        </button>
      )}
      {isOpen && (
        <ConfirmDialog
          title={peopleTexts.unlink(name)}
          action={peopleTexts.unlink(name)}
          work={unlink}
          close={() => setOpen(false)}
        >
          <p>{peopleTexts.unlinkText(name)}</p>
        </ConfirmDialog>
      )}
    </li>
  )
}

function UnlinkedProvider({ provider, hasPassword }: { provider: string; hasPassword: boolean }) {
  const [isOpen, setOpen] = useState(false)
  const name = nameProvider(provider)
  const link = async (body: object = {}) => {
    const { authorization_url: address } = await api.post('/api/v1/oauth/{provider_type}/link', {
      path: { provider_type: provider },
      body: { ...body, redirect_uri: `${location.origin}/settings` },
    })
    location.assign(address)
  }
  const [isBusy, start] = useAction(peopleTexts.link(name), link)
  return (
    <li>
      <span class="text">
        {name} <span class="quiet">not linked</span>
      </span>
      <button class="small" disabled={isBusy} onClick={hasPassword ? () => setOpen(true) : start}>
        {peopleTexts.link(name)}
      </button>
      {isOpen && (
        <FormDialog
          title={peopleTexts.link(name)}
          id={`link ${provider}`}
          specs={[oldPassword]}
          label={peopleTexts.link(name)}
          send={link}
          close={() => setOpen(false)}
        >
          {peopleTexts.linkText(name)}
        </FormDialog>
      )}
    </li>
  )
}
