import type { Knex } from 'knex'

/** The end of a dismissal, and the alert that replaced one that got worse. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table alerts
      -- The alert of the same cause that this one replaced because it got worse.
      add column supersedes uuid,
      -- Dismissed, and its check has not recovered since: a repeat counts on it.
      add column dismissal_lasts boolean not null default false;
    -- Inserts of the version before name the narrower condition, from which this one follows: they find this index.
    create unique index alerts_ongoing on alerts (company_id, kind, cause)
      where status in ('triggered', 'acknowledged', 'snoozed') or dismissal_lasts;
    drop index alerts_open;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    create unique index alerts_open on alerts (company_id, kind, cause)
      where status in ('triggered', 'acknowledged', 'snoozed');
    drop index alerts_ongoing;
    alter table alerts drop column supersedes, drop column dismissal_lasts;
  `)
}
