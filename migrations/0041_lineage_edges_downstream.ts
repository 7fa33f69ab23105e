import type { Knex } from 'knex'

/**
 * An edge is looked up by both of its ends too, by each row that refers to it. Where PostgreSQL knows nothing of the table
 * yet, it may choose this index for that, and then looked at all edges that lead to the same end.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index lineage_edges_downstream;
    create index lineage_edges_downstream on lineage_edges (company_id, downstream_id, upstream_id);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index lineage_edges_downstream;
    create index lineage_edges_downstream on lineage_edges (company_id, downstream_id);
  `)
}
