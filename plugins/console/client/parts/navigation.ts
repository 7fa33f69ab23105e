import { frameTexts as texts } from '../texts/frame.ts'
import type { IconName } from './icon-paths.ts'

/** The screens that the navigation names; the server writes them into the page too. */
export const SCREENS: readonly {
  address: string
  name: string
  short?: string
  icon: IconName
  key: string
  /** Whether a small window has no room for it; the account's menu has it there. */
  isWide?: boolean
}[] = [
  { address: '/', name: texts.overview, icon: 'overview', key: 'o' },
  { address: '/alerts', name: texts.alerts, icon: 'alerts', key: 'a' },
  { address: '/incidents', name: texts.incidents, icon: 'incidents', key: 'i', isWide: true },
  { address: '/catalog', name: texts.catalog, icon: 'catalog', key: 'c' },
  { address: '/checks', name: texts.checks, icon: 'check', key: 'k' },
  { address: '/sources', name: texts.sources, icon: 'sources', key: 's' },
  { address: '/changes', name: texts.changes, short: texts.changesShort, icon: 'changes', key: 'd' },
  { address: '/contracts', name: texts.contracts, icon: 'guide', key: 't', isWide: true },
  { address: '/routing', name: texts.routing, icon: 'routing', key: 'r', isWide: true },
]

/** Whether a path belongs to the screen of an address; a table belongs to the catalog. */
export function isCurrentScreen(address: string, path: string): boolean {
  const [, first = ''] = path.split('/')
  return address === `/${first === 'tables' ? 'catalog' : first}`
}
