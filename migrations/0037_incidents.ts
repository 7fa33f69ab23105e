import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Incidents: alerts that belong together, what people do about them, and which messages are about them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table incidents (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      status text not null check (status in ('open', 'acknowledged', 'snoozed', 'resolved', 'dismissed')),
      severity text not null check (severity in ('info', 'warning', 'critical')),
      -- The sentence of the cause.
      title text not null,
      -- The kind of alert of the cause.
      event_type text not null,
      -- What is named as the cause, with its evidence.
      cause jsonb not null,
      alert_count integer not null,
      -- When the problem began, where the evidence shows it.
      started_at timestamptz,
      created_at timestamptz not null default now(),
      last_alert_at timestamptz not null default now(),
      acknowledged_at timestamptz,
      snoozed_until timestamptz,
      resolved_at timestamptz,
      assignee_id uuid references users on delete set null,
      post_mortem text,
      -- The incident that it turned out to be a part of, which has its alerts now.
      merged_into uuid
    );
    create index incidents_list on incidents (company_id, created_at desc, id desc);
    create index incidents_active on incidents (company_id, last_alert_at)
      where status in ('open', 'acknowledged', 'snoozed');
    create index incidents_ended on incidents (company_id, resolved_at) where resolved_at is not null;
    create index incidents_assignee on incidents (assignee_id) where assignee_id is not null;

    create table incident_alerts (
      -- Without a reference: checking it would lock alerts, after other locks. It goes with its incident.
      alert_id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      incident_id uuid not null references incidents on delete cascade,
      joined_at timestamptz not null default now()
    );
    create index incident_alerts_incident on incident_alerts (incident_id, alert_id);

    create table incident_activities (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      incident_id uuid not null references incidents on delete cascade,
      activity_type text not null,
      -- 'system', 'user:<id>' or 'key:<id>'.
      actor text not null,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now()
    );
    create index incident_activities_incident on incident_activities (incident_id, id);

    -- 'alerts': a message about each alert. Those that are there, and those of the version before, go on to get them.
    alter table destinations add column messages text not null default 'alerts'
      check (messages in ('alerts', 'incidents'));
    -- Of a message about an incident; its alert is the one that the message shows.
    alter table deliveries add column incident_id uuid;
    create index deliveries_incident on deliveries (incident_id) where incident_id is not null;
  `)
  await isolate(knex, 'incidents', 'incident_alerts', 'incident_activities')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table deliveries drop column incident_id;
    alter table destinations drop column messages;
  `)
  await drop(knex, 'incidents', 'incident_alerts', 'incident_activities')
}
