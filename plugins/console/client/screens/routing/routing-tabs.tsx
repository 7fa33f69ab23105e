import { Tabs } from '../../parts/tabs.tsx'
import { digestTexts } from './digest-texts.ts'
import { routingTexts } from './texts.ts'

export type RoutingTab = 'destinations' | 'rules' | 'mute' | 'digests'

/** The lists of the screen. */
export function RoutingTabs({ current }: { current: RoutingTab }) {
  return (
    <Tabs
      label={routingTexts.title}
      current={current}
      tabs={[
        { id: 'destinations', name: routingTexts.destinations },
        { id: 'rules', name: routingTexts.rules },
        { id: 'mute', name: routingTexts.muteWindows },
        { id: 'digests', name: digestTexts.digests },
      ]}
    />
  )
}
