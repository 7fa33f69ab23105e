import { ignoreRejection } from '../../../../connectors/foreign-code.ts'
import { reportThrown } from '../../../../server/extension-errors.ts'
import { SYMPTOMS, type Severity, type Symptom } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import { kindOf, type Kinds } from '../../kinds.ts'

const USUAL = 0
const POSSIBLE = 1
const RARE = 2

/**
 * What each symptom can bring about downstream, and how likely. A changed schema does not come from late data, and late
 * data does not come from wrong values: without this, whatever happens to be wrong upstream would be named as the cause.
 */
const EFFECTS: Record<Symptom, Partial<Record<Symptom, number>>> = {
  connection: { stale: USUAL, volume: POSSIBLE, quality: RARE },
  drift: { drift: USUAL, failed_run: USUAL, quality: USUAL, stale: POSSIBLE, volume: POSSIBLE },
  failed_run: { failed_run: USUAL, stale: USUAL, volume: POSSIBLE, quality: RARE },
  stale: { stale: USUAL, volume: POSSIBLE, quality: RARE },
  volume: { volume: USUAL, quality: POSSIBLE, stale: RARE },
  quality: { quality: USUAL, volume: POSSIBLE },
}

export function canCause(cause: Symptom, effect: Symptom): boolean {
  return EFFECTS[cause][effect] !== undefined
}

/** How unlikely it is that one symptom brings another one about: less is likelier. Infinity if it cannot. */
export function unlikelihoodOf(cause: Symptom, effect: Symptom): number {
  return EFFECTS[cause][effect] ?? Infinity
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
