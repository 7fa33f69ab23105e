import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Alerts, destinations, deliveries and attempts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table alerts (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid references sources on delete cascade,
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
      created_at timestamptz not null default now(),
      last_seen_at timestamptz not null default now(),
      snoozed_until timestamptz,
      resolved_at timestamptz
    );
    create unique index alerts_open on alerts (company_id, kind, cause)
      where status in ('triggered', 'acknowledged', 'snoozed');
    create index alerts_list on alerts (company_id, created_at desc, id desc);
    create index alerts_cause on alerts (company_id, kind, cause, created_at desc);
    create index alerts_snoozed on alerts (snoozed_until) where status = 'snoozed';

    create table alert_history (
      id bigint generated always as identity primary key,
      company_id uuid not null references companies on delete cascade,
      alert_id uuid not null references alerts on delete cascade,
      from_status text,
      to_status text not null,
      reason text,
      actor text not null,
      at timestamptz not null default now()
    );
    create index alert_history_alert on alert_history (company_id, alert_id, id);

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
      destination_ids uuid[] not null,
      cooldown_minutes integer not null default 0,
      is_active boolean not null default true,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index alert_rules_list on alert_rules (company_id, created_at desc, id desc);

    create table destinations (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      name text not null,
      destination_type text not null,
      config jsonb not null,
      secrets text,
      -- Sealed list of signing secrets, newest first, each with the time it stops being used.
      signing_secrets text not null,
      is_active boolean not null default true,
      is_verified boolean not null default false,
      disabled_reason text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      -- The row stays for the record of its deliveries; its secrets go.
      deleted_at timestamptz
    );
    create index destinations_list on destinations (company_id, created_at desc, id desc);

    -- The body is frozen with the alert: every attempt sends the same bytes.
    create table deliveries (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      -- Null of a test, which no alert caused.
      alert_id uuid references alerts on delete cascade,
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
    );
    create index deliveries_destination on deliveries (company_id, destination_id, created_at desc, id desc);
    create index deliveries_alert on deliveries (company_id, alert_id);
    create index deliveries_pending on deliveries (next_attempt_at) where status = 'pending';

    create table delivery_attempts (
      delivery_id uuid not null references deliveries on delete cascade,
      n integer not null,
      company_id uuid not null references companies on delete cascade,
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
    );
  `)
  await isolate(
    knex,
    'alerts',
    'alert_history',
    'alert_rules',
    'destinations',
    'deliveries',
    'delivery_attempts',
  )
}

export async function down(knex: Knex): Promise<void> {
  await drop(
    knex,
    'alerts',
    'alert_history',
    'alert_rules',
    'destinations',
    'deliveries',
    'delivery_attempts',
  )
}
