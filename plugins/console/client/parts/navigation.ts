import { frameTexts as texts } from '../texts/frame.ts'
import type { IconName } from './icon-paths.ts'

/** The screens that the navigation names; the server writes them into the page too. */
export const SCREENS: readonly {
  address: string
  name: string
  icon: IconName
  key: string
  /** Whether a small window has no room for it; the account's menu has it there. */
  isWide?: boolean
  /** The heading of the group that begins with it. */
  group?: string
}[] = [
  { address: '/', name: texts.overview, icon: 'overview', key: 'o' },
  { address: '/alerts', name: texts.alerts, icon: 'alerts', key: 'a' },
  { address: '/incidents', name: texts.incidents, icon: 'incidents', key: 'i' },
  { address: '/catalog', name: texts.catalog, icon: 'catalog', key: 'c', group: texts.groupData },
  { address: '/sources', name: texts.sources, icon: 'sources', key: 's' },
  { address: '/changes', name: texts.changes, icon: 'changes', key: 'd', isWide: true },
  { address: '/checks', name: texts.checks, icon: 'check', key: 'k', group: texts.groupChecks },
  { address: '/recommendations', name: texts.recommendations, icon: 'idea', key: 'n', isWide: true },
  { address: '/contracts', name: texts.contracts, icon: 'guide', key: 't', isWide: true },
  { address: '/schedules', name: texts.schedules, icon: 'clock', key: 'h', isWide: true },
  {
    address: '/routing',
    name: texts.routing,
    icon: 'routing',
    key: 'r',
    isWide: true,
    group: texts.groupNotifications,
  },
  {
    address: '/connect',
    name: texts.connect,
    icon: 'connect',
    key: 'p',
    isWide: true,
    group: texts.groupSetup,
  },
]

/** Whether a path belongs to the screen of an address; a table belongs to the catalog. */
export function isCurrentScreen(address: string, path: string): boolean {
  const [, first = ''] = path.split('/')
  return address === `/${first === 'tables' ? 'catalog' : first}`
}
