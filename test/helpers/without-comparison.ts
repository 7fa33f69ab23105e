import type { Connector } from '../../connectors/connector.ts'

/**
 * A connector without its comparisons: the stand-in for its service has none of the functions that they call. The peers of
 * the engines hold them to the kit.
 */
export function withoutComparison<Config>(connector: Connector<Config>): Connector<Config> {
  const { comparison: _comparison, ...dialect } = connector.dialect
  return { ...connector, dialect }
}
