import { truncateMessage } from '../../server/yaml.ts'

/** Something in a contract that is wrong or needs attention. */
export interface ContractFinding {
  /** A JSON Pointer to the part of the contract. */
  path: string
  /** The line in the text, from 1; null for a contract that came as JSON. */
  line: number | null
  message: string
  /** The rule: a keyword of JSON Schema, or one of ours for what a schema cannot express. */
  keyword: string
}

/** The result of a validation. */
export interface ContractVerdict {
  valid: boolean
  /** The `apiVersion` of the contract; null without one. */
  api_version: string | null
  /** The first 200. */
  errors: ContractFinding[]
  warnings: ContractFinding[]
  /** The number of all findings. */
  found: { errors: number; warnings: number }
}

/** A finding whose line is not known yet. */
export interface Violation {
  path: readonly string[]
  message: string
  keyword: string
}

export const MAX_FINDINGS = 200
const MAX_MESSAGE_CHARACTERS = 600
/** Of all paths and messages together. */
const MAX_TOTAL_CHARACTERS = 300_000

/** Sorts findings by line and bounds their length: each may quote a name as long as the contract. */
export function limitFindings(findings: readonly ContractFinding[]): ContractFinding[] {
  let length = 0
  return findings
    .slice(0, MAX_FINDINGS)
    .map(finding => ({ ...finding, message: truncateMessage(finding.message, MAX_MESSAGE_CHARACTERS) }))
    .filter(({ path, message }) => (length += path.length + message.length) <= MAX_TOTAL_CHARACTERS)
    .toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))
}
