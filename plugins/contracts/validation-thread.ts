/** The thread that reads and judges contracts: whatever a text does to it, the service goes on. */
import { parentPort } from 'node:worker_threads'
import { validateContract, compileNewestSchema } from './validation.ts'
import { parseContract, TOO_DEEP, ContractParseError, type ParsedContract } from './yaml.ts'
import type { ContractInput, ContractResult } from './thread-pool.ts'

parentPort?.on('message', (question: ContractInput) => parentPort?.postMessage(answer(question)))
compileNewestSchema()
parentPort?.postMessage({ ready: true })

function answer(question: ContractInput): ContractResult {
  try {
    return {
      verdict: validateContract(
        'text' in question ? parseContract(question.text) : withoutText(question.value),
      ),
    }
  } catch (error) {
    if (error instanceof ContractParseError) return { unreadable: [...error.failures] }
    // Nesting that goes deeper than the stack does.
    if (error instanceof RangeError) return { unreadable: [{ ...TOO_DEEP, line: null }] }
    throw error
  }
}

function withoutText(value: unknown): ParsedContract {
  return { value, lineOf: () => null, doubts: [] }
}
