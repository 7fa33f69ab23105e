/** The thread that reads and judges contracts: whatever a text does to it, the service goes on. */
import { parentPort } from 'node:worker_threads'
import { judge, prepare } from './validation.ts'
import { readYaml, TOO_DEEP, UnreadableError, type Reading } from './yaml.ts'
import type { Question, Answer } from './thread-pool.ts'

parentPort?.on('message', (question: Question) => parentPort?.postMessage(answer(question)))
prepare()
parentPort?.postMessage({ ready: true })

function answer(question: Question): Answer {
  try {
    return { verdict: judge('text' in question ? readYaml(question.text) : withoutText(question.value)) }
  } catch (error) {
    if (error instanceof UnreadableError) return { unreadable: [...error.failures] }
    // Nesting that goes deeper than the stack does.
    if (error instanceof RangeError) return { unreadable: [{ ...TOO_DEEP, line: null }] }
    throw error
  }
}

function withoutText(value: unknown): Reading {
  return { value, lineOf: () => null, doubts: [] }
}
