import Joi from 'joi'
import { held, inEnvelope, record, reply } from '../../server/http/envelopes.ts'

const id = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d90'
const isNew = held.flag.description('False if it existed before.')

const asset = record(
  {
    id: held.id,
    public_id: held.id.description('The same as the id.'),
    name: Joi.string(),
    is_new: isNew,
    job_id: held.id.allow(null).description('The discovery; null unless the asset is new.'),
  },
  { id, public_id: id, name: 'demo_shop', is_new: true, job_id: '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d91' },
).label('DemoAsset')

const lineage = record(
  { nodes_created: held.count.description('Tables that had no edge before.'), edges_created: held.count },
  { nodes_created: 21, edges_created: 21 },
).label('DemoLineage')

const alert = record(
  { id: held.id, title: Joi.string(), severity: Joi.string(), is_new: isNew },
  {
    id,
    title: 'inventory: 3 days old, expected every 24 h',
    severity: 'critical',
    is_new: true,
  },
).label('DemoAlert')

const destination = record(
  { id: held.id, name: Joi.string(), destination_type: Joi.string(), is_new: isNew },
  { id, name: 'Demo chat', destination_type: 'slack', is_new: true },
).label('DemoDestination')

/** The data is null when `success` is false. */
export const replies = {
  asset: reply(inEnvelope(asset.allow(null))),
  lineage: reply(inEnvelope(lineage.allow(null))),
  alert: reply(inEnvelope(alert)),
  removed: reply(
    inEnvelope(record({ deleted: held.count }, { deleted: 1 })).description(
      'How many demo alerts were deleted',
    ),
  ),
  destination: reply(inEnvelope(destination)),
}
