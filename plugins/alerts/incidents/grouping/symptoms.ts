import { ignoreRejection } from '../../../../connectors/foreign-code.ts'
import { reportThrown } from '../../../../server/extension-errors.ts'
import { SYMPTOMS, type Severity, type Symptom } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import { kindOf, type Kinds } from '../../kinds.ts'

/**
 * What each symptom can bring about downstream. A changed schema does not come from late data, and late data does not
 * come from wrong values: without this, whatever happens to be wrong upstream would be named as the cause.
 */
const EFFECTS: Record<Symptom, readonly Symptom[]> = {
  connection: ['stale', 'volume', 'quality'],
  drift: ['drift', 'failed_run', 'stale', 'volume', 'quality'],
  failed_run: ['failed_run', 'stale', 'volume', 'quality'],
  stale: ['stale', 'volume', 'quality'],
  volume: ['stale', 'volume', 'quality'],
  quality: ['volume', 'quality'],
}

export function canCause(cause: Symptom, effect: Symptom): boolean {
  return EFFECTS[cause].includes(effect)
}

/** What an alert shows, as its kind says. A kind of an extension that throws, or says something else, says nothing. */
export function symptomOf(
  { kinds, log }: Pick<Deps, 'kinds' | 'log'>,
  kind: string,
  details: Record<string, unknown>,
): Symptom {
  const { symptom = 'quality' } = kindOf(kinds, kind)
  if (typeof symptom === 'string') return symptom
  try {
    const shown = symptom(details)
    if (SYMPTOMS.includes(shown)) return shown
    ignoreRejection(shown)
    throw new TypeError(`symptom of ${kind} must return one of ${SYMPTOMS.join(', ')}`)
  } catch (thrown) {
    reportThrown(log, `alert kind ${kind}`, thrown, { fields: { call: 'symptom' } })
    return 'quality'
  }
}

/** The names of the kinds that always show one of some symptoms. */
export function kindsShowing(kinds: Kinds, ...symptoms: Symptom[]): string[] {
  return kinds
    .all()
    .filter(({ symptom }) => typeof symptom === 'string' && symptoms.includes(symptom))
    .map(({ name }) => name)
}

/** How strong a symptom is as a cause: less is stronger. An addition to a schema breaks little. */
export function weaknessOf(symptom: Symptom, severity: Severity): number {
  return symptom === 'drift' && severity === 'info' ? SYMPTOMS.length : SYMPTOMS.indexOf(symptom)
}
