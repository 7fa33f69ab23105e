/**
 * What a schema cannot see: names that are there twice, and references to what is not there. A contract may be
 * unfinished and still valid, so these are warnings. Nothing here trusts the shape: the contract may be invalid.
 */
import type { Violation } from './validation.ts'
import { listColumns, listElements, type ContractElement } from './elements.ts'

type Path = readonly string[]
type Fields = Record<string, unknown>

/** Everything in a contract of this version that contradicts the rest of it. */
export function findContradictions(contract: object, version: string): Violation[] {
  const root = contract as Fields
  return version === 'v2.2.2' ? checkDatasets(root) : checkObjects(root, version === 'v3.1.0')
}

/** The items of a list that are objects, with where they are. */
export function objectItems(owner: Fields, field: string, at: Path): { item: Fields; path: Path }[] {
  const list = owner[field]
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown, index) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? [{ item: item as Fields, path: [...at, field, String(index)] }]
      : [],
  )
}

/** Items of one list whose field says the same as an earlier one's. */
function findDuplicates(owner: Fields, list: string, field: string, at: Path): Violation[] {
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

function checkDatasets(root: Fields): Violation[] {
  const columns = listColumns(root)
  const several = objectItems(root, 'dataset', []).length > 1
  const element = (owner: Fields, field: string, at: Path) =>
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

function checkObjects(root: Fields, isStrict: boolean): Violation[] {
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
  owner: Fields,
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
    ...(typeof item === 'object' && item !== null && !Array.isArray(item)
      ? checkProperties(item as Fields, [...at, 'items'], elements, false)
      : []),
  ]
}

/** A position among keys belongs to a key, and to one only. */
function checkKeyPositions(owner: Fields, list: string, mark: string, field: string, at: Path): Violation[] {
  const taken = new Set<number>()
  return objectItems(owner, list, at).flatMap(({ item, path }) => {
    const position = item[field]
    // -1 says that it is none.
    if (typeof position !== 'number' || position < 0) return []
    const claim = (message: string) => [{ path: [...path, field], keyword: 'keyPosition', message }]
    if (item[mark] !== true) return claim(`expected ${mark} to be true where ${field} is given`)
    if (taken.has(position)) return claim(`expected each ${field} once; ${position} is there before`)
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

/** Options that no value can meet, and patterns that are none. */
function checkBounds({ logicalTypeOptions: given }: Fields, at: Path): Violation[] {
  if (typeof given !== 'object' || given === null) return []
  const options = given as Fields
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

/** Metrics of the library by what they measure. */
const PROPERTY_METRICS = ['nullValues', 'missingValues', 'invalidValues']

function checkMetricLevel({ metric }: Fields, at: Path, isObject: boolean): Violation[] {
  const isMisplaced = isObject ? PROPERTY_METRICS.includes(String(metric)) : metric === 'rowCount'
  if (!isMisplaced) return []
  const message = isObject
    ? `expected ${String(metric)} at a property: it measures one`
    : 'expected rowCount at an object: a property has no rows'
  return [{ path: [...at, 'metric'], keyword: 'metricLevel', message }]
}

/** Ends of relationships, in this contract, that are not there; and keys of different length. */
function checkRelationships(owner: Fields, at: Path, elements: readonly ContractElement[]): Violation[] {
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
    // What another contract holds is not known here.
    if (typeof end !== 'string' || end.includes('#')) return []
    const isThere = elements.some(
      ({ name, reference }) => name === end || reference === end.replace(/^\//, ''),
    )
    const message = `expected a property of this contract; there is no ${JSON.stringify(end)}`
    return isThere ? [] : [{ path: at, keyword: 'relationship', message }]
  })
}

/** Elements that an agreement names, separated by commas, and that are not there. */
function checkReferences(
  owner: Fields,
  field: string,
  at: Path,
  elements: readonly ContractElement[],
  several: boolean,
): Violation[] {
  const said = owner[field]
  if (typeof said !== 'string') return []
  const named = said.split(',').map(name => name.trim())
  return named.flatMap(name => {
    const isThere = elements.some(
      element => element.names.includes(name) || (!several && element.shortNames.includes(name)),
    )
    const message = `expected an element of this contract; there is no ${JSON.stringify(name)}`
    return isThere ? [] : [{ path: [...at, field], keyword: 'element', message }]
  })
}

/** Ids that are there twice in one list: references could not tell which one they mean. */
function findDuplicateIds(root: Fields): Violation[] {
  const found: Violation[] = []
  const look = (value: unknown, path: Path): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) return value.forEach((item, index) => look(item, [...path, String(index)]))
    for (const [field, item] of Object.entries(value)) {
      // These are anything at all.
      if (['value', 'arguments', 'implementation', 'examples'].includes(field)) continue
      found.push(...findDuplicates(value as Fields, field, 'id', path))
      look(item, [...path, field])
    }
  }
  look(root, [])
  return found
}

/** Deprecated fields, with what to write instead. */
const DEPRECATED_FIELDS: Record<string, string> = {
  dataProduct: 'describe the data product in a contract of the Open Data Product Standard',
  slaDefaultElement: 'name the element in each entry of slaProperties',
}

function findDeprecated(root: Fields): Violation[] {
  const claim = (field: string, instead: string): Violation => ({
    path: [field],
    keyword: 'deprecated',
    message: `deprecated since v3.1.0: ${instead}`,
  })
  return [
    ...Object.entries(DEPRECATED_FIELDS).flatMap(([field, instead]) =>
      field in root ? [claim(field, instead)] : [],
    ),
    ...(Array.isArray(root.team) ? [claim('team', 'write an object with the people in members')] : []),
  ]
}
