/** The sentences of the checklist for new companies, in English. */
export const checklistTexts = {
  title: (done: number, all: number) => `Get started: ${done} of ${all} done`,
  dismiss: 'Hide the checklist',
  steps: {
    connect: ['Connect a source', 'A database or a warehouse. A role that may only read is enough.'],
    discover: [
      'Discover its tables',
      'Choose which tables are read. Changes of their columns are found from then on.',
    ],
    freshness: ['Watch the freshness of a table', 'You hear of it when its newest row is too old.'],
    checks: ['Add a check', 'It finds wrong values and unusual numbers.'],
    destination: ['Say where alerts go', 'To a chat, to mail, or to a program of yours.'],
  },
  tryDemo: 'Try it with a demo shop',
} as const
