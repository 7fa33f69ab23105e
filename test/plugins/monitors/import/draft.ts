/** Imports of tests, judged as the command judges them. */
import { readVocabulary } from '../../../../plugins/monitors/command/offline-vocabulary.ts'
import { makeDescribeFault } from '../../../../plugins/monitors/import/applicable.ts'
import { startImport, type ImportDraft } from '../../../../plugins/monitors/import/import-draft.ts'

const describeFault = makeDescribeFault(await readVocabulary())

export function startDraft(): ImportDraft {
  return startImport('shop', describeFault)
}
