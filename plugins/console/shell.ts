import type { Request } from '@hapi/hapi'
import { html, type Markup } from '../../server/markup.ts'
import { ICON_PATHS, type IconName } from './client/parts/icon-paths.ts'
import { isCurrentScreen, SCREENS } from './client/parts/navigation.ts'
import { frameTexts as texts } from './client/texts/frame.ts'
import { readSessionCookie } from './session.ts'

/** Who looks at a page, as the cookie says; the name is null in the demo. */
export interface Viewer {
  name: string | null
}

/** The viewer of a request; undefined without a live session. One query, which changes nothing. */
export async function findViewer(request: Request): Promise<Viewer | undefined> {
  const { auth } = request.server.plugins
  const value = readSessionCookie(request)
  if (value === undefined) return undefined
  try {
    if (auth.isDemoKey(value)) return (await auth.getDemoSecondsLeft(value)) > 0 ? { name: null } : undefined
    return await auth.findSessionUser(value)
  } catch (error) {
    // The page shows by itself that the service is away.
    request.log('error', error as Error)
    return undefined
  }
}

/** The bar and the navigation as the client's `Frame` shows them, above grey blocks of the size of a screen. */
export function renderShell({ name }: Viewer, path: string): Markup {
  return html`<a class="skip" href="#main">${texts.skip}</a>
    ${name === null ? html`<p class="demo-bar">${texts.demoBar} <button class="link">${texts.leaveDemo}</button></p>` : null}
    <header class="bar">
      <a class="brand" href="/"><img src="/favicon.svg" alt="" width="20" height="20" />Tidemark</a>
      <button class="find">${renderIcon('search')}<span>${texts.openPalette}</span><kbd>Ctrl K</kbd></button>
      <a class="button plain" href="/guide/index" title="${texts.guide}">
        ${renderIcon('guide')}<span class="wide">${texts.guide}</span>
      </a>
      <details class="menu">
        <summary
          class="button plain"
          aria-label="${name ? texts.accountOf(name) : texts.account}"
          title="${name ?? ''}"
        >
          ${renderIcon('user')}<span class="who"><bdi>${name ?? ''}</bdi></span>
        </summary>
      </details>
    </header>
    <nav class="screens" aria-label="${texts.navigation}">
      ${SCREENS.map(({ address, name, icon, isWide, group }) => {
        const content = html`${renderIcon(icon)}<span>${name}</span>`
        const link = isCurrentScreen(address, path)
          ? html`<a href="${address}" class="${isWide ? 'wide-only' : ''}" aria-current="page">${content}</a>`
          : html`<a href="${address}" class="${isWide ? 'wide-only' : ''}">${content}</a>`
        return group === undefined ? link : html`<span class="group">${group}</span>${link}`
      })}
    </nav>
    <main id="main" tabindex="-1">
      <div class="page">
        <div class="skeleton" role="status" aria-label="${texts.loading}">
          <div class="title"></div>
          ${Array.from({ length: SKELETON_ROWS }, () => html`<div></div>`)}
        </div>
      </div>
    </main>`
}

/** They fill a window of usual height. */
const SKELETON_ROWS = 16

function renderIcon(name: IconName): Markup {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${ICON_PATHS[name]}" /></svg>`
}
