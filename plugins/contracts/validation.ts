import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { findContradictions } from './contradictions.ts'
import {
  limitFindings,
  MAX_FINDINGS,
  type ContractFinding,
  type ContractVerdict,
  type Violation,
} from './findings.ts'
import { describeFailure, failurePath } from './messages.ts'
import type { ParsedYaml } from '../../server/yaml.ts'
import { MINORS, type Minor } from './schema/editions.ts'
import { v2 } from './schema/v2.ts'
import { v3 } from './schema/v3.ts'

type ContractVersion = 'v2.2.2' | Minor
const VERSIONS: readonly ContractVersion[] = ['v2.2.2', ...MINORS]
const NEWEST_VERSION: Minor = 'v3.1.0'

/**
 * Validates a contract against the schema of its own version. If only a newer 3.x accepts it, the contract is valid with
 * warnings. Unknown fields and contradictions are warnings too.
 */
export function validateContract({ value, positionOf, doubts }: ParsedYaml): ContractVerdict {
  const locate = ({ path, ...violation }: Violation): ContractFinding => ({
    path: path.map(step => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    line: positionOf(path)?.line ?? null,
    ...violation,
  })
  const locateFirst = (violations: readonly Violation[]) => violations.slice(0, MAX_FINDINGS).map(locate)
  const { valid, version, errors, warnings } = checkContract(value)
  const yamlWarnings = doubts.map(({ line, message }) => ({ path: '', line, message, keyword: 'yaml' }))
  return {
    valid,
    api_version: version,
    errors: limitFindings(locateFirst(errors)),
    warnings: limitFindings([...yamlWarnings, ...locateFirst(warnings)]),
    found: { errors: errors.length, warnings: yamlWarnings.length + warnings.length },
  }
}

interface ContractOutcome {
  valid: boolean
  version: string | null
  errors: Violation[]
  warnings: Violation[]
}

function checkContract(contract: unknown): ContractOutcome {
  if (typeof contract !== 'object' || contract === null || Array.isArray(contract)) {
    const violation = {
      path: [],
      keyword: 'type',
      message: 'expected a contract, which is an object with fields such as apiVersion',
    }
    return { valid: false, version: null, errors: [violation], warnings: [] }
  }
  const { apiVersion } = contract as { apiVersion?: unknown }
  const given = typeof apiVersion === 'string' ? apiVersion : null
  const version = VERSIONS.find(known => known === given)
  if (version === undefined)
    return { valid: false, version: given, errors: [unknownVersion(apiVersion)], warnings: [] }

  const own = checkSchema(version, contract)
  const mayBeNewer = own.errors.length > 0 && version !== NEWEST_VERSION && version !== 'v2.2.2'
  const newest = mayBeNewer ? checkSchema(NEWEST_VERSION, contract) : own
  const isNewer = newest !== own && newest.errors.length === 0
  const refused = isNewer ? own.errors.map(violation => refusedByOlder(version, violation)) : []
  const { errors, warnings } = isNewer ? newest : own
  const isRefused = new Set(errors.map(pathKey))
  // No warning about a part that has an error.
  const doubts = findContradictions(contract, isNewer ? NEWEST_VERSION : version).filter(
    violation => !isRefused.has(pathKey(violation)),
  )
  return {
    valid: errors.length === 0,
    version,
    errors,
    warnings: [...refused, ...warnings, ...doubts],
  }
}

function pathKey({ path }: Violation): string {
  return JSON.stringify(path)
}

function unknownVersion(apiVersion: unknown): Violation {
  const versions = VERSIONS.join(', ')
  const rest = 'nothing else was checked'
  if (apiVersion === undefined)
    return { path: [], keyword: 'required', message: `expected apiVersion, one of ${versions}; ${rest}` }
  return { path: ['apiVersion'], keyword: 'enum', message: `expected one of ${versions}; ${rest}` }
}

function refusedByOlder(version: string, { message, ...violation }: Violation): Violation {
  return { ...violation, message: `${NEWEST_VERSION} accepts this, ${version} does not: ${message}` }
}

const compiledSchemas = new Map<ContractVersion, ValidateFunction>()

/** Compiled at first use: each takes 0.1 s. */
function schemaValidator(version: ContractVersion): ValidateFunction {
  const known = compiledSchemas.get(version)
  if (known) return known
  const ajv = new Ajv({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    // Adds the failed schema, with its `open` mark, to each failure.
    verbose: true,
    // Halves the time to compile; contracts are small.
    inlineRefs: false,
    code: { optimize: false },
  })
  // CommonJS, whose default export is the module as TypeScript sees it.
  ;(addFormats as unknown as typeof addFormats.default)(ajv, ['date', 'date-time', 'uri'])
  ajv.addKeyword('open')
  const made = ajv.compile(version === 'v2.2.2' ? v2() : v3(version))
  compiledSchemas.set(version, made)
  return made
}

/** Warnings are unknown fields and malformed formats. */
function checkSchema(version: ContractVersion, contract: unknown) {
  const failures = schemaFailures(version, contract)
  return {
    errors: distinct(
      failures.filter(failure => !isOpenField(failure) && !isFormat(failure)).map(toViolation),
    ),
    warnings: distinct([
      ...failures.filter(isFormat).map(toViolation),
      ...failures.filter(isOpenField).map(failure => unknownField(version, toViolation(failure))),
    ]),
  }
}

function isFormat({ keyword }: ErrorObject): boolean {
  return keyword === 'format'
}

function isOpenField({ keyword, parentSchema }: ErrorObject): boolean {
  return keyword === 'additionalProperties' && parentSchema?.open === true
}

function unknownField(version: ContractVersion, violation: Violation): Violation {
  return { ...violation, message: `${version} does not know this field, so it was not checked` }
}

function schemaFailures(version: ContractVersion, contract: unknown): ErrorObject[] {
  const validate = schemaValidator(version)
  validate(contract)
  const failures = validate.errors ?? []
  // Frees the memory.
  validate.errors = null
  const choices = new Set(failures.filter(({ keyword }) => keyword === 'oneOf').map(locationKey))
  // A failed `oneOf` lists its choices, so the failures of each choice are left out; `if` repeats its `then`.
  return failures.filter(({ keyword, ...failure }) => {
    const [, choice] = /^(.*\/oneOf)\/\d+\/\w+$/.exec(failure.schemaPath) ?? []
    const isReason = choice !== undefined && choices.has(locationKey({ ...failure, schemaPath: choice }))
    return keyword !== 'if' && !isReason
  })
}

function locationKey({ instancePath, schemaPath }: Pick<ErrorObject, 'instancePath' | 'schemaPath'>): string {
  return `${instancePath} ${schemaPath}`
}

function toViolation(failure: ErrorObject): Violation {
  return {
    path: failurePath(failure),
    message: describeFailure(failure),
    // The schema `false` forbids a field for one kind of part.
    keyword: failure.keyword === 'false schema' ? 'additionalProperties' : failure.keyword,
  }
}

function distinct(violations: readonly Violation[]): Violation[] {
  return [...new Map(violations.map(violation => [JSON.stringify(violation), violation])).values()]
}
