import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { html } from '../lib/html.ts'
import { useTitle } from '../parts/frame.ts'
import { lazy, type LazyComponent } from '../parts/lazy.ts'
import { texts } from '../texts.ts'
import { Overview } from './overview.ts'
import type { ScreenProps } from './props.ts'

/** The first screen comes with the page; the others are loaded when they are opened. */
const SCREENS: Record<string, ComponentType<ScreenProps> | LazyComponent<ScreenProps>> = {
  '': Overview,
  alerts: lazy(async () => (await import('./alerts.ts')).Alerts),
  incidents: lazy(async () => (await import('./incidents/incidents.ts')).Incidents),
  checks: lazy(async () => (await import('./checks.ts')).Checks),
  recommendations: lazy(async () => (await import('./recommendations/recommendations.ts')).Recommendations),
  catalog: lazy(async () => (await import('./catalog.ts')).Catalog),
  tables: lazy(async () => (await import('./table.ts')).TablePage),
  sources: lazy(async () => (await import('./sources.ts')).Sources),
  changes: lazy(async () => (await import('./changes.ts')).Changes),
  settings: lazy(async () => (await import('./settings.ts')).Settings),
  routing: lazy(async () => (await import('./routing/routing.ts')).Routing),
  contracts: lazy(async () => (await import('./contracts/contracts.ts')).Contracts),
  connect: lazy(async () => (await import('./connect/connect.ts')).Connect),
  schedules: lazy(async () => (await import('./schedules.ts')).Schedules),
}

/** Loads the module of the screen of an address. @throws when the server is away */
export async function preloadScreen(path: string): Promise<void> {
  const screen = SCREENS[path.split('/')[1] ?? '']
  if (screen && 'preload' in screen) await screen.preload()
}

/** The screen of an address. */
export function Screen({ path }: { path: string }) {
  const [, first = '', rest = ''] = path.split('/')
  const Shown = SCREENS[first]
  useEffect(() => {
    // A reader of the screen hears the new one; the first time the browser has said the title.
    if (document.activeElement === document.body || !document.activeElement?.isConnected)
      document.getElementById('main')?.focus({ preventScroll: true })
  }, [first])
  return Shown ? html`<${Shown} key=${first} name=${decode(rest)} />` : html`<${NotFound} />`
}

/** An address that someone has changed by hand may be no valid encoding. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function NotFound() {
  useTitle(texts.notFound)
  return html`<div class="empty">
    <h1>${texts.notFound}</h1>
    <p><a class="button" href="/">Go to the overview</a></p>
  </div>`
}
