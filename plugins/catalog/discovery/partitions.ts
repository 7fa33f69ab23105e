import type { PartitionFamily } from '../../../server/database/partitions.ts'

export const schemaChangePartitions: PartitionFamily = {
  name: 'schema_changes',
  retention: 'retentionChangesDays',
  tables: [
    {
      table: 'schema_changes',
      by: 'detected_at',
      // Only vacuumed pages are not read again: vacuum after 2 % of changes, not 20.
      storage: `with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
        autovacuum_analyze_scale_factor = 0.02)`,
    },
  ],
}
