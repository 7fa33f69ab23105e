import { api } from '../../lib/api.ts'
import { inWords } from '../../lib/format.ts'
import { checkAddress, sourceAddress, tableAddress } from '../../lib/router.ts'
import { shortNames } from '../table/short-name.ts'
import { texts } from '../../texts.ts'
import type { IconName } from '../icon-paths.ts'

/** What the palette offers: a page, with the words that say what it is. */
export interface Result {
  address: string
  name: string
  /** The whole name, where the other is short. */
  title?: string
  detail: string
  icon: IconName
}

const ASSET_LIMIT = 8
/** The most incidents, alerts, checks and sections of the documentation, each. */
const OTHER_LIMIT = 4
/** One letter is in nearly all of them. */
const MIN_LETTERS = 2

/** Everything with a page that a term names: assets first, then what is wrong, checks and the documentation. */
export async function search(text: string, signal: AbortSignal): Promise<Result[]> {
  const searches =
    text.length < MIN_LETTERS
      ? [searchAssets]
      : [searchAssets, searchIncidents, searchAlerts, searchChecks, searchGuide]
  return (await Promise.all(searches.map(each => each(text, signal)))).flat()
}

async function searchAssets(q: string, signal: AbortSignal): Promise<Result[]> {
  const { data } = await api.get('/api/v1/sdk/search', { query: { q, limit: ASSET_LIMIT }, signal })
  const short = shortNames([...data.tables, ...data.columns].map(({ qualified_name: name }) => name))
  return [
    ...data.tables.map(({ qualified_name: name, asset_type: kind }) => ({
      address: tableAddress(name),
      name: short.get(name)!,
      title: name,
      detail: inWords(kind),
      icon: 'catalog' as const,
    })),
    ...data.columns.map(({ name, qualified_name: table, data_type: type }) => ({
      address: tableAddress(table, 'columns'),
      name: `${short.get(table)}.${name}`,
      title: `${table}.${name}`,
      // SQLite has columns without a type.
      detail: type === 'any' ? texts.column.toLowerCase() : type,
      icon: 'key' as const,
    })),
    ...data.sources.map(({ name, qualified_name: qualified }) => ({
      address: sourceAddress(qualified),
      name,
      detail: texts.source.toLowerCase(),
      icon: 'sources' as const,
    })),
  ]
}

async function searchIncidents(text: string, signal: AbortSignal): Promise<Result[]> {
  const query = { search: text, limit: OTHER_LIMIT }
  const { data } = await api.get('/api/v1/sdk/incidents', { query, signal })
  return data.incidents.map(({ id, title, status }) => ({
    address: `/incidents/${id}`,
    name: title,
    detail: `incident, ${inWords(status)}`,
    icon: 'incidents',
  }))
}

async function searchAlerts(text: string, signal: AbortSignal): Promise<Result[]> {
  const query = { search: text, limit: OTHER_LIMIT }
  const { data } = await api.get('/api/v1/sdk/alerts', { query, signal })
  return data.data.map(({ id, title, status }) => ({
    address: `/alerts/${id}`,
    name: title,
    detail: `alert, ${inWords(status)}`,
    icon: 'alerts',
  }))
}

async function searchChecks(text: string, signal: AbortSignal): Promise<Result[]> {
  const query = { search: text, limit: OTHER_LIMIT, points: 0, sort: 'status' as const }
  const { data } = await api.get('/api/v1/sdk/checks', { query, signal })
  return data.items.map(check => ({
    address: checkAddress(check),
    name: `${check.title}, ${check.qualified_name}`,
    detail: `check, ${inWords(check.status)}`,
    icon: 'check',
  }))
}

/** The search of the documentation's pages, `plugins/public/assets/guide-search.js`. */
interface GuideSearch {
  findSections(text: string, limit: number): Promise<{ href: string; name: string }[]>
}
const GUIDE_SEARCH = '/assets/guide-search.js'

async function searchGuide(text: string): Promise<Result[]> {
  const { findSections } = (await import(GUIDE_SEARCH)) as GuideSearch
  return (await findSections(text, OTHER_LIMIT)).map(({ href, name }) => ({
    address: href,
    name,
    detail: texts.guide.toLowerCase(),
    icon: 'guide',
  }))
}
