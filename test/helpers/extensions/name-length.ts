import type { Plugin } from '@hapi/hapi'
import Joi from 'joi'
import {
  checksWithNames,
  CheckRow,
  lockChecks,
  storeFindings,
  type Database,
  type SourceKind,
} from 'tidemark/check-kind'

/** A table has a name of at most so many characters. */
class NameLength extends CheckRow {
  static override kind = 'name_length'
  static override settings = ['most']

  declare checkInterval: string
  declare most: number
}

/** The kind: all names of a source are read at once. */
function nameLengths(db: Database): SourceKind<NameLength> {
  return {
    name: 'name_length',
    idPrefix: 'n_',
    model: NameLength,
    alert: {
      name: 'long_name',
      title: 'long name',
      label: 'name',
      symptom: 'quality',
      details: Joi.object(),
    },
    checkSource: ({ companyId, sourceId, claimed: { from, to } }) =>
      db.company(companyId, async trx => {
        const found = await checksWithNames(trx, NameLength)
          .where('checks.sourceId', sourceId)
          .whereBetween('checks.runningSlot', [from, to])
        await lockChecks(
          trx,
          NameLength,
          found.map(({ id }) => id),
        )
        const findings = found.map(({ id, ofTable: { length }, most }) => ({
          ...{
            id,
            at: new Date(),
            status: length > most ? ('fail' as const) : ('pass' as const),
            value: length,
          },
          ...{ errorMessage: null, details: {}, settings: { longest: length }, endsSlot: true },
        }))
        await storeFindings(trx, findings)
        return { measured: findings.length }
      }),
  }
}

/** An extension that adds a kind of check which is measured for all tables of a source at once. */
export const plugin: Plugin<undefined> = {
  name: 'name-lengths',
  register(server) {
    server.jobs.add(server.plugins.checks.addSourceKind(nameLengths(server.db)))
  },
}
