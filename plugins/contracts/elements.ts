/** An object in a contract of any shape. */
export type ContractNode = Record<string, unknown>

/** A part of a contract that others can refer to: an object, or a property of one. */
export interface ContractElement {
  /** The name of the object that it is or belongs to. */
  object: unknown
  /** As relationships name it. */
  name: string
  /** As relationships name it by ids, if all its owners have one. */
  reference?: string
  /** As agreements name it. */
  names: string[]
  /** As agreements may name it in a contract of one object. */
  shortNames: string[]
  /** Where it is a property of an object itself, of version 3: both. */
  column?: { object: ContractNode; property: ContractNode }
}

/** The tables and columns of a contract of version 2. */
export function listColumns(contract: ContractNode): ContractElement[] {
  return objects(contract.dataset).flatMap(table => {
    const { table: name } = table
    const own = [name, table.physicalName].filter(isText)
    return [
      buildElement(name, own, own),
      ...objects(table.columns).flatMap(({ column }) =>
        isText(column)
          ? [
              buildElement(
                name,
                own.map(prefix => `${prefix}.${column}`),
                [column],
              ),
            ]
          : [],
      ),
    ]
  })
}

/** The objects and properties of a contract of version 3, nested ones with dots. */
export function listElements(contract: ContractNode): ContractElement[] {
  return objects(contract.schema).flatMap(object => {
    const prefix = namesOf(object)
    const reference = isText(object.id) ? `schema/${object.id}` : undefined
    return [
      { ...buildElement(object.name, prefix, prefix), reference },
      ...listNested(object, { object: object.name, table: object, prefix, short: [], reference }),
    ]
  })
}

interface ElementScope {
  object: unknown
  /** The object itself, of its own properties; absent of nested ones. */
  table?: ContractNode
  prefix: string[]
  short: string[]
  reference?: string
}

function listNested(
  owner: ContractNode,
  { object, table, prefix, short, reference }: ElementScope,
): ContractElement[] {
  const inside = objects(owner.properties).flatMap(property => {
    const own = namesOf(property)
    const long = prefix.flatMap(before => own.map(name => `${before}.${name}`))
    const brief = short.length === 0 ? own : short.flatMap(before => own.map(name => `${before}.${name}`))
    const id =
      reference !== undefined && isText(property.id) ? `${reference}/properties/${property.id}` : undefined
    return [
      {
        ...buildElement(object, long, brief),
        reference: id,
        ...(table && { column: { object: table, property } }),
      },
      ...listNested(property, { object, prefix: long, short: brief, reference: id }),
    ]
  })
  // The properties of an item are named like those of the list.
  const [item] = objects([owner.items])
  return item ? [...inside, ...listNested(item, { object, prefix, short, reference })] : inside
}

function buildElement(object: unknown, names: string[], shortNames: string[]): ContractElement {
  return { object, name: names[0] ?? '', names, shortNames }
}

function namesOf({ name, physicalName }: ContractNode): string[] {
  return [...new Set([name, physicalName].filter(isText))]
}

function objects(list: unknown): ContractNode[] {
  return Array.isArray(list) ? list.filter(isNode) : []
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export function isNode(value: unknown): value is ContractNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
