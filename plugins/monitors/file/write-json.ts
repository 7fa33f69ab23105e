/** Writing of a monitors file, in a thread of the pool: 10,000 checks take half a second. */
import { writeMonitors, type MonitorsDocument } from './monitors-file.ts'

/** @param document as JSON, which is copied between threads faster than what it holds */
export function writeMonitorsJson({ document, schemaUrl }: { document: string; schemaUrl: string }): string {
  return writeMonitors(JSON.parse(document) as MonitorsDocument, schemaUrl)
}
