/** What a body may hold beside its size: each of these is stored by a statement or copied between threads. */
import type { LineageEvent } from '../openlineage/event.ts'

/** The parts of a project of dbt that are counted. */
interface CountedProject {
  project: {
    relations: { size: number }
    exposures: { size: number }
    edges: readonly { columns?: readonly unknown[] | null | undefined }[]
  }
  tests: readonly unknown[]
  runs: readonly unknown[]
}

/** What a dbt project may have. Projects of 5,000 models have a tenth of it. */
const PROJECT_LIMITS = {
  relations: 50_000,
  exposures: 50_000,
  tests: 100_000,
  runs: 50_000,
  edges: 100_000,
  'pairs of columns': 1_000_000,
}

/** What an event may have: so many datasets with all of their names, and so many columns that others come from. */
const EVENT_LIMITS = { 'names of datasets': 20_000, 'pairs of columns': 100_000 }

/** @returns what a project has too much of, in words, or undefined */
export function findExcessOfProject({ project, tests, runs }: CountedProject): string | undefined {
  return describeExcess('The project', PROJECT_LIMITS, {
    relations: project.relations.size,
    exposures: project.exposures.size,
    tests: tests.length,
    runs: runs.length,
    edges: project.edges.length,
    'pairs of columns': sum(project.edges, ({ columns }) => columns?.length ?? 0),
  })
}

/** @returns what an event has too much of, in words, or undefined */
export function findExcessOfEvent({ inputs, outputs }: LineageEvent): string | undefined {
  const all = [...inputs, ...outputs]
  return describeExcess('The event', EVENT_LIMITS, {
    'names of datasets': sum(
      all,
      ({ symlinks, inputs: others, columns }) => 1 + symlinks.length + others.length + (columns?.length ?? 0),
    ),
    'pairs of columns': sum(all, ({ columns }) => sum(columns ?? [], ({ pairs }) => pairs.length)),
  })
}

function describeExcess<Part extends string>(
  what: string,
  most: Record<Part, number>,
  found: Record<Part, number>,
): string | undefined {
  const part = (Object.keys(most) as Part[]).find(each => found[each] > most[each])
  return part && `${what} has ${found[part]} ${part}; ${most[part]} are the most: send it in several parts`
}

function sum<Item>(items: readonly Item[], countOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + countOf(item), 0)
}
