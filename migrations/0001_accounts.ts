import type { Knex } from 'knex'
import { createAuditLog, dropAuditLog } from './audit-log.ts'
import { drop, isolate } from './tenant.ts'

const COMPANY_TABLES = [
  'companies',
  'users',
  'invitations',
  'sessions',
  'identities',
  'tickets',
  'demo_sessions',
  'api_keys',
  'idempotent_replies',
]

/** Companies, people, how they sign in, API keys, limits, the audit log, and what the installation keeps for itself. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table companies (
      company_id uuid primary key,
      name text not null,
      plan text not null check (plan in ('free_trial', 'starter', 'growth', 'professional', 'enterprise')),
      -- The demo company, which guests read with read-only keys that are valid for one hour.
      is_demo boolean not null default false,
      created_at timestamptz not null default now()
    );
    create unique index companies_one_demo on companies (is_demo) where is_demo;

    create table users (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      email text not null unique check (email = lower(email)),
      -- Who signs in through a provider only has none.
      password_hash text,
      full_name text,
      role text not null check (role in ('viewer', 'member', 'admin', 'owner')),
      is_active boolean not null default true,
      timezone text not null default 'UTC',
      created_at timestamptz not null default now(),
      last_login_at timestamptz
    );
    create index users_company on users (company_id, created_at desc, id);
    create unique index users_one_owner on users (company_id) where role = 'owner';

    create table invitations (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      email text not null check (email = lower(email)),
      role text not null check (role in ('viewer', 'member', 'admin')),
      token_hash bytea not null unique,
      -- user:<id> or key:<id>
      invited_by text not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      accepted_at timestamptz,
      revoked_at timestamptz
    );
    create index invitations_company on invitations (company_id, created_at desc, id desc);

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
    -- Without the company first, as for other indexes of foreign keys: removing a user looks up its rows by it alone.
    create index sessions_user on sessions (user_id);

    -- Who a user is to a provider: the pair is the provider's word, and never changes.
    create table identities (
      issuer text not null,
      subject text not null,
      company_id uuid not null references companies on delete cascade,
      user_id uuid not null references users on delete cascade,
      -- The name of the provider in the settings.
      provider text,
      -- The verified email when it was linked.
      email text,
      created_at timestamptz not null default now(),
      last_used_at timestamptz,
      primary key (issuer, subject)
    );
    create index identities_user on identities (company_id, user_id);

    -- A sign-in that was sent to a provider and has not come back: good once, for the browser that began it.
    create table oauth_attempts (
      state_hash bytea primary key,
      browser_hash bytea not null,
      provider text not null,
      -- The PKCE verifier and the nonce, sealed.
      sealed text not null,
      redirect_uri text,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index oauth_attempts_expired on oauth_attempts (expires_at);
    -- Used before sign-in, so only the owner role has access.
    alter table oauth_attempts enable row level security;

    -- Exchanged for a session once: after sign-in at a provider, or from a magic link.
    create table tickets (
      ticket_hash bytea primary key,
      company_id uuid not null references companies on delete cascade,
      user_id uuid not null references users on delete cascade,
      -- How the user was authenticated, for the audit log: oauth:<provider>.
      method text not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      used_at timestamptz
    );
    create index tickets_expired on tickets (expires_at);

    create table demo_sessions (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      key_hash bytea not null unique,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index demo_sessions_expired on demo_sessions (expires_at);

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

    -- Encrypted values of the installation: the password of the application role, which also detects a wrong
    -- SECRET_KEY. No other role than the owner has a policy.
    create table installation (
      name text primary key,
      sealed text not null
    );
    alter table installation enable row level security;

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
  await isolate(knex, ...COMPANY_TABLES)
  await knex.raw(LIMITS)
  await createAuditLog(knex)
}

/** How often a caller may do something, and the functions that count it. */
const LIMITS = `
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

    -- Counts one against a limit, and says how it stands. The row's lock makes the count exact; both windows are in it,
    -- so that both count or neither. What is refused is not counted.
    create function take_limit(
      limit_name text, most integer, seconds float8, burst_most integer, burst_seconds float8,
      out used integer, out burst_used integer, out is_allowed boolean,
      out now float8, out resets_in float8, out burst_resets_in float8
    ) language plpgsql as $$
    #variable_conflict use_column
    declare
      until timestamptz;
      burst_until timestamptz;
    begin
      insert into rate_windows as w (name, used, ends_at, burst_used, burst_ends_at, is_allowed)
      values (limit_name, 1, now() + seconds * interval '1 second', 1, now() + burst_seconds * interval '1 second', true)
      on conflict (name) do update set (used, ends_at, burst_used, burst_ends_at, is_allowed) = (
        select
          case when fits then so_far + 1 else so_far end,
          case when w.ends_at > now() then w.ends_at else excluded.ends_at end,
          case when fits then burst_so_far + 1 else burst_so_far end,
          case when w.burst_ends_at > now() then w.burst_ends_at else excluded.burst_ends_at end,
          fits
        from (select
          case when w.ends_at > now() then w.used else 0 end as so_far,
          case when w.burst_ends_at > now() then w.burst_used else 0 end as burst_so_far
        ) as counted
        cross join lateral (
          select so_far < most and burst_so_far < burst_most as fits
        ) as judged
      )
      returning w.used, w.burst_used, w.is_allowed, w.ends_at, w.burst_ends_at
      into used, burst_used, is_allowed, until, burst_until;
      now := extract(epoch from now());
      resets_in := extract(epoch from until - now());
      burst_resets_in := extract(epoch from burst_until - now());
    end $$;

    -- The same without counting: whether one more would fit.
    create function peek_limit(
      limit_name text, most integer, seconds float8, burst_most integer, burst_seconds float8,
      out used integer, out burst_used integer, out is_allowed boolean,
      out now float8, out resets_in float8, out burst_resets_in float8
    ) language plpgsql stable as $$
    #variable_conflict use_column
    begin
      select
        case when w.ends_at > now() then w.used else 0 end,
        case when w.burst_ends_at > now() then w.burst_used else 0 end,
        case when w.ends_at > now() then extract(epoch from w.ends_at - now()) else seconds end,
        case when w.burst_ends_at > now() then extract(epoch from w.burst_ends_at - now()) else burst_seconds end
      into used, burst_used, resets_in, burst_resets_in
      from (values (limit_name)) wanted(name) left join rate_windows w on w.name = wanted.name;
      is_allowed := used < most and burst_used < burst_most;
      now := extract(epoch from now());
    end $$;

    -- Finds an API key by its hash and counts a request of it against the limits of its plan, or looks how they stand.
    -- The columns of the limit are null where the key admits nothing; without a key all are. The application role may
    -- see keys of its company only: a caller's company is not known before.
    create function admit_key(
      hash bytea, is_counted boolean, plans text[], minute_limits integer[], second_limits integer[],
      out id uuid, out company_id uuid, out plan text, out scope text, out is_revoked boolean, out is_expired boolean,
      out used integer, out burst_used integer, out is_allowed boolean,
      out now float8, out resets_in float8, out burst_resets_in float8
    ) language plpgsql security definer set search_path = public, pg_temp as $$
    #variable_conflict use_column
    declare
      is_unnoted boolean;
      place integer;
    begin
      select k.id, k.company_id, c.plan, k.scope, k.revoked_at is not null, coalesce(k.expires_at <= now(), false),
        coalesce(k.last_used_at < now() - interval '1 minute', true)
      into id, company_id, plan, scope, is_revoked, is_expired, is_unnoted
      from api_keys k join companies c on c.company_id = k.company_id where k.key_hash = hash;
      if id is null or is_revoked or is_expired then
        return;
      end if;
      -- The time of last use is written at most once per minute. A crash may lose it, so no caller waits for the disk.
      if is_unnoted then
        perform set_config('synchronous_commit', 'off', true);
        update api_keys k set last_used_at = now() where k.id = admit_key.id and k.revoked_at is null
          and (k.last_used_at is null or k.last_used_at < now() - interval '1 minute');
      end if;
      place := array_position(plans, plan);
      if is_counted then
        select t.* into used, burst_used, is_allowed, now, resets_in, burst_resets_in
        from take_limit('key:' || id, minute_limits[place], 60, second_limits[place], 1) t;
      else
        select t.* into used, burst_used, is_allowed, now, resets_in, burst_resets_in
        from peek_limit('key:' || id, minute_limits[place], 60, second_limits[place], 1) t;
      end if;
    end $$;
    revoke execute on function admit_key from public;
  `

export async function down(knex: Knex): Promise<void> {
  await dropAuditLog(knex)
  await knex.raw(`
    drop function admit_key;
    drop function peek_limit;
    drop function take_limit;
  `)
  await drop(knex, ...COMPANY_TABLES, 'oauth_attempts', 'installation', 'login_failures', 'rate_windows')
}
