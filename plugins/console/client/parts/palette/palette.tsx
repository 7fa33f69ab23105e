import { useEffect, useMemo, useState } from 'preact/hooks'
import { useData, useDebounced } from '../../lib/data.ts'
import { isElsewhere, navigate } from '../../lib/router.ts'
import { canAdminister } from '../../lib/session.ts'
import { texts } from '../../texts.ts'
import { Dialog } from '../dialog.tsx'
import { Icon } from '../icons.tsx'
import { SCREENS } from '../navigation.ts'
import type { Result } from './search.ts'
import { describeError } from '../states.tsx'

const OTHERS: readonly Result[] = [
  { address: '/settings', name: texts.settings, detail: '', icon: 'settings' },
  { address: '/settings/teams', name: texts.teams, detail: '', icon: 'user' },
  { address: '/guide/index', name: texts.guide, detail: '', icon: 'guide' },
]
/** After the last letter, before it is searched. */
const PAUSE_MS = 150
/** What only admins may see. */
const FOR_ADMINS: readonly Result[] = [
  { address: '/settings/people', name: texts.people, detail: '', icon: 'user' },
  { address: '/settings/keys', name: texts.apiKeys, detail: '', icon: 'key' },
  { address: '/settings/audit', name: texts.auditLog, detail: '', icon: 'clock' },
  { address: '/settings/operations', name: texts.operations, detail: '', icon: 'settings' },
]

/** Search over everything that has a page, opened by Ctrl-K or `/`. */
export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState('')
  const [place, setPlace] = useState(0)
  const term = useDebounced(text.trim(), PAUSE_MS)
  const found = useData(term ? `search ${term}` : null, async signal =>
    (await import('./search.ts')).search(term, signal),
  )
  // Results of a former term must not be opened by an Enter that comes soon after the last letter.
  const isPending = text.trim() !== term || found.isLoading
  const screens = useMemo(() => {
    const first = SCREENS.map(screen => ({ ...screen, detail: `g ${screen.key}` }))
    const all = [...first, ...OTHERS, ...(canAdminister() ? FOR_ADMINS : [])]
    return all.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  }, [text])
  const results: readonly Result[] = [...(text.trim() === term ? (found.data ?? []) : []), ...screens]
  const current = Math.min(place, Math.max(0, results.length - 1))
  const [isEntered, setEntered] = useState(false)
  useEffect(() => {
    if (!isEntered || isPending) return
    setEntered(false)
    if (results[0]) open(results[0])
  })
  const open = ({ address }: Result) => {
    close()
    if (isElsewhere(address)) location.assign(address)
    else navigate(address)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      const next = (current + step + results.length) % Math.max(1, results.length)
      setPlace(next)
      document.getElementById(`palette-${next}`)?.scrollIntoView({ block: 'nearest' })
    }
    const chosen = results[current]
    if (event.key !== 'Enter') return
    if (isPending && screens.length === 0) setEntered(true)
    else if (chosen) open(chosen)
  }
  return (
    <Dialog title={texts.openPalette} close={close} className="palette">
      <input
        type="search"
        role="combobox"
        aria-label={texts.paletteHint}
        aria-expanded="true"
        list={
          // The types of Preact want one with this role.
          undefined
        }
        aria-controls="palette-results"
        aria-activedescendant={results.length > 0 ? `palette-${current}` : undefined}
        placeholder={texts.paletteHint}
        autofocus
        value={text}
        onInput={(event: Event) => {
          setText((event.target as HTMLInputElement).value)
          setPlace(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-results" role="listbox" aria-label="Search">
        {results.map((result, n) => (
          <li
            key={result.address + result.name}
            id={`palette-${n}`}
            role="option"
            aria-selected={n === current}
            onMouseMove={() => setPlace(n)}
            onClick={() => open(result)}
          >
            <Icon name={result.icon} />
            <span class="name">
              <bdi title={result.title}>{result.name}</bdi>
            </span>
            <span class="quiet">{result.detail}</span>
          </li>
        ))}
      </ul>
      {results.length === 0 && !isPending && found.error === undefined && <p class="quiet">No match.</p>}
      {found.error !== undefined && <p class="bad">{describeError(found.error)}</p>}
    </Dialog>
  )
}
