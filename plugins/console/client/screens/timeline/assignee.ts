import { incidentTexts as texts } from '../incidents/texts.ts'

/** A user whom an alert or an incident is given to. */
export interface Assignee {
  id: string
  email: string
  full_name: string | null
}

export const nameOfAssignee = (assignee: Assignee | null): string =>
  assignee ? (assignee.full_name ?? assignee.email) : texts.unassigned

/** For a list, where the title needs the room: a name, or an address without its domain. */
export const shortNameOf = ({ full_name: name, email }: Assignee): string => name ?? email.split('@')[0]!
