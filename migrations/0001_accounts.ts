import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Companies, users, sessions, API keys and rate limits. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table companies (
      company_id uuid primary key,
      name text not null,
      plan text not null check (plan in ('free_trial', 'starter', 'growth', 'professional', 'enterprise')),
      created_at timestamptz not null default now()
    );

    create table users (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      email text not null unique check (email = lower(email)),
      password_hash text not null,
      full_name text,
      role text not null check (role in ('viewer', 'member', 'admin', 'owner')),
      is_active boolean not null default true,
      timezone text not null default 'UTC',
      created_at timestamptz not null default now(),
      last_login_at timestamptz
    );
    create index users_company on users (company_id, created_at desc, id);
    create unique index users_one_owner on users (company_id) where role = 'owner';

    -- A session is a family of refresh tokens: only the newest is good, the one before for a few seconds.
    create table sessions (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      user_id uuid not null references users on delete cascade,
      refresh_hash bytea not null unique,
      previous_hash bytea,
      rotated_at timestamptz,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      ended_at timestamptz
    );
    create index sessions_user on sessions (company_id, user_id);

    create table api_keys (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      name text not null,
      scope text not null check (scope in ('read-only', 'read-write', 'admin')),
      key_hash bytea not null unique,
      key_prefix text not null,
      key_suffix text not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz,
      last_used_at timestamptz,
      revoked_at timestamptz
    );
    create index api_keys_company on api_keys (company_id, created_at desc, id);

    -- Failed sign-ins by keyed hash of the email, whether or not there is such a user.
    create unlogged table login_failures (
      email_hash text primary key,
      failures integer not null,
      first_at timestamptz not null,
      locked_until timestamptz
    );

    -- One row a limit and who it counts: how many so far and until when, over the whole window and over the
    -- short one of bursts, and whether the last one was let through. Losing it in a crash costs nothing.
    create unlogged table rate_windows (
      name text primary key,
      used integer not null,
      ends_at timestamptz not null,
      burst_used integer not null,
      burst_ends_at timestamptz not null,
      is_allowed boolean not null
    );
  `)
  await isolate(knex, 'companies', 'users', 'sessions', 'api_keys')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'companies', 'users', 'sessions', 'api_keys', 'login_failures', 'rate_windows')
}
