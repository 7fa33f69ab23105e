import { useEffect, useState } from 'preact/hooks'
import { countOf } from '../../lib/format.ts'
import { texts } from '../../texts.ts'
import { Dialog } from '../dialog.tsx'
import { describeError } from '../states.tsx'
import { loadRows, MAX_CSV_ROWS, toCsv, type CsvField, type LoadCsvPage } from './csv.ts'
import { CSV_FIELDS, type CsvList } from './csv-fields.ts'
import { listTexts } from './texts.ts'

/** Reads all pages of a list and saves them as a file; it can be stopped while it reads. */
export function CsvDialog({
  list,
  load,
  close,
}: {
  list: CsvList
  load: LoadCsvPage<unknown>
  close: () => void
}) {
  const [read, setRead] = useState({ done: 0, total: 0 })
  const [problem, setProblem] = useState('')
  const [all, setAll] = useState<number>()
  useEffect(() => {
    const abort = new AbortController()
    const run = async () => {
      try {
        const found = await loadRows(load, abort.signal, (done, total) => setRead({ done, total }))
        const name = `tidemark-${list}-${new Date().toISOString().slice(0, 10)}.csv`
        const fields: readonly CsvField<never>[] = CSV_FIELDS[list]
        // A list is given with a way to its own rows.
        saveFile(name, toCsv(found.rows as readonly never[], fields))
        setAll(found.total)
      } catch (error) {
        if (!abort.signal.aborted) setProblem(describeError(error))
      }
    }
    void run()
    return () => abort.abort()
  }, [])
  return (
    <Dialog title={listTexts.csv} close={close}>
      {problem ? (
        <p class="bad" role="alert">
          {problem}
        </p>
      ) : (
        <>
          <progress max={read.total || 1} value={read.done} aria-label={listTexts.csv} />
          <p role="status">
            {all === undefined ? listTexts.rowsRead(read.done, read.total) : listTexts.isSaved(read.done)}
          </p>
          {all !== undefined && all > MAX_CSV_ROWS && (
            <p class="quiet">{listTexts.isCut(countOf(MAX_CSV_ROWS, 'row'), all)}</p>
          )}
        </>
      )}
      <p class="actions">
        <button class={all === undefined ? '' : 'primary'} onClick={close}>
          {all === undefined && !problem ? listTexts.stop : texts.close}
        </button>
      </p>
    </Dialog>
  )
}

function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser reads the file after this task.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
