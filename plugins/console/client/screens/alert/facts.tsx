import type { ComponentChildren } from 'preact'
import type { Alert } from 'tidemark/client'
import { alertTexts as texts } from './texts.ts'

type Fact = readonly [name: string, value: ComponentChildren]

/** What was found, what was expected, and how far one is from the other. */
export const factsOf = ({ finding }: Pick<Alert, 'finding'>): readonly Fact[] => [
  [texts.found, finding?.found],
  [texts.expected, finding?.expected],
  [texts.deviation, finding?.deviation],
]

/** Facts with their names; those without a value are left out. */
export const Facts = ({ of: facts }: { of: readonly Fact[] }) => (
  <dl class="facts">
    {facts.map(
      ([name, value]) =>
        value && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ),
    )}
  </dl>
)
