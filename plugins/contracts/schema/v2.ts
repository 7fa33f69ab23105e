import { flag, list, number, object, oneOf, open, text, whole, type Schema } from './parts.ts'

/**
 * Contracts of version 2.2.2, which describe datasets with tables and columns. The version allows any unknown field.
 */
export function v2(): Schema {
  const texts = list(text)
  const amount = { type: ['string', 'number'] }
  const definitions = list(open({ url: text, type: text }, ['url', 'type']))
  const column = open(
    {
      column: text,
      isPrimaryKey: flag,
      primaryKeyPosition: whole,
      businessName: text,
      logicalType: text,
      physicalType: text,
      description: text,
      isNullable: flag,
      isUnique: flag,
      partitionStatus: flag,
      partitionKeyPosition: whole,
      clusterStatus: flag,
      clusterKeyPosition: whole,
      classification: text,
      authoritativeDefinitions: definitions,
      encryptedColumnName: text,
      transformSourceTables: texts,
      transformLogic: text,
      transformDescription: text,
      sampleValues: texts,
      criticalDataElementStatus: flag,
      tags: texts,
    },
    ['column', 'logicalType', 'physicalType'],
  )
  const quality = open(
    {
      code: text,
      templateName: text,
      description: text,
      toolName: text,
      toolRuleName: text,
      dimension: text,
      columns: text,
      column: text,
      type: text,
      severity: text,
      businessImpact: text,
      scheduleCronExpression: text,
      customProperties: list(open({ property: text, value: object })),
    },
    ['templateName', 'toolName'],
  )
  const table = open(
    {
      table: text,
      physicalName: text,
      priorTableName: text,
      description: text,
      authoritativeDefinitions: definitions,
      dataGranularity: text,
      columns: list(column),
      quality: list(quality),
    },
    ['table'],
  )
  const approvers = { firstLevelApprovers: text, secondLevelApprovers: text }
  const agreement = {
    property: text,
    value: amount,
    valueExt: amount,
    unit: text,
    column: text,
    driver: text,
  }
  return open(
    {
      version: text,
      kind: oneOf('DataContract'),
      apiVersion: text,
      uuid: text,
      datasetKind: text,
      userConsumptionMode: text,
      type: text,
      tenant: text,
      tags: texts,
      status: text,
      sourceSystem: text,
      sourcePlatform: text,
      server: text,
      quantumName: text,
      productSlackChannel: text,
      productFeedbackUrl: text,
      productDl: text,
      username: text,
      password: text,
      driverVersion: text,
      driver: text,
      description: open({ usage: text, purpose: text, limitations: text }),
      project: text,
      datasetName: text,
      datasetDomain: text,
      database: text,
      dataset: list(table),
      price: open({ priceAmount: number, priceCurrency: text, priceUnit: text }),
      stakeholders: list(
        open({ username: text, role: text, dateIn: text, dateOut: text, replacedByUsername: text }),
      ),
      roles: list(open({ role: text, access: text, ...approvers }, ['role', 'access'])),
      slaDefaultColumn: text,
      slaProperties: list(open(agreement, ['property', 'value'])),
    },
    ['version', 'kind', 'uuid', 'type', 'status', 'dataset', 'datasetName', 'quantumName'],
  )
}
