import type { Source } from 'tidemark/client'

/** What each tab of a source's page is given. */
export interface SourceTabProps {
  source: Source
  /** Asks for the source again, after something has changed it. */
  reload: () => void
}
