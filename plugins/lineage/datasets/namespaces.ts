/** The names that OpenLineage gives to datasets, and the sources and tables that they stand for. */
import { parseName } from '../../../connectors/catalog.ts'

/** What of a source its datasets are recognized by. */
export interface NamedSource {
  id: string
  name: string
  sourceType: string
  /** Its connection config without secrets. */
  config: Record<string, unknown>
}

/** A rule of people, which maps a namespace to a source. */
export interface NamespaceRule {
  /** A namespace, in which `*` stands for any text. */
  namespace: string
  sourceId: string
  /** Written in front of the names of its datasets: `shop.public`. */
  namePrefix: string | null
}

/** A table as a dataset may name it; what is absent may be anything. */
export interface TableCandidate {
  sourceId: string
  catalog?: string
  schema?: string
  name: string
  /** 0 for how the name is read first. */
  rank: number
}

export interface DatasetName {
  namespace: string
  name: string
}

interface ParsedNamespace {
  scheme: string
  host: string
  port: number | null
}

/** Schemes that stand for an engine under another name. */
const ENGINE_BY_SCHEME: Record<string, string> = {
  postgres: 'postgresql',
  postgresql: 'postgresql',
  redshift: 'redshift',
  mysql: 'mysql',
  mariadb: 'mysql',
  snowflake: 'snowflake',
  bigquery: 'bigquery',
  databricks: 'databricks',
  unitycatalog: 'databricks',
}

const DEFAULT_PORTS: Record<string, number> = { postgresql: 5432, redshift: 5439, mysql: 3306 }
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '::1'])

/**
 * The tables that a dataset may be, by the rules, or where none fits its namespace, by the naming convention. Candidates of
 * several sources are left to the caller, who knows which of them have the table.
 */
export function listCandidates(
  dataset: DatasetName,
  sources: readonly NamedSource[],
  rules: readonly NamespaceRule[],
): TableCandidate[] {
  const rule = findRule(dataset.namespace, rules)
  if (rule) {
    const prefix = rule.namePrefix === null ? '' : `${rule.namePrefix}.`
    return candidatesIn(rule.sourceId, splitName(prefix + dataset.name))
  }
  const parts = splitName(dataset.name)
  return sources
    .filter(source => fitsSource(dataset.namespace, parts, source))
    .flatMap(({ id }) => candidatesIn(id, parts))
}

/** The rule for a namespace: its own before patterns, and the longest pattern first. */
export function findRule(namespace: string, rules: readonly NamespaceRule[]): NamespaceRule | undefined {
  const isExact = (rule: NamespaceRule) => Number(rule.namespace === namespace)
  return rules
    .filter(rule => matchesPattern(rule.namespace, namespace))
    .toSorted((a, b) => isExact(b) - isExact(a) || b.namespace.length - a.namespace.length)[0]
}

function matchesPattern(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return pattern === text
  // Each piece between stars, in turn: a regular expression of many stars may take for ever.
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop() ?? ''
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false
  let at = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= text.length - last.length
}

/** The parts of a dataset's name: `shop.public.orders`, of which those with dots may be quoted. */
function splitName(name: string): string[] {
  return parseName(name) ?? name.split('.')
}

function candidatesIn(sourceId: string, parts: readonly string[]): TableCandidate[] {
  const [name, schema, catalog] = parts.toReversed()
  if (!name) return []
  if (schema === undefined) return [{ sourceId, name, rank: 0 }]
  if (catalog !== undefined) return [{ sourceId, catalog, schema, name, rank: 0 }]
  return [
    { sourceId, schema, name, rank: 0 },
    // Spark names a table of PostgreSQL `database.table` where the connection's schema is the default one.
    { sourceId, catalog: schema, name, rank: 1 },
  ]
}

/** Whether a namespace can be that of a source, whatever the names of its datasets: BigQuery has one for all projects. */
export function mayFitSource(namespace: string, source: NamedSource): boolean {
  const project = String(source.config.project_id ?? '')
  return fitsSource(namespace, [project, 'dataset', 'table'], source)
}

/** Whether a namespace is that of a source by the naming convention. */
export function fitsSource(namespace: string, parts: readonly string[], source: NamedSource): boolean {
  const { scheme, host, port } = parseNamespace(namespace)
  const engine = ENGINE_BY_SCHEME[scheme] ?? scheme
  if (engine !== source.sourceType) return false
  const { config } = source
  const configText = (field: string) => String(config[field] ?? '').toLowerCase()
  switch (engine) {
    case 'snowflake':
      return normalizeAccount(host) === normalizeAccount(configText('account'))
    case 'bigquery':
      return parts.length >= 3 && parts.at(-3)?.toLowerCase() === configText('project_id')
    case 'databricks':
      return (
        host ===
        configText('host')
          .replace(/^https?:\/\//, '')
          .split(/[/:]/, 1)[0]
      )
  }
  const ownHost = configText('host')
  if (!host || !ownHost) return host === source.name.toLowerCase()
  const isHost =
    host === ownHost ||
    (LOOPBACK_HOSTS.has(host) && LOOPBACK_HOSTS.has(ownHost)) ||
    (engine === 'redshift' && host === clusterOf(ownHost))
  const fallback = DEFAULT_PORTS[engine] ?? null
  return isHost && (port ?? fallback) === (Number(config.port) || fallback)
}

function parseNamespace(namespace: string): ParsedNamespace {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(namespace) ?? ['', namespace, '']
  // A user or a path is no part of the convention; some producers write them.
  const authority = (/^[^/?#]*/.exec(rest)?.[0] ?? '').replace(/^.*@/, '')
  const [, host = authority, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(authority) ?? []
  return {
    scheme: scheme.toLowerCase(),
    host: host.toLowerCase().replace(/^\[(.*)\]$/, '$1'),
    port: port === undefined ? null : Number(port),
  }
}

/** The account of Snowflake as the convention spells it: a locator has its region and its cloud. */
function normalizeAccount(account: string): string {
  const spelled = account
    .toLowerCase()
    .replace(/\.snowflakecomputing\.com$/, '')
    .replaceAll('_', '-')
  const parts = spelled.split('.')
  if (parts.length === 1) return spelled.includes('-') ? spelled : `${spelled}.us-west-1.aws`
  return parts.length === 2 ? `${spelled}.aws` : spelled
}

/** `{cluster}.{region}` of the host name of Redshift. */
function clusterOf(host: string): string {
  const [cluster, , region] = host.split('.')
  return host.endsWith('.amazonaws.com') ? `${cluster}.${region}` : host
}

/** The namespace that the convention gives to the datasets of a source. */
export function namespaceOf({ sourceType, name, config }: Omit<NamedSource, 'id'>): string {
  const text = (field: string) => String(config[field] ?? '').toLowerCase()
  if (sourceType === 'bigquery') return 'bigquery'
  if (sourceType === 'snowflake') return `snowflake://${normalizeAccount(text('account'))}`
  if (sourceType === 'databricks') return `unitycatalog://${text('host')}`
  const scheme = sourceType === 'postgresql' ? 'postgres' : sourceType
  const port = Number(config.port) || DEFAULT_PORTS[sourceType]
  return text('host') ? `${scheme}://${text('host')}${port ? `:${port}` : ''}` : `${scheme}://${name}`
}
