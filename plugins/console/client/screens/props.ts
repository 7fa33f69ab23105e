import type { Table } from 'tidemark/client'

/** What a screen is given: the part of the path after its name, such as an id. */
export interface ScreenProps {
  name: string
}

/** What each tab of a table's page is given. */
export interface TabProps {
  table: Table
  /** Asks for the table again, after something has changed it. */
  reload(): void
}
