import { hash } from 'node:crypto'
import type { ColumnProperties } from '../catalog.ts'
import type { PostgresqlCatalogRow } from './catalog-query.ts'
import { isComparable } from './types.ts'

/** Labels or attributes that are listed; of the rest a hash stands for what it is. */
const MAX_LISTED = 500
/** Longer descriptions of types within types are replaced by a hash: types may be nested many times over. */
const MAX_NESTED_LENGTH = 1_000

/** What one type is made of. */
interface TypeShape {
  labels: { place: number; name: string }[]
  attributes: { place: number; name: string; type: string; oid: string }[]
  isIncomparable: boolean
  /** The oid of the elements of an array, or of the type under a domain. */
  inner?: string
}

/** What a column may take of the enumeration or composite type that its type is, or is made of. */
type Members = Pick<ColumnProperties, 'labels' | 'attributes'>

/** Collects the parts of types that people created, and describes the types when all are there. */
export class TypeShapes {
  readonly #shapes = new Map<string, TypeShape>()
  readonly #members = new Map<string, Members>()
  readonly #incomparable = new Map<string, boolean>()

  /** Takes a row of the part `member`. */
  add({ oid, number, name, a: inner, b: type, c: role, d: builtin }: PostgresqlCatalogRow): void {
    const key = String(oid)
    const shape = this.#shapes.get(key) ?? { labels: [], attributes: [], isIncomparable: false }
    this.#shapes.set(key, shape)
    if (!isComparable(builtin)) shape.isIncomparable = true
    if (role === 'label') shape.labels.push({ place: number ?? 0, name })
    else if (role === 'attribute')
      shape.attributes.push({ place: number ?? 0, name, type: type ?? '', oid: inner ?? '' })
    else shape.inner = inner ?? undefined
  }

  /** Describes a type by its oid; empty for one that is no enumeration, no composite and made of none. */
  membersOf(oid: string): Members {
    const known = this.#members.get(oid)
    if (known) return known
    const members = this.#describe(this.#shapes.get(oid))
    this.#members.set(oid, members)
    return members
  }

  /** Whether values of a type by its oid have no equality, because what it is made of has none. */
  isIncomparable(oid: string): boolean {
    const known = this.#incomparable.get(oid)
    if (known !== undefined) return known
    const shape = this.#shapes.get(oid)
    const parts = [
      ...(shape?.attributes.map(attribute => attribute.oid) ?? []),
      ...(shape?.inner ? [shape.inner] : []),
    ]
    const isIncomparable = shape?.isIncomparable === true || parts.some(part => this.isIncomparable(part))
    this.#incomparable.set(oid, isIncomparable)
    return isIncomparable
  }

  #describe(shape: TypeShape | undefined): Members {
    if (!shape) return {}
    if (shape.inner !== undefined) return this.membersOf(shape.inner)
    const inOrder = <Member extends { place: number }>(list: Member[]) =>
      list.toSorted((a, b) => a.place - b.place)
    if (shape.labels.length > 0) return { labels: bounded(inOrder(shape.labels).map(({ name }) => name)) }
    if (shape.attributes.length === 0) return {}
    const attributes = inOrder(shape.attributes).map(({ name, type, oid }) => {
      const { labels, attributes: nested } = this.membersOf(oid)
      const text = (labels?.map(quoteLabel) ?? nested ?? []).join(', ')
      if (text === '') return `${name} ${type}`
      return `${name} ${type} (${text.length > MAX_NESTED_LENGTH ? hashOf(text) : text})`
    })
    return { attributes: bounded(attributes) }
  }
}

function quoteLabel(label: string): string {
  return `'${label.replaceAll("'", "''")}'`
}

function bounded(list: string[]): string[] {
  if (list.length <= MAX_LISTED) return list
  const rest = list.slice(MAX_LISTED)
  return [...list.slice(0, MAX_LISTED), `and ${rest.length} more (${hashOf(JSON.stringify(rest))})`]
}

function hashOf(text: string): string {
  return hash('sha256', text, 'base64url')
}
