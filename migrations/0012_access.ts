import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Invitations, sign-in through providers, tickets, and the audit log. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Who signs in through a provider only has none.
    alter table users alter column password_hash drop not null;

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

    -- Who a user is to a provider: the pair is the provider's word, and never changes.
    create table identities (
      issuer text not null,
      subject text not null,
      company_id uuid not null references companies on delete cascade,
      user_id uuid not null references users on delete cascade,
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

    -- The demo company, which guests read with read-only keys that are valid for one hour.
    alter table companies add is_demo boolean not null default false;
    create unique index companies_one_demo on companies (is_demo) where is_demo;
    create table demo_sessions (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      key_hash bytea not null unique,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index demo_sessions_expired on demo_sessions (expires_at);

    -- Encrypted values of the installation: the password of the application role, which also detects a wrong
    -- SECRET_KEY. No other role than the owner has a policy.
    create table installation (
      name text primary key,
      sealed text not null
    );
    alter table installation enable row level security;

    -- Where the chain of a company's log ends.
    create table audit_heads (
      company_id uuid primary key references companies on delete cascade,
      sequence bigint not null,
      hash bytea not null
    );

    -- What people and keys did. Each entry holds the hash of the one before, so that none can be changed or left out
    -- without all that follow showing it.
    create table audit_log (
      company_id uuid not null references companies on delete cascade,
      sequence bigint not null,
      at timestamptz not null,
      -- user:<id>, key:<id>, system or cli
      actor text not null,
      -- <thing>.<what happened to it>
      action text not null,
      target_type text,
      target_id text,
      details jsonb not null,
      request_id text,
      address text,
      previous_hash bytea not null,
      hash bytea not null,
      primary key (company_id, sequence)
    );
    create index audit_log_action on audit_log (company_id, action, sequence desc);
    create index audit_log_target on audit_log (company_id, target_id, sequence desc);
    create index audit_log_target_type on audit_log (company_id, target_type, sequence desc);
    create index audit_log_actor on audit_log (company_id, actor, sequence desc);
    create index audit_log_time on audit_log (company_id, at, sequence);

    create function audit_hash(entry audit_log) returns bytea language sql stable as $$
      select sha256(convert_to(jsonb_build_array(encode(entry.previous_hash, 'hex'), entry.company_id, entry.sequence,
        extract(epoch from entry.at), entry.actor, entry.action, entry.target_type, entry.target_id, entry.details,
        entry.request_id, entry.address)::text, 'UTF8'))
    $$;

    -- The only way in: the application role may not write the log itself. The row of the head is held until the
    -- transaction ends, so that a company's entries are one after the other.
    create function audit_append(
      company uuid, actor text, action text, target_type text, target_id text, details jsonb, request_id text, address text
    ) returns bigint language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      entry audit_log;
      head audit_heads;
      now_or_later timestamptz;
      only_company text := nullif(current_setting('app.company', true), '');
    begin
      -- current_user is the owner here. Only the owner writes without having named a company.
      if only_company::uuid <> company
        or (only_company is null and not pg_has_role(session_user, current_user, 'usage')) then
        raise exception 'the log of another company';
      end if;
      insert into audit_heads values (company, 0, '\\x') on conflict do nothing;
      select * into head from audit_heads h where h.company_id = company for update;
      -- Time goes with the numbers, also when the clock is put back.
      select greatest(clock_timestamp(), max(l.at)) into now_or_later
        from audit_log l where l.company_id = company and l.sequence = head.sequence;
      entry := row(company, head.sequence + 1, now_or_later, actor, action, target_type, target_id, details,
        request_id, address, head.hash, '\\x')::audit_log;
      entry.hash := audit_hash(entry);
      insert into audit_log select entry.*;
      update audit_heads h set sequence = entry.sequence, hash = entry.hash where h.company_id = company;
      return entry.sequence;
    end $$;

    create function audit_is_append_only() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        -- With its company goes its log.
        if not exists (select from companies c where c.company_id = old.company_id) then
          return old;
        end if;
      end if;
      raise exception 'the audit log is append-only';
    end $$;
    create trigger audit_log_append_only before update or delete on audit_log
      for each row execute function audit_is_append_only();
    create trigger audit_log_never_emptied before truncate on audit_log
      for each statement execute function audit_is_append_only();
  `)
  await isolate(knex, 'invitations', 'identities', 'tickets', 'demo_sessions')
  // Companies may read both; only the function writes them.
  await knex.raw(`
    alter table audit_log enable row level security;
    create policy company on audit_log for select
      using (company_id = nullif(current_setting('app.company', true), '')::uuid);
    alter table audit_heads enable row level security;
    create policy company on audit_heads for select
      using (company_id = nullif(current_setting('app.company', true), '')::uuid);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop function audit_append, audit_hash, audit_is_append_only cascade')
  await drop(
    knex,
    'invitations',
    'identities',
    'oauth_attempts',
    'tickets',
    'demo_sessions',
    'installation',
    'audit_heads',
    'audit_log',
  )
  await knex.raw('alter table companies drop is_demo')
  await knex.raw(`delete from users where password_hash is null`)
  await knex.raw(`alter table users alter column password_hash set not null`)
}
