/** Saved views: names for addresses of a list, kept in the user's preferences. */
import { api } from '../../lib/api.ts'
import { withQuery } from '../../lib/router.ts'
import { updatePreferences } from '../../lib/session.ts'

export interface View {
  name: string
  /** The path and the query of the list. */
  address: string
}

/** The key of `custom` of the preferences. */
const KEY = 'views'

/** What an address says of the place in a list, not of the list. */
const PASSING = { offset: null, open: null, change: null }

/** The views of all lists, from what clients keep for the user; what is no view is left out. */
export function readViews(custom: Readonly<Record<string, unknown>> | undefined): View[] {
  const views = custom?.[KEY]
  return Array.isArray(views) ? views.filter(isView) : []
}

function isView(value: unknown): value is View {
  const { name, address } = (value ?? {}) as Partial<View>
  // An address of another host, or a script, is not followed.
  return typeof name === 'string' && typeof address === 'string' && /^\/\w/.test(address)
}

/** The views of the list at a path. */
export const viewsOf = (views: readonly View[], path: string) =>
  views.filter(({ address }) => address.split('?')[0] === path)

/** The address of a list as a view keeps it: in one order, so that equal ones are equal. */
export function viewAddress(path: string, query: URLSearchParams): string {
  const sorted = new URLSearchParams(query)
  sorted.sort()
  return withQuery(path, PASSING, sorted)
}

/** Views with one more; one of its list that has its name is replaced. */
export const withView = (views: readonly View[], added: View): View[] =>
  [...withoutView(views, added), added].toSorted((one, other) => one.name.localeCompare(other.name))

export const withoutView = (views: readonly View[], { name, address }: View): View[] => {
  const ofList = viewsOf(views, address.split('?')[0]!)
  return views.filter(view => view.name !== name || !ofList.includes(view))
}

/** Changes the views, from what they are now: another page may have changed them, and `custom` is replaced as a whole. */
export async function changeViews(change: (views: readonly View[]) => View[]): Promise<void> {
  const { data: now } = await api.get('/api/v1/auth/preferences')
  const custom = { ...now.custom, [KEY]: change(readViews(now.custom)) }
  const { data } = await api.patch('/api/v1/auth/preferences', { body: { custom } })
  updatePreferences(data)
}
