import type { Knex } from 'knex'
import { partition } from './months.ts'
import { drop, isolate } from './tenant.ts'

/** Alerts and incidents, the rules that route them, and the messages about them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table alerts (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      -- Without a reference: alerts outlive their source. They are resolved, and messages about that are still pending.
      source_id uuid,
      asset_id uuid,
      kind text not null,
      -- What caused it, within its kind: a rule, a metric, a table. One open alert a cause.
      cause text not null,
      severity text not null check (severity in ('info', 'warning', 'critical')),
      status text not null default 'triggered'
        check (status in ('triggered', 'acknowledged', 'snoozed', 'resolved', 'dismissed')),
      delivery_failed boolean not null default false,
      rule_name text not null,
      title text not null,
      event jsonb not null,
      context_data jsonb not null default '{}',
      occurrences integer not null default 1,
      -- The alert of the same cause that this one replaced because it got worse.
      supersedes uuid,
      -- Dismissed, and its check has not recovered since: a repeat counts on it.
      dismissal_lasts boolean not null default false,
      -- The newest reason that a person gave. Earlier ones are in the history.
      notes text,
      -- Texts by their names in the API: \`root_cause_category\` and the like.
      resolution jsonb,
      created_at timestamptz not null default now(),
      last_seen_at timestamptz not null default now(),
      snoozed_until timestamptz,
      resolved_at timestamptz
      -- Repeats update their alert often: free space in the page allows updates without index writes.
    ) with (fillfactor = 70);
    create unique index alerts_ongoing on alerts (company_id, kind, cause)
      where status in ('triggered', 'acknowledged', 'snoozed') or dismissal_lasts;
    create index alerts_list on alerts (company_id, created_at desc, id desc);
    create index alerts_cause on alerts (company_id, kind, cause, created_at desc);
    create index alerts_asset on alerts (company_id, asset_id, created_at desc);
    -- Without the company first: the alerts of a source that is removed are looked up by it alone.
    create index alerts_source on alerts (source_id, created_at desc);
    create index alerts_snoozed on alerts (snoozed_until) where status = 'snoozed';
    create index alerts_failed on alerts (company_id, created_at desc, id desc) where delivery_failed;
    -- For trends: recently closed alerts.
    create index alerts_closed on alerts (company_id, resolved_at) where resolved_at is not null;

    create table alert_history (
      id bigint generated always as identity primary key,
      company_id uuid not null references companies on delete cascade,
      alert_id uuid not null references alerts on delete cascade,
      from_status text,
      to_status text not null,
      reason text,
      resolution jsonb,
      -- When a snooze ends.
      snoozed_until timestamptz,
      actor text not null,
      at timestamptz not null default now()
    );
    create index alert_history_alert on alert_history (alert_id, id);
    -- For trends.
    create index alert_history_acknowledged on alert_history (company_id, at) where to_status = 'acknowledged';

    create table alert_rules (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      name text not null,
      description text,
      event_types text[],
      severities text[],
      asset_ids uuid[],
      tag_filter_mode text check (tag_filter_mode in ('any', 'all')),
      tag_filter_tags text[],
      -- Ids of users and teams, and addresses; null for all.
      owners text[],
      destination_ids uuid[] not null,
      cooldown_minutes integer not null default 0,
      -- From 0 to 1. Without effect while the authors of code are not notified.
      code_author_min_confidence double precision,
      is_active boolean not null default true,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index alert_rules_list on alert_rules (company_id, created_at desc, id desc);
  `)
  await isolate(knex, 'alerts', 'alert_history', 'alert_rules')
  await knex.raw(INCIDENTS)
  await isolate(knex, 'incidents', 'incident_alerts', 'incident_activities')
  await knex.raw(DELIVERIES)
  await isolate(knex, 'destinations', 'destination_slots', 'deliveries', 'delivery_attempts')
  await partition(knex, { table: 'deliveries', by: 'id', isUuid: true })
  // Attempts have the month of their delivery.
  await partition(knex, {
    ...{ table: 'delivery_attempts', by: 'delivery_id', isUuid: true },
    parent: { column: 'delivery_id', table: 'deliveries' },
  })
}

/** Alerts that belong together, and what people do about them. */
const INCIDENTS = `
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
  `

