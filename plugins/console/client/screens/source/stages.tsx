import type { ConnectionTestData } from 'tidemark/client'
import { Shape, type Tone } from '../../parts/status.tsx'
import { sourceTexts } from './texts.ts'

export type ConnectionTest = ConnectionTestData['data']

const TONES: Record<string, Tone> = { passed: 'ok', failed: 'critical' }

/** What came of each stage of a connection test, and what to do about one that failed. */
export function Stages({ test }: { test: ConnectionTest }) {
  return (
    <div class="stages" role="status">
      <p>
        <strong>
          {test.success
            ? `Connected in ${test.latency_ms} ms`
            : // A stage that failed says why.
              test.stages.some(({ message }) => message === test.error_message)
              ? sourceTexts.notConnected
              : test.error_message}
        </strong>
      </p>
      <ol>
        {test.stages.map(stage => (
          <li key={stage.name}>
            <Shape tone={TONES[stage.status] ?? 'unknown'} />
            <span>
              <strong>{sourceTexts.stages[stage.name]}</strong> {stage.message || stage.status}
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
