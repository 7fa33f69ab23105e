/** Marks of engines on a grid of 24 pixels, drawn for this console; they are no trademarks. */
const MARKS: Record<string, string> = {
  postgresql: 'M6 5c4-3 9-2 11 0s2 7-1 9v5h-3v-4H9c-4-2-5-8-3-10M9 9h.1M14 9h.1',
  mysql: 'M3 17c2-6 5-9 9-9 5 0 7 4 9 9M12 8V4M7 17c0-3 2-5 5-5',
  redshift: 'M12 3l7 4v10l-7 4-7-4V7zM12 3v18M8.500 6v12M15.500 6v12',
  snowflake:
    'M12 3v18M4.200 7.500l15.600 9M19.800 7.500l-15.600 9M9.500 4.500 12 7l2.500-2.500M9.500 19.500 12 17l2.500 2.500',
  bigquery: 'M12 3l7.800 4.500v9L12 21l-7.800-4.500v-9zM8.500 12v3M12 9v6M15.500 13v2',
  databricks: 'M4 8l8-4 8 4-8 4zM4 12.500l8 4 8-4M4 16.500l8 4 8-4',
  sqlite: 'M6 4h9l3 3v13H6zM9 10h6M9 13h6M9 16h4',
}
const TABLE = 'M4 5h16v14H4zM4 9.500h16M10 9.500V19'

/** A picture beside the name of an engine. One that an extension brings has the picture of a table. */
export function EngineLogo({ type }: { type: string }) {
  return (
    <svg class="engine-logo" viewBox="0 0 24 24" aria-hidden="true">
      <path d={MARKS[type] ?? TABLE} />
    </svg>
  )
}
