import { html } from '../../lib/html.ts'
import { useQuery } from '../../lib/router.ts'
import type { ScreenProps } from '../props.ts'
import { DestinationList } from './destination-list.ts'
import { DestinationPage } from './destination.ts'
import { DigestPage } from './digest-form.ts'
import { DigestList } from './digest-list.ts'
import { MutePage } from './mute-form.ts'
import { MuteList } from './mute-list.ts'
import { NewDestination } from './new-destination.ts'
import { RuleList } from './rule-list.ts'
import { RulePage } from './rule.ts'

/** Who hears of what: destinations, rules, mute windows and digests, or one of them. A message about a destination links to it here. */
export function Routing({ name }: ScreenProps) {
  const [query] = useQuery()
  const type = query.get('type')
  if (name === 'new') return html`<${NewDestination} key=${type} typeName=${type} />`
  if (name) return html`<${DestinationPage} key=${name} id=${name} />`
  const window = query.get('window')
  if (query.get('tab') === 'mute')
    return window ? html`<${MutePage} key=${window} id=${window} />` : html`<${MuteList} />`
  const digest = query.get('digest')
  if (query.get('tab') === 'digests')
    return digest ? html`<${DigestPage} key=${digest} id=${digest} />` : html`<${DigestList} />`
  if (query.get('tab') !== 'rules') return html`<${DestinationList} />`
  const rule = query.get('rule')
  return rule ? html`<${RulePage} key=${rule} id=${rule} />` : html`<${RuleList} />`
}
