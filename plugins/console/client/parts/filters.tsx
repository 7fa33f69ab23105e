import { useEffect, useRef, useState } from 'preact/hooks'
import { useDebounced } from '../lib/data.ts'
import { changeQuery, useQuery } from '../lib/router.ts'
import { Icon } from './icons.tsx'

/** A field that searches as a person types; what it searches for stands in the address. */
export function SearchField({ label }: { label: string }) {
  const [query] = useQuery()
  const inAddress = query.get('search') ?? ''
  const [text, setText] = useState(inAddress)
  const term = useDebounced(text, 200)
  const sent = useRef(inAddress)
  useEffect(() => {
    const search = term.trim()
    if (search === sent.current) return
    sent.current = search
    changeQuery({ search, offset: null })
  }, [term])
  // The Back button, or a link that clears the filters; not the text that this field has sent itself.
  useEffect(() => {
    if (inAddress === sent.current) return
    sent.current = inAddress
    setText(inAddress)
  }, [inAddress])
  return (
    <label class="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        maxlength={200}
        value={text}
        onInput={(event: Event) => setText((event.target as HTMLInputElement).value)}
      />
    </label>
  )
}

/** A list of choices that stands in the address; the first is no filter. */
export function Choice({
  name,
  label,
  none,
  options,
}: {
  name: string
  label: string
  none: string
  options: readonly (readonly [value: string, text: string])[]
}) {
  const [query] = useQuery()
  const value = query.get(name) ?? ''
  // A link may name one that is not in the list.
  const isKnown = value === '' || options.some(([known]) => known === value)
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event: Event) =>
        changeQuery({ [name]: (event.target as HTMLSelectElement).value, offset: null })
      }
    >
      <option value="">{none}</option>
      {options.map(([known, text]) => (
        <option key={known} value={known}>
          {text}
        </option>
      ))}
      {!isKnown && <option value={value}>{value}</option>}
    </select>
  )
}
