import { html } from '../../lib/html.ts'
import { useQuery } from '../../lib/router.ts'
import type { ScreenProps } from '../props.ts'
import { DestinationList } from './destination-list.ts'
import { DestinationPage } from './destination.ts'
import { MutePage } from './mute-form.ts'
import { MuteList } from './mute-list.ts'
import { NewDestination } from './new-destination.ts'
import { RuleList } from './rule-list.ts'
import { RulePage } from './rule.ts'

/** Who hears of what: destinations, rules and mute windows, or one of them. A message about a destination links to it here. */
export function Routing({ name }: ScreenProps) {
  const [query] = useQuery()
  const type = query.get('type')
  if (name === 'new') return html`<${NewDestination} key=${type} typeName=${type} />`
  if (name) return html`<${DestinationPage} key=${name} id=${name} />`
  const window = query.get('window')
  if (query.get('tab') === 'mute')
    return window ? html`<${MutePage} key=${window} id=${window} />` : html`<${MuteList} />`
  if (query.get('tab') !== 'rules') return html`<${DestinationList} />`
  const rule = query.get('rule')
  return rule ? html`<${RulePage} key=${rule} id=${rule} />` : html`<${RuleList} />`
}
