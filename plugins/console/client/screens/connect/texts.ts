import { countOf } from '../../lib/format.ts'

/** The sentences of the screen Connect, in English. */
export const connectTexts = {
  headline: (tools: number, edges: number) => {
    if (tools > 0) return `${countOf(tools, 'tool sends', 'tools send')} lineage`
    return edges > 0
      ? `No tool sends lineage: ${countOf(edges, 'edge')} by hand or by the API`
      : 'Send the lineage of your pipelines'
  },
  about:
    'Lineage and runs of your pipelines say what made a table, which run broke it, and which dashboards it reaches.',
  tools: 'Tools',
  source: 'Source',
  keyText: 'The snippets need an API key with the scope read-write.',
  askAdmin: 'Ask an admin for an API key with the scope read-write, and put it in place of YOUR_KEY.',
  keyMade: (name: string) =>
    `The key ${name} is in the snippets now. It is shown only here, until you leave this screen: copy what you need.`,
  arrived: 'What has arrived',
  nothing: 'Nothing has arrived yet',
  nothingText: 'The first event appears here by itself, a few seconds after it was sent.',
  nothingFrom: (tool: string) => `Nothing has arrived from ${tool} yet.`,
  runs: (runs: number, jobs: number) => `${countOf(runs, 'run')} of ${countOf(jobs, 'job')}`,
  edges: (edges: number) => countOf(edges, 'edge'),
  failedRuns: (runs: number) => `${countOf(runs, 'failed run')}`,
  lastFailure: 'Last failed run:',
  failureAdvice: 'Its log in the tool has the whole error.',
  unmapped: 'Datasets that no source has',
  unmappedText:
    'They are shown in lineage, but not joined with your tables. Map their namespace to a source.',
  datasets: (count: number) => countOf(count, 'dataset'),
  map: 'Map to a source',
  mapOf: (namespace: string) => `Map ${namespace} to a source`,
  mapped: (count: number) =>
    count === 0
      ? 'The namespace is mapped. No dataset of it is a table of the source yet.'
      : `The namespace is mapped. ${countOf(count, 'dataset is a table', 'datasets are tables')} now.`,
} as const
