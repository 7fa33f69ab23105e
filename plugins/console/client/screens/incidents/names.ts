import { shortNames } from '../../parts/table/short-name.ts'
import type { Incident } from './requests.ts'

/** How an incident calls its tables: by the end of the name that no other one has. */
export const namesOf = ({ alerts, root_cause: cause }: Incident): ReadonlyMap<string, string> =>
  shortNames([cause.qualified_name, ...alerts.map(({ qualified_name: name }) => name)])
