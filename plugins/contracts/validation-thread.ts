/** A worker thread that validates contracts, so that a harmful text cannot stop the service. */
import { parentPort } from 'node:worker_threads'
import { validateContract, compileNewestSchema } from './validation.ts'
import { parseYaml, TOO_DEEP, YamlParseError, type ParsedYaml } from '../../server/yaml.ts'
import type { ContractInput, ContractResult } from './thread-pool.ts'

parentPort?.on('message', (input: ContractInput) => parentPort?.postMessage(validate(input)))
compileNewestSchema()
parentPort?.postMessage({ ready: true })

function validate(input: ContractInput): ContractResult {
  try {
    const parsed = 'text' in input ? parseYaml(input.text, { what: 'contract' }) : withoutText(input.value)
    const verdict = validateContract(parsed)
    return { verdict, ...(input.isKept && verdict.valid && { value: parsed.value }) }
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
