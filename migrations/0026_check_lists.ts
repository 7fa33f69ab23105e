import type { Knex } from 'knex'

/**
 * What the list of all checks of a company needs: whether a check is still learning, beside its last status, the text
 * that searches look in, and indexes in the order of the list that hold all that its filters ask for. Under row-level
 * security no function such as lower() may be evaluated on an index that does not hold its argument.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The version before does not write it: until the next check of a rule it then is what it was.
    alter table validity_rules add column is_learning boolean not null default false,
      add column search_text text generated always as
        (lower(name || ' ' || rule_type || coalesce(' ' || column_name, ''))) stored;
    alter table metrics add column is_learning boolean not null default false,
      add column search_text text generated always as
        (lower(metric_type || coalesce(' ' || column_name, ''))) stored;
    alter table referential_checks add column search_text text generated always as
      (lower(name || ' referential ' || child_column_name)) stored;

    update validity_rules v set is_learning = true where v.latest_status = 'pass' and (
      select r.is_learning from validity_results r where r.company_id = v.company_id and r.validity_rule_id = v.id
      order by r.checked_at desc, r.id desc limit 1);
    -- One by groups is learning while all groups of its last capture are.
    update metrics m set is_learning = true where m.last_status = 'PASS' and (
      select bool_and(s.is_learning) from metric_snapshots s where s.company_id = m.company_id
        and s.metric_id = m.internal_id and s.captured_at = (
          select max(l.captured_at) from metric_snapshots l where l.company_id = m.company_id
            and l.metric_id = m.internal_id));

    create index validity_rules_company on validity_rules (company_id, created_at desc, id desc)
      include (table_id, source_id, is_active, latest_status, is_learning, search_text);
    create index metrics_company on metrics (company_id, created_at desc, internal_id desc)
      include (table_id, source_id, is_active, last_status, is_learning, search_text);
    create index referential_checks_company on referential_checks (company_id, created_at desc, internal_id desc)
      include (table_id, source_id, is_active, latest_status, search_text);
    -- Each check rewrites its row; only vacuumed pages spare the look at rows.
    alter table validity_rules set (autovacuum_vacuum_scale_factor = 0.05);
    alter table metrics set (autovacuum_vacuum_scale_factor = 0.05);
    alter table referential_checks set (autovacuum_vacuum_scale_factor = 0.05);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table referential_checks reset (autovacuum_vacuum_scale_factor);
    alter table metrics reset (autovacuum_vacuum_scale_factor);
    alter table validity_rules reset (autovacuum_vacuum_scale_factor);
    drop index referential_checks_company;
    drop index metrics_company;
    drop index validity_rules_company;
    alter table referential_checks drop column search_text;
    alter table metrics drop column search_text, drop column is_learning;
    alter table validity_rules drop column search_text, drop column is_learning;
  `)
}
