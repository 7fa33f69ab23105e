import type { ComponentChildren } from 'preact'
import { canWrite } from '../../lib/session.ts'
import { useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { RoutingTabs, type RoutingTab } from './routing-tabs.tsx'
import { routingTexts } from './texts.ts'

/** The page of one of the lists that say who hears of what: its headline, the tabs, and the list. */
export function ListPage({
  tab,
  name,
  help,
  counted,
  add,
  children,
}: {
  tab: RoutingTab
  /** What the list has, such as `Digests`. */
  name: string
  /** The section of the documentation about it. */
  help: string
  /** How many there are, in words; null while there are none, or it is not known. */
  counted: string | null
  /** The button that adds one; where there are none, the list offers it. */
  add: ComponentChildren
  children: ComponentChildren
}) {
  useTitle(`${routingTexts.title}: ${name}`)
  return (
    <div class="page">
      <div class="headline">
        <h1>
          {counted ?? routingTexts.title}
          <Help page={help} about={name} />
        </h1>
        {counted !== null && canWrite() && add}
      </div>
      <RoutingTabs current={tab} />
      {children}
    </div>
  )
}
