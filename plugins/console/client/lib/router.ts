import { createSignal, useSignal } from './signal.ts'

/** Where the browser is: the path, and the query as names and values. */
export interface Place {
  path: string
  query: URLSearchParams
}

const readPlace = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) })
export const place = createSignal(readPlace())

/** The screen of a place, and its page of a list. */
const screenOf = ({ path, query }: Place) =>
  `${path.split('/')[1]} ${query.get('offset')} ${query.get('before')}`

/** Goes to an address of the console. @param replace whether the Back button skips the present one */
export function navigate(address: string, { replace = false } = {}): void {
  const before = screenOf(place.value)
  if (replace) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
  place.set(readPlace())
  // Another alert or tab keeps the list where it is.
  if (screenOf(place.value) !== before) scrollTo(0, 0)
}

/** The query of the address, and a function that changes some of it; empty values are left out. */
export function useQuery(): [
  URLSearchParams,
  (changes: Record<string, string | null>, options?: { replace?: boolean }) => void,
] {
  const { query } = useSignal(place)
  return [query, changeQuery]
}

/** Changes some of the query, and nothing else of the address. */
export function changeQuery(
  changes: Record<string, string | null>,
  options: { replace?: boolean } = { replace: true },
): void {
  navigate(withQuery(location.pathname, changes, place.value.query), options)
}

/** An address with changes to a query; without values for what is null or empty. */
export function withQuery(
  path: string,
  changes: Record<string, string | null>,
  query = new URLSearchParams(),
): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes))
    if (value === null || value === '') next.delete(name)
    else next.set(name, value)
  const text = next.toString()
  return text ? `${path}?${text}` : path
}

export const tableAddress = (qualifiedName: string, tab = '') =>
  withQuery(`/tables/${encodeURIComponent(qualifiedName)}`, { tab })
/** The page of an asset, by the kind that the API names. */
export function assetAddress(asset: { id: string; qualified_name: string; asset_type: string }): string {
  if (asset.asset_type === 'destination') return `/routing/${asset.id}`
  return asset.asset_type === 'source'
    ? sourceAddress(asset.qualified_name)
    : tableAddress(asset.qualified_name)
}
/** The page of a check: its table, with the check open. */
export const checkAddress = ({ id, qualified_name: table }: { id: string; qualified_name: string }) =>
  withQuery(tableAddress(table), { check: id })
export const sourceAddress = (name: string) => `/sources/${encodeURIComponent(name)}`

/** Paths that the server renders: links to them load a page. */
const ELSEWHERE = /^\/(api|docs|redoc|guide|health|openapi\.json|assets|badges|console)([/#?]|$)/

/** Whether an address is no screen of the console. */
export const isElsewhere = (address: string) => ELSEWHERE.test(address)

/** Makes links within the console change the screen instead of loading the page. */
export function followLinks(): void {
  addEventListener('popstate', () => place.set(readPlace()))
  document.addEventListener('click', event => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest?.('a[href]')
    if (!(link instanceof HTMLAnchorElement) || link.target || link.origin !== location.origin) return
    if (isElsewhere(link.pathname) || link.getAttribute('href')?.startsWith('#')) return
    event.preventDefault()
    navigate(link.pathname + link.search)
  })
}
