import type { Knex } from 'knex'
import { drop } from './tenant.ts'

/** Creates the log of what people and keys did, with the functions that are the only way to write it. */
export async function createAuditLog(knex: Knex): Promise<void> {
  await knex.raw(`
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

    -- Companies may read both; only the function writes them.
    alter table audit_log enable row level security;
    create policy company on audit_log for select
      using (company_id = nullif(current_setting('app.company', true), '')::uuid);
    alter table audit_heads enable row level security;
    create policy company on audit_heads for select
      using (company_id = nullif(current_setting('app.company', true), '')::uuid);
  `)
}

/** Drops the log with its functions. */
export async function dropAuditLog(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function audit_append;
    drop function audit_hash;
    drop function audit_is_append_only cascade;
  `)
  await drop(knex, 'audit_heads', 'audit_log')
}
