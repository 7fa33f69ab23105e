import { countOf } from '../../lib/format.ts'

/** The sentences of the lineage of a table, in English. */
export const lineageTexts = {
  title: (name: string, up: number, down: number) =>
    `${name} is made from ${up === 0 ? 'nothing that is known' : countOf(up, 'other')}, and ${
      down === 0 ? 'nothing that is known uses it' : countOf(down, 'thing uses it', 'things use it')
    }.`,
  withProblem: (count: number) =>
    `${count} of what it is made from ${count === 1 ? 'has a problem' : 'have problems'}:`,
  shownOf: (shown: number, total: number) => `${shown} of ${total} are shown, the nearest first.`,
  showRest: 'Show the rest',
  details: 'Details',
  list: 'List',
  foreignKeys: 'Foreign keys',
  search: 'Find in this lineage',
  more: (count: number) => `+${count}`,
  moreUpstream: (count: number) => `Show ${count} more that it is made from`,
  moreDownstream: (count: number) => `Show ${count} more that use it`,
  moreColumns: (count: number) => `${count} more`,
  madeFrom: 'Made from',
  openOutside: (kind: string) => `Open the ${kind}`,
  place: 'Place',
  owners: 'Owners',
  columns: 'Columns',
  following: (column: string) => `Following ${column}`,
  reached: (tables: number) => `reaches ${countOf(tables, 'other')}`,
  knownFrom: 'known from',
  uncertain: 'not certain',
  notSeen: (since: string) => `not seen since ${since}`,
  origins: {
    view: 'its SQL',
    foreign_key: 'a foreign key',
    dbt: 'dbt',
    openlineage: 'a pipeline run',
    manual: 'a person',
    demo: 'the demo',
  } as Record<string, string>,
  notWatched: 'not watched',
  stale: 'stale',
  changed: 'schema changes',
} as const
