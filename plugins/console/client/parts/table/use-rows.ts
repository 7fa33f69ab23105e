import { useEffect, useState } from 'preact/hooks'
import { useKeys } from '../../lib/keys.ts'
import { canWrite } from '../../lib/session.ts'
import { texts } from '../../texts.ts'
import { toggled, type Selection } from './table-head.tsx'

interface RowActions<Row> {
  /** What a row is, in the help of the keys. */
  name: string
  open: (row: Row) => void
  openText: string
  /** For rows that are selected for what is done to several at once. */
  select?: Pick<Selection<Row>, 'nameOf' | 'allLabel'>
}

/**
 * The rows of a list that keys move over, open and select.
 * @param key of the list; another one has other rows, which are not selected
 */
export function useRows<Row extends { id: string }>(
  key: string,
  rows: readonly Row[],
  { name, open, openText, select }: RowActions<Row>,
) {
  const [place, setPlace] = useState(-1)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  // What is not shown any more must not be changed.
  useEffect(() => {
    setPlace(-1)
    setSelected(new Set())
  }, [key])
  const go = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, place + step))
    setPlace(next)
    document.getElementById(`row-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  const chosen = rows[place]
  const selectChosen = () => chosen && setSelected(toggled(selected, chosen.id))
  useKeys([
    { keys: 'j', text: `${texts.next}: ${name}`, run: () => go(1) },
    { keys: 'k', text: `${texts.previous}: ${name}`, run: () => go(-1) },
    ...(select && canWrite() ? [{ keys: 'x', text: texts.select(name), run: selectChosen }] : []),
    { keys: 'Enter', text: openText, run: () => chosen && open(chosen) },
    ...(select ? [{ keys: 'Escape', text: texts.close, run: () => setSelected(new Set()) }] : []),
  ])
  return {
    place,
    selection: select && canWrite() && { selected, setSelected, ...select },
    targets: rows.filter(({ id }) => selected.has(id)),
    setSelected,
  }
}
