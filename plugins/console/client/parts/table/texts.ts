import { countOf, formatNumber } from '../../lib/format.ts'

/** What the tools above a list say, in English. */
export const listTexts = {
  columns: 'Columns',
  allColumns: 'Show all',
  views: 'Views',
  noViews: 'A view is a name for the filters and the order that the list has now. Its link can be shared.',
  viewName: 'Name of a new view',
  saveView: 'Save view',
  deleteView: (name: string) => `Delete the view ${name}`,
  csv: 'Download CSV',
  stop: 'Stop',
  rowsRead: (done: number, total: number) =>
    total === 0 ? 'Reading…' : `${formatNumber(done)} of ${countOf(total, 'row')}`,
  isSaved: (rows: number) => `${countOf(rows, 'row')} saved.`,
  isCut: (most: string, all: number) =>
    `The file has the first ${most} of ${formatNumber(all)}. Filter the list for the others.`,
}
