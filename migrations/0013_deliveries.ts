import type { Knex } from 'knex'
import { drop } from './tenant.ts'

/** Deliveries to several recipients and to failing receivers. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table destinations
      -- When the first of the attempts failed that have all failed since; null once one got through.
      add column failing_since timestamptz;
    alter table deliveries
      -- Who got it, of a destination of several people: a further attempt leaves them alone.
      add column served text[] not null default '{}';
    alter table delivery_attempts
      -- Sent with the attempt as X-Request-Id, to find it in the receiver's log.
      add column request_id uuid;

    alter table alert_history
      -- Of a snooze: when it ends.
      add column snoozed_until timestamptz;

    -- Alerts outlive their source: they are resolved, and the deliveries about that are still pending.
    alter table alerts drop constraint alerts_source_id_fkey;
    create index alerts_asset on alerts (company_id, asset_id, created_at desc);
    -- Without the company first, because foreign keys look up rows by these columns when a source is removed.
    create index alerts_source on alerts (source_id, created_at desc);
    drop index alert_history_alert, deliveries_alert;
    create index alert_history_alert on alert_history (alert_id, id);
    create index deliveries_alert on deliveries (alert_id);
    create index alerts_failed on alerts (company_id, created_at desc, id desc) where delivery_failed;
    -- Repeats update their alert often: free space in the page allows updates without index writes.
    alter table alerts set (fillfactor = 70);
    -- For trends: recently closed alerts, and acknowledgements.
    create index alerts_closed on alerts (company_id, resolved_at) where resolved_at is not null;
    create index alert_history_acknowledged on alert_history (company_id, at) where to_status = 'acknowledged';

    create index deliveries_tests on deliveries (created_at) where alert_id is null;

    -- Addresses that unsubscribed from mail of all companies. No other role than the owner has a policy.
    create table unsubscribed (
      email text primary key check (email = lower(email)),
      at timestamptz not null default now()
    );
    alter table unsubscribed enable row level security;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'unsubscribed')
  await knex.raw(`
    alter table destinations drop column failing_since;
    alter table deliveries drop column served;
    alter table delivery_attempts drop column request_id;
    alter table alert_history drop column snoozed_until;
    delete from alerts a where not exists (select from sources s where s.id = a.source_id) and source_id is not null;
    alter table alerts add foreign key (source_id) references sources on delete cascade;
    drop index alerts_asset, alerts_source, alerts_failed, alerts_closed, alert_history_acknowledged;
    alter table alerts reset (fillfactor);
    drop index alert_history_alert, deliveries_alert, deliveries_tests;
    create index alert_history_alert on alert_history (company_id, alert_id, id);
    create index deliveries_alert on deliveries (company_id, alert_id);
  `)
}
