import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { useTitle } from '../parts/frame.tsx'
import { lazy, type LazyComponent } from '../parts/lazy.tsx'
import { texts } from '../texts.ts'
import { Overview } from './overview.tsx'
import type { ScreenProps } from './props.ts'

/** The first screen comes with the page; the others are loaded when they are opened. */
const SCREENS: Record<string, ComponentType<ScreenProps> | LazyComponent<ScreenProps>> = {
  '': Overview,
  alerts: lazy(async () => (await import('./alerts.tsx')).Alerts),
  incidents: lazy(async () => (await import('./incidents/incidents.tsx')).Incidents),
  checks: lazy(async () => (await import('./checks.tsx')).Checks),
  recommendations: lazy(async () => (await import('./recommendations/recommendations.tsx')).Recommendations),
  catalog: lazy(async () => (await import('./catalog.tsx')).Catalog),
  tables: lazy(async () => (await import('./table.tsx')).TablePage),
  sources: lazy(async () => (await import('./sources.tsx')).Sources),
  changes: lazy(async () => (await import('./changes.tsx')).Changes),
  settings: lazy(async () => (await import('./settings.tsx')).Settings),
  routing: lazy(async () => (await import('./routing/routing.tsx')).Routing),
  contracts: lazy(async () => (await import('./contracts/contracts.tsx')).Contracts),
  connect: lazy(async () => (await import('./connect/connect.tsx')).Connect),
  schedules: lazy(async () => (await import('./schedules.tsx')).Schedules),
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
  return Shown ? <Shown key={first} name={decode(rest)} /> : <NotFound />
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
  return (
    <div class="empty">
      <h1>{texts.notFound}</h1>
      <p>
        <a class="button" href="/">
          Go to the overview
        </a>
      </p>
    </div>
  )
}
