import { useState } from 'preact/hooks'
import { Icon } from '../../parts/icons.tsx'
import { lineageTexts } from './texts.ts'
import type { Graph } from './graph.ts'

const MAX_FOUND = 8

/** Finds a node by a part of its name; Enter takes the first. */
export function NodeFinder({ graph, choose }: { graph: Graph | undefined; choose: (id: string) => void }) {
  const [text, setText] = useState('')
  const term = text.trim().toLowerCase()
  const found =
    term === ''
      ? []
      : [...(graph?.nodes.values() ?? [])]
          .filter(({ qualified_name: name }) => name.toLowerCase().includes(term))
          .slice(0, MAX_FOUND)
  const take = (id: string) => {
    choose(id)
    setText('')
  }
  return (
    <form
      class="search finder"
      role="search"
      onSubmit={(event: Event) => {
        event.preventDefault()
        if (found[0]) take(found[0].id)
      }}
    >
      <Icon name="search" />
      <input
        type="search"
        aria-label={lineageTexts.search}
        placeholder={lineageTexts.search}
        maxlength={200}
        value={text}
        onInput={(event: Event) => setText((event.target as HTMLInputElement).value)}
      />
      {term !== '' && (
        <ul class="found">
          {found.map(({ id, name, qualified_name: whole }) => (
            <li key={id}>
              <button type="button" class="plain" title={whole} onClick={() => take(id)}>
                <bdi>{name}</bdi>
              </button>
            </li>
          ))}
          {found.length === 0 && (
            <li class="quiet" role="status">
              No match.
            </li>
          )}
        </ul>
      )}
    </form>
  )
}