/** Who gets messages, and the messages with each attempt to send them. */
const DELIVERIES = `
    create table destinations (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      name text not null,
      destination_type text not null,
      config jsonb not null,
      secrets text,
      -- Sealed list of signing secrets, newest first, each with the time it stops being used.
      signing_secrets text not null,
      -- 'alerts': a message about each alert.
      messages text not null default 'alerts' check (messages in ('alerts', 'incidents')),
      is_active boolean not null default true,
      is_demo boolean not null default false,
      is_verified boolean not null default false,
      disabled_reason text,
      -- When the first of the attempts failed that have all failed since; null once one got through.
      failing_since timestamptz,
      -- When the first of the attempts timed out that have all got no answer since; null once one was answered.
      silent_since timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      -- The row stays for the record of its deliveries; its secrets go.
      deleted_at timestamptz
    );
    create index destinations_list on destinations (company_id, created_at desc, id desc);
    create unique index destinations_one_demo on destinations (company_id) where is_demo and deleted_at is null;

    -- A row per request in flight, and per test that waits for its slot.
    create table destination_slots (
      holder uuid primary key,
      company_id uuid not null references companies on delete cascade,
      destination_id uuid not null references destinations on delete cascade,
      is_waiting boolean not null default false,
      taken_at timestamptz not null default now()
    );
    create index destination_slots_destination on destination_slots (destination_id);

    -- The body is frozen with the alert: every attempt sends the same bytes.
    create table deliveries (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      -- Null of a test, which no alert caused.
      alert_id uuid references alerts on delete cascade,
      -- Set when the message is about an incident; its alert is the one that the message shows.
      incident_id uuid,
      -- \`alert.id\` of the body and \`webhook-id\` of its headers.
      message_id uuid not null,
      destination_id uuid not null references destinations on delete cascade,
      -- The rules that asked for it; their cooldowns run from it.
      rule_ids uuid[] not null default '{}',
      event_type text not null,
      body text not null,
      -- What causes the attempt that comes next, or caused the last one.
      trigger text not null default 'automatic' check (trigger in ('automatic', 'manual', 'test')),
      status text not null default 'pending'
        check (status in ('pending', 'delivered', 'failed', 'stopped')),
      -- Who got it, where the destination has several people: a further attempt leaves them alone.
      served text[] not null default '{}',
      -- Attempts that have ended.
      attempt integer not null default 0,
      -- Raised by every claim: a worker that was thought dead cannot finish another's attempt.
      fence integer not null default 0,
      -- The job that is at it, so that a second one for the same attempt keeps away.
      claimed_by uuid,
      claimed_at timestamptz,
      -- The job of the next attempt.
      job_id uuid,
      next_attempt_at timestamptz,
      created_at timestamptz not null default now(),
      completed_at timestamptz,
      stopped_reason text
    ) partition by range (id);
    create index deliveries_destination on deliveries (company_id, destination_id, created_at desc, id desc);
    create index deliveries_pending on deliveries (next_attempt_at) where status = 'pending';
    create index deliveries_alert on deliveries (alert_id);
    create index deliveries_incident on deliveries (incident_id) where incident_id is not null;

    create table delivery_attempts (
      delivery_id uuid not null,
      n integer not null,
      company_id uuid not null references companies on delete cascade,
      -- Sent with the attempt as X-Request-Id, to find it in the receiver's log.
      request_id uuid,
      trigger text not null check (trigger in ('automatic', 'manual', 'test')),
      started_at timestamptz not null,
      ended_at timestamptz not null,
      status_code integer,
      error_class text,
      error_message text,
      address text,
      tls_version text,
      latency_ms integer not null,
      is_slow boolean not null default false,
      response_body text,
      primary key (delivery_id, n)
    ) partition by range (delivery_id);

    -- Addresses that unsubscribed from mail of all companies. No other role than the owner has a policy.
    create table unsubscribed (
      email text primary key check (email = lower(email)),
      at timestamptz not null default now()
    );
    alter table unsubscribed enable row level security;
  `

export async function down(knex: Knex): Promise<void> {
  await drop(
    knex,
    'alerts',
    'alert_history',
    'alert_rules',
    'incidents',
    'incident_alerts',
    'incident_activities',
    'destinations',
    'destination_slots',
    'deliveries',
    'delivery_attempts',
    'unsubscribed',
  )
}
