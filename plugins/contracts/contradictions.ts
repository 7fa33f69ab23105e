/**
 * What a schema cannot express: duplicate names and dangling references. An unfinished contract may be valid, so these
 * are warnings. The contract may have any shape, since it may be invalid.
 */
import { isNode, listColumns, listElements, type ContractElement, type ContractNode } from './elements.ts'
import type { Violation } from './findings.ts'

type Path = readonly string[]

export function findContradictions(contract: object, version: string): Violation[] {
  const root = contract as ContractNode
  return version === 'v2.2.2' ? checkDatasets(root) : checkObjects(root, version === 'v3.1.0')
}

/** The items of a list that are objects, with their paths. */
function objectItems(owner: ContractNode, field: string, at: Path): { item: ContractNode; path: Path }[] {
  const list = owner[field]
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown, index) =>
    isNode(item) ? [{ item, path: [...at, field, String(index)] }] : [],
  )
}

/** Items of a list whose field has the value of an earlier item. */
function findDuplicates(owner: ContractNode, list: string, field: string, at: Path): Violation[] {
  const seen = new Set<unknown>()
  return objectItems(owner, list, at).flatMap(({ item, path }) => {
    const name = item[field]
    if (typeof name !== 'string') return []
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    return [
      {
        path: [...path, field],
        keyword: 'duplicateName',
        message: `expected each ${field} in ${list} once; ${JSON.stringify(name)} is there before`,
      },
    ]
  })
}

function checkDatasets(root: ContractNode): Violation[] {
  const columns = listColumns(root)
  const several = objectItems(root, 'dataset', []).length > 1
  const element = (owner: ContractNode, field: string, at: Path) =>
    checkReferences(owner, field, at, columns, several)
  return [
    ...findDuplicates(root, 'dataset', 'table', []),
    ...objectItems(root, 'dataset', []).flatMap(({ item: table, path }) => {
      const own = columns.filter(({ object }) => object === table.table)
      return [
        ...findDuplicates(table, 'columns', 'column', path),
        ...checkKeyPositions(table, 'columns', 'isPrimaryKey', 'primaryKeyPosition', path),
        ...checkKeyPositions(table, 'columns', 'partitionStatus', 'partitionKeyPosition', path),
        ...objectItems(table, 'quality', path).flatMap(({ item, path: at }) => [
          ...checkReferences(item, 'column', at, own, false),
          ...checkReferences(item, 'columns', at, own, false),
        ]),
      ]
    }),
    ...element(root, 'slaDefaultColumn', []),
    ...objectItems(root, 'slaProperties', []).flatMap(({ item, path }) => element(item, 'column', path)),
  ]
}

function checkObjects(root: ContractNode, isStrict: boolean): Violation[] {
  const elements = listElements(root)
  const several = objectItems(root, 'schema', []).length > 1
  return [
    ...findDuplicates(root, 'schema', 'name', []),
    ...findDuplicates(root, 'servers', 'server', []),
    ...['customProperties'].flatMap(list => findDuplicates(root, list, 'property', [])),
    ...objectItems(root, 'schema', []).flatMap(({ item, path }) =>
      checkProperties(item, path, elements, true),
    ),
    ...checkReferences(root, 'slaDefaultElement', [], elements, several),
    ...objectItems(root, 'slaProperties', []).flatMap(({ item, path }) =>
      checkReferences(item, 'element', path, elements, several),
    ),
    ...(isStrict ? [...findDuplicateIds(root), ...findDeprecated(root)] : []),
  ]
}

function checkProperties(
  owner: ContractNode,
  at: Path,
  elements: readonly ContractElement[],
  isObject: boolean,
): Violation[] {
  const inside = objectItems(owner, 'properties', at)
  const { items: item } = owner
  return [
    ...findDuplicates(owner, 'properties', 'name', at),
    ...checkKeyPositions(owner, 'properties', 'primaryKey', 'primaryKeyPosition', at),
    ...checkKeyPositions(owner, 'properties', 'partitioned', 'partitionKeyPosition', at),
    ...checkBounds(owner, at),
    ...checkRelationships(owner, at, elements),
    ...objectItems(owner, 'quality', at).flatMap(({ item: rule, path }) =>
      checkMetricLevel(rule, path, isObject),
    ),
    ...inside.flatMap(({ item: property, path }) => checkProperties(property, path, elements, false)),
    ...(isNode(item) ? checkProperties(item, [...at, 'items'], elements, false) : []),
  ]
}

/** Each key position must belong to exactly one key. */
function checkKeyPositions(owner: ContractNode, list: string, mark: string, field: string, at: Path) {
  const taken = new Set<number>()
  return objectItems(owner, list, at).flatMap(({ item, path }) => {
    const position = item[field]
    // -1 means no position.
    if (typeof position !== 'number' || position < 0) return []
    const violation = (message: string) => [{ path: [...path, field], keyword: 'keyPosition', message }]
    if (item[mark] !== true) return violation(`expected ${mark} to be true where ${field} is given`)
    if (taken.has(position)) return violation(`expected each ${field} once; ${position} is there before`)
    taken.add(position)
    return []
  })
}

