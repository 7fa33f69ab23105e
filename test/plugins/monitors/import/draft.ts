/** Imports of tests, judged as the command judges them. */
import { readOffline } from '../../../../plugins/monitors/command/offline-vocabulary.ts'
import { makeImportJudge } from '../../../../plugins/monitors/import/applicable.ts'
import { startImport, type ImportDraft } from '../../../../plugins/monitors/import/import-draft.ts'

const { vocabulary, dialectOf } = await readOffline()

const judge = await makeImportJudge(vocabulary, dialectOf('postgresql'))

export function startDraft(): ImportDraft {
  return startImport('shop', judge)
}

/** A draft for which no condition can be a filter, so that each check with one is a SELECT. */
export function startDraftWithoutFilters(): ImportDraft {
  return startImport('shop', { ...judge, describeFilterFault: () => 'no filters' })
}
