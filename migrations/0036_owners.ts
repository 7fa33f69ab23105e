import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Teams, who owns what, and alert rules that select by owner. */
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

    -- Ids of users and teams, and addresses; null for all.
    alter table alert_rules add column owners text[];
  `)
  await isolate(knex, 'teams', 'team_members', 'ownerships')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table alert_rules drop column if exists owners')
  await drop(knex, 'teams', 'team_members', 'ownerships')
}