const BOUND_PAIRS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const

/** Empty ranges, and invalid patterns. */
function checkBounds({ logicalTypeOptions: given }: ContractNode, at: Path): Violation[] {
  if (typeof given !== 'object' || given === null) return []
  const options = given as ContractNode
  const path = [...at, 'logicalTypeOptions']
  const crossed = BOUND_PAIRS.flatMap(([least, most]) => {
    const [low, high] = [options[least], options[most]]
    const isCrossed = typeof low === 'number' && typeof high === 'number' && low > high
    return isCrossed
      ? [
          {
            path: [...path, least],
            keyword: 'emptyRange',
            message: `expected ${least} to be at most ${most}, ${high}`,
          },
        ]
      : []
  })
  return [...crossed, ...(isPattern(options.pattern) ? [] : [badPattern([...path, 'pattern'])])]
}

function isPattern(pattern: unknown): boolean {
  try {
    return typeof pattern !== 'string' || new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}

function badPattern(path: Path): Violation {
  return {
    path,
    keyword: 'pattern',
    message: 'expected a regular expression of ECMA-262; this one cannot be read',
  }
}

/** Metrics of the library that measure a property. */
const PROPERTY_METRICS = ['nullValues', 'missingValues', 'invalidValues']

function checkMetricLevel({ metric }: ContractNode, at: Path, isObject: boolean): Violation[] {
  const isMisplaced = isObject ? PROPERTY_METRICS.includes(String(metric)) : metric === 'rowCount'
  if (!isMisplaced) return []
  const message = isObject
    ? `expected ${String(metric)} at a property: it measures one`
    : 'expected rowCount at an object: a property has no rows'
  return [{ path: [...at, 'metric'], keyword: 'metricLevel', message }]
}

/** Dangling ends of relationships within the contract, and keys of different length. */
function checkRelationships(owner: ContractNode, at: Path, elements: readonly ContractElement[]) {
  return objectItems(owner, 'relationships', at).flatMap(({ item, path }) => {
    const { from, to } = item
    const uneven = Array.isArray(from) && Array.isArray(to) && from.length !== to.length
    return [
      ...checkEnds(from, [...path, 'from'], elements),
      ...checkEnds(to, [...path, 'to'], elements),
      ...(uneven
        ? [
            {
              path: [...path, 'to'],
              keyword: 'relationship',
              message: `expected as many properties as from has, ${from.length}`,
            },
          ]
        : []),
    ]
  })
}

function checkEnds(given: unknown, path: Path, elements: readonly ContractElement[]): Violation[] {
  const named = Array.isArray(given)
    ? given.map((end: unknown, index): [unknown, Path] => [end, [...path, String(index)]])
    : [[given, path] as [unknown, Path]]
  return named.flatMap(([end, at]) => {
    // A reference to another contract cannot be checked here.
    if (typeof end !== 'string' || end.includes('#')) return []
    const isThere = elements.some(
      ({ name, reference }) => name === end || reference === end.replace(/^\//, ''),
    )
    const message = `expected a property of this contract; there is no ${JSON.stringify(end)}`
    return isThere ? [] : [{ path: at, keyword: 'relationship', message }]
  })
}

/** Dangling element names of an agreement, which are separated by commas. */
function checkReferences(
  owner: ContractNode,
  field: string,
  at: Path,
  elements: readonly ContractElement[],
  several: boolean,
): Violation[] {
  const list = owner[field]
  if (typeof list !== 'string') return []
  const names = list.split(',').map(name => name.trim())
  return names.flatMap(name => {
    const isThere = elements.some(
      element => element.names.includes(name) || (!several && element.shortNames.includes(name)),
    )
    const message = `expected an element of this contract; there is no ${JSON.stringify(name)}`
    return isThere ? [] : [{ path: [...at, field], keyword: 'element', message }]
  })
}

/** Duplicate ids in one list, which make references ambiguous. */
function findDuplicateIds(root: ContractNode): Violation[] {
  const found: Violation[] = []
  const search = (value: unknown, path: Path): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) return value.forEach((item, index) => search(item, [...path, String(index)]))
    for (const [field, item] of Object.entries(value)) {
      // Free-form values.
      if (['value', 'arguments', 'implementation', 'examples'].includes(field)) continue
      found.push(...findDuplicates(value as ContractNode, field, 'id', path))
      search(item, [...path, field])
    }
  }
  search(root, [])
  return found
}

/** Deprecated fields and their replacements. */
const DEPRECATED_FIELDS: Record<string, string> = {
  dataProduct: 'describe the data product in a contract of the Open Data Product Standard',
  slaDefaultElement: 'name the element in each entry of slaProperties',
}

function findDeprecated(root: ContractNode): Violation[] {
  const violation = (field: string, instead: string): Violation => ({
    path: [field],
    keyword: 'deprecated',
    message: `deprecated since v3.1.0: ${instead}`,
  })
  return [
    ...Object.entries(DEPRECATED_FIELDS).flatMap(([field, instead]) =>
      field in root ? [violation(field, instead)] : [],
    ),
    ...(Array.isArray(root.team) ? [violation('team', 'write an object with the people in members')] : []),
  ]
}
