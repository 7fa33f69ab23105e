import { useQuery } from '../../lib/router.ts'
import type { ScreenProps } from '../props.ts'
import { DestinationList } from './destination-list.tsx'
import { DestinationPage } from './destination.tsx'
import { DigestPage } from './digest-form.tsx'
import { DigestList } from './digest-list.tsx'
import { MutePage } from './mute-form.tsx'
import { MuteList } from './mute-list.tsx'
import { NewDestination } from './new-destination.tsx'
import { RuleList } from './rule-list.tsx'
import { RulePage } from './rule.tsx'

/** Who hears of what: destinations, rules, mute windows and digests, or one of them. A message about a destination links to it here. */
export function Routing({ name }: ScreenProps) {
  const [query] = useQuery()
  const type = query.get('type')
  if (name === 'new') return <NewDestination key={type} typeName={type} />
  if (name) return <DestinationPage key={name} id={name} />
  const window = query.get('window')
  if (query.get('tab') === 'mute') return window ? <MutePage key={window} id={window} /> : <MuteList />
  const digest = query.get('digest')
  if (query.get('tab') === 'digests') return digest ? <DigestPage key={digest} id={digest} /> : <DigestList />
  if (query.get('tab') !== 'rules') return <DestinationList />
  const rule = query.get('rule')
  return rule ? <RulePage key={rule} id={rule} /> : <RuleList />
}
