import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { listKeys, useKeys } from '../lib/keys.ts'
import { closeOnChoice, useMenu } from '../lib/menu.ts'
import { navigate, place } from '../lib/router.ts'
import { session, signOut, type Session } from '../lib/session.ts'
import { createSignal, useSignal } from '../lib/signal.ts'
import { useVisit } from '../lib/visits.ts'
import { texts } from '../texts.ts'
import { Dialog } from './dialog.tsx'
import { Icon } from './icons.tsx'
import { isCurrentScreen, SCREENS } from './navigation.ts'
import { Palette } from './palette/palette.tsx'
import { Notices, notify } from './notices.tsx'

const POLL_MS = 30_000
/** Alerts with these need attention. */
export const OPEN_STATUSES = ['triggered', 'acknowledged'] as const

/** What is known of the alerts that need attention. */
interface OpenAlerts {
  count: number
  /** When the newest one was opened; null if there is none. */
  newestAt: string | null
}

/** Alerts that are triggered or acknowledged, as the last poll found them: the one poll of all screens. */
export const openAlerts = createSignal<OpenAlerts | null>(null)

/** The bar, the screens and what is shown above them. The server writes the same for the first paint: `shell.ts`. */
export function Frame({ who, children }: { who: Session; children: ComponentChildren }) {
  const { path } = useSignal(place)
  const [layer, setLayer] = useState<'palette' | 'keys' | null>(null)
  const close = () => setLayer(null)
  const open = useOpenAlerts(who.user !== null)
  useVisit(who.user?.id)
  useKeys([
    ...SCREENS.map(({ address, name, key }) => ({
      keys: `g ${key}`,
      text: name,
      run: () => navigate(address),
    })),
    { keys: '/', text: texts.openPalette, run: () => setLayer('palette') },
    { keys: '?', text: texts.keys, run: () => setLayer('keys') },
  ])
  useEffect(() => {
    const openPalette = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      // Not over another dialog.
      if (document.querySelector('dialog[open]:not(.palette)')) return
      event.preventDefault()
      setLayer(shown => (shown === 'palette' ? null : 'palette'))
    }
    document.addEventListener('keydown', openPalette)
    return () => document.removeEventListener('keydown', openPalette)
  }, [])
  return (
    <>
      <a class="skip" href="#main">
        {texts.skip}
      </a>
      {who.user === null && <DemoBar />}
      <header class="bar">
        <a class="brand" href="/">
          <img src="/favicon.svg" alt="" width="20" height="20" />
          Tidemark
        </a>
        <button class="find" onClick={() => setLayer('palette')}>
          <Icon name="search" />
          <span>{texts.openPalette}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <a class="button plain" href="/guide/index" title={texts.guide}>
          <Icon name="guide" />
          <span class="wide">{texts.guide}</span>
        </a>
        <Account who={who} showKeys={() => setLayer('keys')} />
      </header>
      <nav class="screens" aria-label={texts.navigation}>
        {SCREENS.map(({ address, name, icon, isWide, group }) => (
          <>
            {group && <span class="group">{group}</span>}
            <a
              key={address}
              href={address}
              class={isWide ? 'wide-only' : ''}
              aria-current={isCurrentScreen(address, path) ? 'page' : undefined}
            >
              <Icon name={icon} />
              <span>{name}</span>
              {address === '/alerts' && open ? <span class="count">{open}</span> : null}
            </a>
          </>
        ))}
      </nav>
      <main id="main" tabindex={-1}>
        {children}
      </main>
      <Notices />
      {layer === 'palette' && <Palette close={close} />}
      {layer === 'keys' && <KeyHelp close={close} />}
    </>
  )
}

/**
 * Polls the newest alert and the count. A page of one is the cheapest request that has both, and the browser sends the
 * tag of its last reply by itself.
 * @param isPolled not in the demo, whose requests are few
 */
function useOpenAlerts(isPolled: boolean): number | undefined {
  const { data } = useData(
    'open alerts',
    async signal => {
      const query = { status: [...OPEN_STATUSES], limit: 1 }
      const { data } = await api.get('/api/v1/sdk/alerts', { query, signal })
      return { count: data.pagination.total, newestAt: data.data[0]?.created_at ?? null }
    },
    { pollMs: isPolled ? POLL_MS : 0 },
  )
  useEffect(() => {
    const { value: last } = openAlerts
    if (data && (data.count !== last?.count || data.newestAt !== last.newestAt)) openAlerts.set(data)
  }, [data])
  return useSignal(openAlerts)?.count
}

/** A sign-out that failed leaves the session open, which the person must know. */
const leave = () =>
  void signOut().catch(() =>
    notify(`${texts.couldNot(texts.signOut.toLowerCase())} ${texts.noConnection}`, { isError: true }),
  )

function DemoBar() {
  return (
    <p class="demo-bar">
      {texts.demoBar}{' '}
      <button class="link" onClick={leave}>
        {texts.leaveDemo}
      </button>
    </p>
  )
}

function Account({ who, showKeys }: { who: Session; showKeys: () => void }) {
  const name = who.user?.full_name || who.user?.email || ''
  const menu = useMenu()
  return (
    <details ref={menu} class="menu" onClick={closeOnChoice}>
      <summary class="button plain" aria-label={name ? texts.accountOf(name) : texts.account} title={name}>
        <Icon name="user" />
        <span class="who">
          <bdi>{name}</bdi>
        </span>
      </summary>
      <div>
        {who.user && (
          <p>
            <strong>
              <bdi>{name}</bdi>
            </strong>
            <br />
            <span class="quiet">{who.user.company.name}</span>
          </p>
        )}
        {SCREENS.filter(({ isWide }) => isWide).map(({ address, name }) => (
          <a key={address} href={address}>
            {name}
          </a>
        ))}
        <a href="/settings">{texts.settings}</a>
        <button class="plain" onClick={showKeys}>
          {texts.keys} <kbd>?</kbd>
        </button>
        <button class="plain" onClick={leave}>
          {texts.signOut}
        </button>
      </div>
    </details>
  )
}

function KeyHelp({ close }: { close: () => void }) {
  const keys = [...listKeys(), { keys: 'Ctrl K', text: texts.openPalette }]
  return (
    <Dialog title="Keyboard" close={close}>
      <dl class="keys">
        {keys.map(({ keys, text }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map(key => (
                <>
                  <kbd>{key}</kbd>{' '}
                </>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

/** Sets the title of the page. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Tidemark` : 'Tidemark'
  }, [title])
}

/** The session, of which a screen knows that there is one. */
export const useSession = (): Session => useSignal(session) ?? { user: null, preferences: null }
