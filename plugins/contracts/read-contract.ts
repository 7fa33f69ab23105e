/** Reading of a contract, in a thread of the pool or in this one. */
import { storableJson } from '../../server/database/storable.ts'
import { parseYaml, TOO_DEEP, YamlParseError, type ParsedYaml, type ParseFailure } from '../../server/yaml.ts'
import type { ContractVerdict } from './findings.ts'
import { validateContract } from './validation.ts'

/** A contract as YAML text, or as a JSON value. */
export type ContractInput = { text: string } | { value: unknown }

export type ContractResult =
  | {
      verdict: ContractVerdict
      /** A valid contract as JSON that can be stored; undefined where aliases make it longer than `MAX_JSON_LENGTH`. */
      json?: string | undefined
    }
  | { unreadable: ParseFailure[] }

/** Characters of a contract as JSON: twice the largest text, which holds as many clauses as may be compared at once. */
export const MAX_JSON_LENGTH = 524_288

export function readGivenContract(input: ContractInput): ContractResult {
  try {
    const parsed = 'text' in input ? parseYaml(input.text, { what: 'contract' }) : withoutText(input.value)
    const verdict = validateContract(parsed)
    return { verdict, json: verdict.valid ? boundedJson(parsed.value) : undefined }
  } catch (error) {
    if (error instanceof YamlParseError) return { unreadable: [...error.failures] }
    // Nesting that overflows the stack.
    if (error instanceof RangeError) return { unreadable: [{ ...TOO_DEEP, line: null, column: null }] }
    throw error
  }
}

function withoutText(value: unknown): ParsedYaml {
  return { value, positionOf: () => null, doubts: [] }
}

function boundedJson(value: unknown): string | undefined {
  const json = storableJson(value)
  return json.length > MAX_JSON_LENGTH ? undefined : json
}
