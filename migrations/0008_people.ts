import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

const COMPANY_TABLES = [
  'teams',
  'team_members',
  'ownerships',
  'user_preferences',
  'onboarding_chapters',
  'onboarding_events',
  'badges',
  'chart_links',
  'prospects',
]

/**
 * What belongs to people: who owns what, teams, preferences and onboarding; and what people outside the company see: badges,
 * chart links, and the rows of the public endpoints.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table teams (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      name text not null,
      description text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index teams_name on teams (company_id, lower(name));

    create table team_members (
      company_id uuid not null references companies on delete cascade,
      team_id uuid not null references teams on delete cascade,
      -- A user, or the address of someone without an account.
      user_id uuid references users on delete cascade,
      email text check (email = lower(email)),
      check (num_nonnulls(user_id, email) = 1)
    );
    create unique index team_members_user on team_members (user_id, team_id) where user_id is not null;
    create unique index team_members_email on team_members (company_id, email, team_id) where email is not null;
    create index team_members_team on team_members (team_id);

    create table ownerships (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      -- What is owned: a source, a schema of it, or a table of it; or a tag, which belongs to no source.
      source_id uuid references sources on delete cascade,
      catalog_name text,
      schema_name text,
      -- A table is only removed with its source.
      table_id uuid,
      tag text,
      -- Who owns it; a name that dbt or a comment gives means the team of that name, if there is one.
      user_id uuid references users on delete cascade,
      team_id uuid references teams on delete cascade,
      email text check (email = lower(email)),
      name text,
      origin text not null check (origin in ('manual', 'dbt', 'openlineage', 'comment')),
      -- What reports it: a dbt project, a source; empty for a person.
      scope text not null default '',
      created_at timestamptz not null default now(),
      check (num_nonnulls(tag, source_id) = 1),
      check (num_nonnulls(table_id, schema_name) < 2 and (schema_name is null) = (catalog_name is null)),
      check (num_nonnulls(user_id, team_id, email, name) = 1)
    );
    create unique index ownerships_once on ownerships (company_id, origin, scope, (
      coalesce(cast(source_id as text), '')), (coalesce(cast(table_id as text), '')), (coalesce(catalog_name, '')),
      (coalesce(schema_name, '')), (coalesce(tag, '')),
      (coalesce(cast(user_id as text), cast(team_id as text), email, 'name ' || name)));
    create index ownerships_table on ownerships (company_id, table_id) where table_id is not null;
    create index ownerships_source on ownerships (source_id) where source_id is not null and table_id is null;
    create index ownerships_tables_of_source on ownerships (source_id) where table_id is not null;
    create index ownerships_tag on ownerships (company_id, tag) where tag is not null;
    create index ownerships_user on ownerships (user_id) where user_id is not null;
    create index ownerships_team on ownerships (team_id) where team_id is not null;
    create index ownerships_email on ownerships (company_id, email) where email is not null;

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
      -- A badge is removed with its source; a table is only removed with its source.
      source_id uuid references sources on delete cascade,
      -- A source or a table.
      asset_id uuid not null,
      label text,
      tag_filters text[] not null default '{}',
      schema_drift_enabled boolean not null default false,
      freshness_enabled boolean not null default false,
      -- Whether the tables that the badge's table is made from count too.
      include_upstream boolean not null default false,
      -- An inactive badge has no picture.
      is_active boolean not null default true,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index badges_list on badges (company_id, created_at desc, id desc);
    create index badges_source on badges (source_id);

    -- Links that show the chart of one check to everyone who has them, until they expire.
    create table chart_links (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- A table is only removed with its source.
      table_id uuid not null,
      -- As the endpoints of its kind take it.
      check_id text not null,
      days integer not null check (days between 1 and 90),
      -- SHA-256 of the token in the link, which is not stored.
      token_hash bytea not null unique,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index chart_links_company on chart_links (company_id, created_at desc, id desc);
    create index chart_links_source on chart_links (source_id);

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
    alter table anonymous_events enable row level security;
    create table beta_signups (
      position bigint generated always as identity primary key,
      email text not null unique check (email = lower(email)),
      name text,
      company text,
      use_case text,
      at timestamptz not null default now()
    );
    alter table beta_signups enable row level security;
  `)
  await isolate(knex, ...COMPANY_TABLES)
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, ...COMPANY_TABLES, 'anonymous_events', 'beta_signups')
}
