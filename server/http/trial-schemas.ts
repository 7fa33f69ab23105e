/** What dry runs, and requests that make checks, say besides: what a check would do, and whether an equal one exists. */
import Joi from 'joi'
import { held, record } from './envelopes.ts'

/** What a check would do that is tried. */
export interface Outlook {
  alerts_now: number | null
  alerts_before: number | null
  days: number | null
  message: string
}

/** A check that is there already. */
export interface ExistingCheck {
  id: string
  kind: string
  title: string
  is_active: boolean
  asset_id: string
  table_path: string
}

/** What every dry run says besides. */
export const trialReply = {
  outlook: record({
    alerts_now: held.count.allow(null).description('Null where it cannot be measured.'),
    alerts_before: held.count.allow(null).description('Null where its past is not known.'),
    days: held.count.allow(null),
    message: held.text,
  })
    .label('CheckOutlook')
    .description('What it would do: the alerts of now, and of the days before.')
    .example({
      alerts_now: 1,
      alerts_before: 0,
      days: 30,
      message: '1 alert now, 0 in the 30 days before',
    }),
  existing: record({
    id: held.text,
    kind: held.text,
    title: held.text,
    is_active: held.flag,
    asset_id: held.id.description('Its table.'),
    table_path: held.text,
  })
    .allow(null)
    .label('ExistingCheck')
    .description('A check of the table that finds the same wrong; null without one.')
    .example(null),
}

/** What people should know of a check that they try or make. */
export const warningsReply = Joi.array()
  .items(Joi.string())
  .optional()
  .description('Present when an equal check exists: `This check exists: …`.')
