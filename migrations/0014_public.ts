import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Preferences, onboarding progress, and the data of the public endpoints. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A row that is not there stands for the defaults. The time zone is the user's own column.
    create table user_preferences (
      user_id uuid primary key references users on delete cascade,
      company_id uuid not null references companies on delete cascade,
      theme text not null default 'system' check (theme in ('system', 'light', 'dark')),
      email_notifications boolean not null default true,
      digest text not null default 'off' check (digest in ('off', 'daily', 'weekly')),
      -- A source or a table; one that was removed is shown as null.
      default_asset_id uuid,
      table_page_size integer not null default 50 check (table_page_size between 10 and 200),
      custom jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table onboarding_chapters (
      user_id uuid not null references users on delete cascade,
      company_id uuid not null references companies on delete cascade,
      chapter text not null check (chapter in ('connect', 'discover', 'freshness', 'schema')),
      completed_at timestamptz,
      current_step integer not null default 0 check (current_step >= 0),
      updated_at timestamptz not null default now(),
      primary key (user_id, chapter)
    );

    create table onboarding_events (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      user_id uuid not null references users on delete cascade,
      event_name text not null,
      chapter text not null,
      step integer,
      properties jsonb not null default '{}',
      -- Whether the user had completed the chapter before.
      is_replay boolean not null,
      at timestamptz not null default now()
    );
    create index onboarding_events_at on onboarding_events (at);

    create table badges (
      id uuid primary key,
      -- Part of the public address of the image, so it must not be guessable.
      public_id text not null unique,
      company_id uuid not null references companies on delete cascade,
      -- A source or a table.
      asset_id uuid not null,
      label text,
      tag_filters text[] not null default '{}',
      schema_drift_enabled boolean not null default false,
      freshness_enabled boolean not null default false,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index badges_list on badges (company_id, created_at desc, id desc);

    create table lineage_edges (
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- Tables, of which the second is made from the first.
      upstream_id uuid not null,
      downstream_id uuid not null,
      is_demo boolean not null default false,
      created_at timestamptz not null default now(),
      primary key (company_id, upstream_id, downstream_id)
    );
    create index lineage_edges_source on lineage_edges (source_id);
    create index lineage_edges_downstream on lineage_edges (company_id, downstream_id);

    alter table sources add column is_demo boolean not null default false;
    create unique index sources_one_demo on sources (company_id) where is_demo;
    alter table destinations add column is_demo boolean not null default false;
    create unique index destinations_one_demo on destinations (company_id) where is_demo and deleted_at is null;

    -- Rows without a company. No other role than the owner has a policy.
    create table anonymous_events (
      id uuid primary key,
      anonymous_id text not null,
      event_name text not null,
      properties jsonb not null default '{}',
      occurred_at timestamptz not null,
      at timestamptz not null default now()
    );
    create index anonymous_events_at on anonymous_events (at);
    create table beta_signups (
      position bigint generated always as identity primary key,
      email text not null unique check (email = lower(email)),
      name text,
      company text,
      use_case text,
      at timestamptz not null default now()
    );
    create table prospects (
      id uuid primary key,
      email text not null check (email = lower(email)),
      -- The company that they will join; without one they get one of their own.
      company_id uuid references companies on delete cascade,
      token_hash bytea not null unique,
      user_id uuid references users on delete cascade,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      last_used_at timestamptz
    );
    -- Replies of requests that carried an Idempotency-Key, for 24 hours.
    create table idempotent_replies (
      company_id uuid not null references companies on delete cascade,
      actor text not null,
      key text not null,
      -- HMAC-SHA256 of method, path and body: another request under the same key is refused.
      request_hash bytea not null,
      -- Null while the first one is still being answered.
      status integer,
      body text,
      headers jsonb,
      created_at timestamptz not null default now(),
      primary key (company_id, actor, key)
    );
    create index idempotent_replies_at on idempotent_replies (created_at);
  `)
  for (const table of ['anonymous_events', 'beta_signups'])
    await knex.raw(`alter table ${table} enable row level security`)
  await isolate(
    knex,
    'user_preferences',
    'onboarding_chapters',
    'onboarding_events',
    'badges',
    'lineage_edges',
    'prospects',
    'idempotent_replies',
  )
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table sources drop column is_demo;
    alter table destinations drop column is_demo;
  `)
  await drop(
    knex,
    'user_preferences',
    'onboarding_chapters',
    'onboarding_events',
    'badges',
    'lineage_edges',
    'anonymous_events',
    'beta_signups',
    'prospects',
    'idempotent_replies',
  )
}
