import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { findContradictions } from './contradictions.ts'
import { describeFailure, failurePath } from './messages.ts'
import type { ParsedContract } from './yaml.ts'
import { MINORS, type Minor } from './schema/editions.ts'
import { v2 } from './schema/v2.ts'
import { v3 } from './schema/v3.ts'

/** One thing that is wrong, or that somebody should look at. */
export interface ContractFinding {
  /** A JSON Pointer to what it is about. */
  path: string
  /** The line in the text, from 1; null for a contract that came as JSON. */
  line: number | null
  message: string
  /** The rule: a keyword of JSON Schema, or one of ours for what no schema can see. */
  keyword: string
}

/** What a contract is worth. */
export interface ContractVerdict {
  valid: boolean
  /** The version it says it follows; null when it says none. */
  api_version: string | null
  /** The first 200. */
  errors: ContractFinding[]
  warnings: ContractFinding[]
  /** How many there are. */
  found: { errors: number; warnings: number }
}

/** Findings that are told of: who made a thousand mistakes made the same one often. */
const MAX_FINDINGS = 200
/** Characters of a message. */
const MAX_MESSAGE_CHARACTERS = 600
/** Characters of all paths and messages of the errors, and of the warnings. */
const MAX_TOTAL_CHARACTERS = 300_000

/** A finding before it is known where it stands in the text. */
export interface Violation {
  path: readonly string[]
  message: string
  keyword: string
}

type ContractVersion = 'v2.2.2' | Minor
const VERSIONS: readonly ContractVersion[] = ['v2.2.2', ...MINORS]
const NEWEST_VERSION: Minor = 'v3.1.0'

/**
 * Judges a contract by the schema of its own version and, where a newer 3.x takes what its own refuses, says that.
 * What no schema knows and what contradicts itself are warnings.
 */
export function validateContract({ value, lineOf, doubts }: ParsedContract): ContractVerdict {
  const find = ({ path, ...claim }: Violation): ContractFinding => ({
    path: path.map(step => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    line: lineOf(path),
    ...claim,
  })
  const { valid, version, errors, warnings } = checkContract(value)
  const doubtful = doubts.map(({ line, message: said }) => ({
    path: '',
    line,
    message: said,
    keyword: 'yaml',
  }))
  const told = (claims: readonly Violation[]) => claims.slice(0, MAX_FINDINGS).map(find)
  return {
    valid,
    api_version: version,
    errors: limitFindings(told(errors)),
    warnings: limitFindings([...doubtful, ...told(warnings)].slice(0, MAX_FINDINGS)),
    found: { errors: errors.length, warnings: doubtful.length + warnings.length },
  }
}

/**
 * In the order of the text, and no longer than somebody reads: what is named may be as long as a contract, and is
 * named by each finding.
 */
function limitFindings(findings: readonly ContractFinding[]): ContractFinding[] {
  let length = 0
  return findings
    .map(finding => ({ ...finding, message: truncateMessage(finding.message) }))
    .filter(({ path, message: said }) => (length += path.length + said.length) <= MAX_TOTAL_CHARACTERS)
    .toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))
}

function truncateMessage(said: string): string {
  return said.length > MAX_MESSAGE_CHARACTERS
    ? `${said.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()}…`
    : said
}

interface ContractOutcome {
  valid: boolean
  version: string | null
  errors: Violation[]
  warnings: Violation[]
}

function checkContract(contract: unknown): ContractOutcome {
  if (typeof contract !== 'object' || contract === null || Array.isArray(contract)) {
    const claim = {
      path: [],
      keyword: 'type',
      message: 'expected a contract, which is an object with fields such as apiVersion',
    }
    return { valid: false, version: null, errors: [claim], warnings: [] }
  }
  const { apiVersion } = contract as { apiVersion?: unknown }
  const said = typeof apiVersion === 'string' ? apiVersion : null
  const version = VERSIONS.find(known => known === said)
  if (version === undefined)
    return { valid: false, version: said, errors: [unknownVersion(apiVersion)], warnings: [] }

  const own = checkSchema(version, contract)
  const mayBeNewer = own.errors.length > 0 && version !== NEWEST_VERSION && version !== 'v2.2.2'
  const newest = mayBeNewer ? checkSchema(NEWEST_VERSION, contract) : own
  const isNewer = newest !== own && newest.errors.length === 0
  const refused = isNewer ? own.errors.map(claim => refusedByOlder(version, claim)) : []
  const { errors, warnings } = isNewer ? newest : own
  const isRefused = new Set(errors.map(pathKey))
  // What is an error already need not be doubted too.
  const doubts = findContradictions(contract, isNewer ? NEWEST_VERSION : version).filter(
    claim => !isRefused.has(pathKey(claim)),
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
  const rest = 'nothing else was looked at'
  if (apiVersion === undefined)
    return { path: [], keyword: 'required', message: `expected apiVersion, one of ${versions}; ${rest}` }
  return { path: ['apiVersion'], keyword: 'enum', message: `expected one of ${versions}; ${rest}` }
}

function refusedByOlder(version: string, { message: said, ...claim }: Violation): Violation {
  return { ...claim, message: `${NEWEST_VERSION} takes this, ${version} does not: ${said}` }
}

const compiledSchemas = new Map<ContractVersion, ValidateFunction>()

/** Compiled when it is first needed: each takes a tenth of a second. */
function schemaValidator(version: ContractVersion): ValidateFunction {
  const known = compiledSchemas.get(version)
  if (known) return known
  const ajv = new Ajv({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    // Failures then come with the schema that has the mark.
    verbose: true,
    // Half the time to compile, and contracts are small.
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

/** Gets ready for the contracts that are likeliest. */
export function compileNewestSchema(): void {
  schemaValidator(NEWEST_VERSION)
}

/** What a version refuses, and what it takes but does not know, or not in this form. */
function checkSchema(
  version: ContractVersion,
  contract: unknown,
): { errors: Violation[]; warnings: Violation[] } {
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

function unknownField(version: ContractVersion, claim: Violation): Violation {
  return { ...claim, message: `${version} does not know this field, so it was not checked` }
}

function schemaFailures(version: ContractVersion, contract: unknown): ErrorObject[] {
  const validate = schemaValidator(version)
  validate(contract)
  const failures = validate.errors ?? []
  // The memory is needed again.
  validate.errors = null
  const choices = new Set(failures.filter(({ keyword }) => keyword === 'oneOf').map(locationKey))
  // Why none of several choices fits says less than which there are; `if` repeats what its `then` said.
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
    // A field that a kind of part may not have is described by the schema `false`.
    keyword: failure.keyword === 'false schema' ? 'additionalProperties' : failure.keyword,
  }
}

function distinct(claims: readonly Violation[]): Violation[] {
  return [...new Map(claims.map(claim => [JSON.stringify(claim), claim])).values()]
}
