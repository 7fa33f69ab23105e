import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

const COMPANY_TABLES = [
  'monitors',
  'data_contracts',
  'contract_clauses',
  'contract_events',
  'contract_tests',
  'contract_exports',
]

/**
 * What files say about checks: monitors, which are the checks that files manage, and contracts that are enforced on a
 * source, with their clauses and statuses, what happened to them, and their exports.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The key of each check that a file manages, and what the file said when it was applied.
    create table monitors (
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      key text not null,
      -- As checks have it.
      kind text not null,
      -- As the endpoints of its kind take it; the check may be gone.
      check_id text not null,
      file text not null,
      -- All fields of the check as they were applied, to know what was changed on the server since.
      applied jsonb not null,
      applied_at timestamptz not null default now(),
      primary key (source_id, key)
    );
    create unique index monitors_check on monitors (company_id, kind, check_id);

    create table data_contracts (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      name text not null,
      -- As it was sent.
      text text not null,
      document jsonb not null,
      extra_columns text not null check (extra_columns in ('allow', 'fail')),
      -- The parts that are enforced: schema, validity, freshness; null for all.
      domains text[],
      api_version text not null,
      document_id text,
      title text,
      version text,
      owner text,
      -- In the URL of its badge.
      public_id uuid not null unique,
      -- What its tables were when it was last judged; discoveries that find the same do not judge it again.
      catalog_state text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      judged_at timestamptz not null default now(),
      unique (company_id, name)
    );
    create index data_contracts_source on data_contracts (source_id);

    create table contract_clauses (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      contract_id uuid not null references data_contracts on delete cascade,
      key text not null,
      position integer not null,
      kind text not null,
      path text not null,
      title text not null,
      severity text not null,
      -- As the contract names them.
      table_name text,
      column_name text,
      -- Null while the catalog has no such table. A table is only removed with its source.
      table_id uuid,
      -- The check that tells whether it holds, as the endpoints of its kind take it.
      check_kind text,
      check_id text,
      status text not null check (status in ('passing', 'failing', 'pending', 'not_enforced')),
      reason text,
      since timestamptz not null default now(),
      unique (contract_id, key)
    );
    create index contract_clauses_check on contract_clauses (company_id, check_id) where check_id is not null;

    create table contract_events (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      contract_id uuid not null references data_contracts on delete cascade,
      event text not null check (event in ('created', 'replaced', 'status')),
      version text,
      clause_key text,
      clause_title text,
      from_status text,
      to_status text,
      reason text,
      actor text not null,
      at timestamptz not null default now()
    );
    create index contract_events_contract on contract_events (contract_id, at desc, id desc);

    -- A contract that is tested by a job, until that has ended.
    create table contract_tests (
      run_id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      document jsonb not null,
      extra_columns text not null,
      created_at timestamptz not null default now()
    );
    create index contract_tests_source on contract_tests (source_id);

    create table contract_exports (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      status text not null check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
      request jsonb not null,
      contracts integer not null default 0,
      archive bytea,
      error text,
      created_at timestamptz not null default now(),
      completed_at timestamptz
    );
    create index contract_exports_company on contract_exports (company_id, created_at desc);
  `)
  await isolate(knex, ...COMPANY_TABLES)
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, ...COMPANY_TABLES)
}
